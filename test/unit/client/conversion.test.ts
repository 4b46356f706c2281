import { expect, test } from 'bun:test'
import { wall } from '../../../server/client/wall.ts'

// Goal: an agent can still buy if the wall is overloaded when the agent sends a picture. Method: a server that is busy
// for the number of requests that a test sets.

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47])
const PAINTED = { blocks: [] }

function startBusyServer(requests: number, headers: Record<string, string>) {
  let seen = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      seen += 1
      if (seen > requests) return Response.json(PAINTED)
      return Response.json({ error: 'server_busy', message: 'The server is busy.' }, { status: 503, headers })
    },
  })
  return { url: server.url, seen: () => seen, [Symbol.asyncDispose]: () => server.stop(true) }
}

test('the client sends a picture again if the wall is busy and says when to retry', async () => {
  await using busy = startBusyServer(2, { 'retry-after': '0.01' })
  expect(await wall(busy.url).pixels(PNG, {})).toEqual(PAINTED as never)
  expect(busy.seen()).toBe(3)
})

test('the client does not send a picture again if the wall is busy and does not say when to retry', async () => {
  await using busy = startBusyServer(1, {})
  const failure = await wall(busy.url)
    .pixels(PNG, {})
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ kind: 'unavailable', code: 'server_busy' })
  expect(busy.seen()).toBe(1)
})
