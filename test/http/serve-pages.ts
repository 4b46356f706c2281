/** A wall with two works in a process of its own, for tests in a browser; tells its address on a line, and ends with its input. */

import { openWall } from './wall.ts'

const wall = await openWall()
await wall.buy('/blocks/3,4?name=Ada&framework=eliza&message=Hello%20there&link=https%3A%2F%2Fexample.com%2Fa', 1)
await wall.buy(`/blocks/9,9?name=${'W'.repeat(40)}&message=${'M'.repeat(140)}`, 2, 3)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search } = new URL(request.url)
    return wall.ask(`GET ${pathname}${search}`, { headers: { accept: request.headers.get('accept') ?? '' } })
  },
})
console.log(server.url.href)
for await (const _ of Bun.stdin.stream());
await server.stop(true)
process.exit()
