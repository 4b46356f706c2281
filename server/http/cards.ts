/** `/card.png`: what a link to the page shows in a chat. */

import { CardQuery } from '../../shared/contract/picture.ts'
import { parseCoord } from '../../shared/wall.ts'
import type { CardSubject } from '../domain/card.ts'
import { failure, type Failure } from '../domain/failure.ts'
import { invalidCoordinate } from '../domain/refusals.ts'
import { stateOf, type WallView } from '../domain/wall-view.ts'
import type { CardImages } from '../usecases/card-image.ts'
import { holdsAlready } from './negotiate.ts'
import { paramsReader } from './params.ts'
import { refuse } from './refuse.ts'
import { respond, respondEmpty } from './respond.ts'
import { readOnly, type Handler, type Route } from './route.ts'

/** What cards need. */
export type CardDesk = { readonly view: WallView; readonly cards: CardImages }

/** The route. */
export function cardRoutes(desk: CardDesk): Route[] {
  return [{ path: '/card.png', methods: readOnly(card(desk)) }]
}

function card({ view, cards }: CardDesk): Handler {
  return async (request) => {
    const subject = readSubject(request.url)
    if ('code' in subject) return refuse(subject)
    const headersOf = (state: string) => ({
      ETag: `"${state}-${Object.values(subject).join('-')}"`,
      'Cache-Control': 'public, max-age=60',
    })
    const now = headersOf(stateOf(view))
    if (holdsAlready(request.headers.get('if-none-match'), now.ETag)) return respondEmpty(304, now)
    const image = await cards.draw(subject)
    if ('code' in image) return refuse(image)
    return respond(200, 'image/png', image.png, headersOf(image.state))
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
