/** `/card.png`: what a link to the page shows in a chat. */

import { CardQuery } from '../../shared/contract/picture.ts'
import { parseCoord } from '../../shared/wall.ts'
import { failure, type Failure } from '../domain/failure.ts'
import type { CardSubject } from '../domain/picture/card.ts'
import { invalidCoordinate } from '../domain/purchase/refusals.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { CardImages } from '../wall/card-image.ts'
import type { Clients } from './clients.ts'
import { respondDrawn } from './image-response.ts'
import { paramsReader } from './params.ts'
import { refuse } from './refuse.ts'
import { readOnly, type Handler, type Route } from './route.ts'

/** What cards need. */
export type CardDeps = { readonly view: WallView; readonly cards: CardImages; readonly clients: Clients }

/** The route. */
export function cardRoutes(deps: CardDeps): Route[] {
  return [{ path: '/card.png', methods: readOnly(card(deps)) }]
}

function card({ view, cards, clients }: CardDeps): Handler {
  return async (request) => {
    const subject = readSubject(request.url, view)
    if ('code' in subject) return refuse(subject)
    const shown = Object.values(subject).join('-')
    return await respondDrawn(request, { view, shown, maxAge: 60, draw: () => cards.draw(subject), clients })
  }
}

const readCard = paramsReader(CardQuery, {
  block: 'invalid_coordinate',
  work: 'invalid_coordinate',
  agent: 'invalid_option',
})

function readSubject(url: string, view: WallView): CardSubject | Failure {
  const query = readCard(url)
  if ('code' in query) return query
  const { block, work, agent } = query
  if ([block, work, agent].filter((given) => given !== undefined).length > 1)
    return failure('invalid_option', 'Give a block, a work or an agent, and no two of them.')
  if (agent !== undefined) return { kind: 'agent', agent }
  const coord = block ?? work
  if (coord === undefined) return { kind: 'wall' }
  const index = parseCoord(coord)
  if (index === undefined) return invalidCoordinate()
  // Of what nobody has bought there is no work yet.
  return { kind: work !== undefined && view.claimed.has(index) ? 'work' : 'block', block: index }
}
