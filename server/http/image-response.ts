/** Pictures that are drawn of the wall as it is. */

import type { Failure } from '../domain/failure.ts'
import { stateOf, type WallView } from '../domain/wall/wall-view.ts'
import type { WallImage } from '../wall/wall-image.ts'
import { refuseBeyond, type Clients } from './clients.ts'
import { holdsAlready } from './negotiate.ts'
import { refuse } from './refuse.ts'
import { respond, respondUnchanged } from './respond.ts'

/** A picture of the view: `shown` tells it from others of the same wall, and it may be kept for `maxAge` seconds. */
export type Drawn = {
  readonly view: WallView
  readonly shown: string
  readonly maxAge: number
  readonly draw: () => Promise<WallImage | Failure>
  readonly clients: Clients
  readonly cost?: number // of the budget for pictures
}

/** Answers with the picture, or 304 to a client that holds it already. */
export async function respondDrawn(
  request: Request,
  { view, shown, maxAge, draw, clients, cost }: Drawn,
): Promise<Response> {
  const headersOf = (state: WallImage['state']) => ({
    ETag: `"${state}-${shown}"`,
    'Cache-Control': `public, max-age=${maxAge}`,
  })
  const now = headersOf(stateOf(view))
  if (holdsAlready(request.headers.get('if-none-match'), now.ETag)) return respondUnchanged(now)
  const beyond = refuseBeyond(clients, 'pictures', request, cost)
  if (beyond !== undefined) return beyond
  const busy = await clients.queue.turn()
  if (busy !== undefined) return refuse(busy)
  const image = await draw()
  if ('code' in image) return refuse(image)
  return respond(200, 'image/png', image.png, headersOf(image.state))
}
