/** A wall that listens, so that clients with a `fetch` of their own can look at it from outside. */

import { OFFER, openWall, type Wall } from '../../support/service/wall.ts'

/** The wall, its address, and how to close it. */
type WallAtLarge = { readonly wall: Wall; readonly origin: string; readonly close: () => Promise<void> }

/** Opens a wall at a free port of this machine; its documents name that address. */
export async function openWallAtLarge(): Promise<WallAtLarge> {
  const opened = Promise.withResolvers<Wall>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => await (await opened.promise).app.handle(request),
  })
  const { origin } = server.url
  const wall = await openWall({ offer: { ...OFFER, baseUrl: origin } })
  opened.resolve(wall)
  return { wall, origin, close: () => server.stop(true) }
}
