/** `/card.png`: what a link to the page shows in a chat. */

import { CardQuery } from '../../shared/contract/picture.ts'
import { parseCoord } from '../../shared/wall.ts'
import type { CardSubject } from '../domain/card.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { invalidCoordinate } from '../domain/refusals.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { CardImages } from '../usecases/card-image.ts'
import type { Clients } from './clients.ts'
import { respondDrawn } from './drawn.ts'
import { paramsReader } from './params.ts'
import { refuse } from './refuse.ts'
import { readOnly, type Handler, type Route } from './route.ts'

/** What cards need. */
export type CardDesk = { readonly view: WallView; readonly cards: CardImages; readonly clients: Clients }

/** The route. */
export function cardRoutes(desk: CardDesk): Route[] {
  return [{ path: '/card.png', methods: readOnly(card(desk)) }]
}

function card({ view, cards, clients }: CardDesk): Handler {
  return async (request) => {
    const subject = readSubject(request.url)
    if ('code' in subject) return refuse(subject)
    const shown = Object.values(subject).join('-')
    return await respondDrawn(request, { view, shown, maxAge: 60, draw: () => cards.draw(subject), clients })
  }
}

const readCard = paramsReader(CardQuery, { block: 'invalid_coordinate', agent: 'invalid_option' })

function readSubject(url: string): CardSubject | Failure {
  const query = readCard(url)
  if ('code' in query) return query
  const { block: coord, agent } = query
  if (coord !== undefined && agent !== undefined)
    return failure('invalid_option', 'Give a block or an agent, not both.')
  if (agent !== undefined) return { kind: 'agent', agent }
  if (coord === undefined) return { kind: 'wall' }
  const block = parseCoord(coord)
  return block === undefined ? invalidCoordinate() : { kind: 'block', block }
}
