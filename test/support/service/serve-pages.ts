/**
 * Runs a wall with two pages of artworks, and a sold-out wall under `/sold-out`, in a separate process for browser
 * tests; prints its address, and exits when its input ends.
 */

import { openWall } from './wall.ts'

const wall = await openWall()
await wall.buyBlock('/blocks/3,4?name=Ada&framework=eliza&message=Hello%20there&link=https%3A%2F%2Fexample.com%2Fa', 1)
await wall.buyBlock(`/blocks/9,9?name=${'W'.repeat(40)}&message=${'M'.repeat(140)}`, 2, 3)

// More separate artworks than one page of the atlas lists.
for (let work = 0; work < 50; work++) await wall.buyBlock(`/blocks/${20 + 2 * work},30?name=Ada`, 1, 10 + work)

const full = await openWall()
const claimed = 'claimed' as const
Object.assign(full.db.ledger, {
  checkSpace: async () => claimed,
  checkAvailability: async () => ({ space: claimed, prior: undefined }),
})
const SOLD_OUT = '/sold-out'

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search } = new URL(request.url)
    const headers = { accept: request.headers.get('accept') ?? '' }
    if (pathname.startsWith(SOLD_OUT))
      return full.sendRequest(`GET ${pathname.slice(SOLD_OUT.length)}${search}`, { headers })
    return wall.sendRequest(`GET ${pathname}${search}`, { headers })
  },
})
console.log(server.url.href)
for await (const _ of Bun.stdin.stream());
await server.stop(true)
process.exit()
