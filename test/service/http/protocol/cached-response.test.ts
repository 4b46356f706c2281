import { describe, expect, test } from 'bun:test'
import { createEmptyView } from '../../../../server/domain/wall/wall-view.ts'
import { cloneResponse, retainBody, releaseBody, cachePerView } from '../../../../server/http/answer/cached-response.ts'
import { openWall } from '../../../support/service/wall.ts'

const MB = 1_000_000

const createAnswer = (byte: number) => retainBody(new Response(new Uint8Array(8 * MB).fill(byte)))

const isFilledWith = (byte: number, body: ArrayBuffer) => {
  const bytes = new Uint8Array(body)
  return bytes.length === 8 * MB && bytes.every((one) => one === byte)
}

describe('a response whose body is retained and released', () => {
  test('a released response frees its memory immediately', () => {
    // These references keep the responses from being garbage-collected.
    const answers: Response[] = []
    const body = new Uint8Array(8 * MB).fill(7)
    const before = process.memoryUsage().rss
    for (let made = 0; made < 40; made++) {
      const answer = retainBody(new Response(body))
      answers.push(answer)
      releaseBody(answer)
    }
    expect(answers).toHaveLength(40)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB)
  })

  test('copies of a released response stay intact', async () => {
    const answer = createAnswer(7)
    const copies = [cloneResponse(answer), cloneResponse(answer)]
    releaseBody(answer)
    // If the memory of the copies had been freed, these responses would overwrite it.
    const others = Array.from({ length: 4 }, () => createAnswer(9))
    for (const copy of copies) expect(isFilledWith(7, await copy.arrayBuffer())).toBe(true)
    expect(others).toHaveLength(4)
  })

  test('a response that is released while it is being sent arrives complete', async () => {
    const answer = createAnswer(7)
    await using server = Bun.serve({ port: 0, fetch: () => cloneResponse(answer) })
    const body = await readSlowly(server.port ?? 0, () => {
      releaseBody(answer)
      return Array.from({ length: 4 }, () => createAnswer(9))
    })
    expect(isFilledWith(7, body)).toBe(true)
  })
})

/** Returns the body of a response whose transfer pauses after its first bytes while `meanwhile` runs. */
async function readSlowly(port: number, meanwhile: () => unknown): Promise<ArrayBuffer> {
  const chunks: Buffer[] = []
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (opened) => void opened.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'),
      data(reading, chunk) {
        chunks.push(Buffer.from(chunk))
        if (chunks.length === 1) {
          reading.pause()
          begun.resolve()
        }
      },
      close: () => ended.resolve(),
    },
  })
  await begun.promise
  meanwhile()
  socket.resume()
  await ended.promise
  const whole = Buffer.concat(chunks)
  return new Uint8Array(whole.subarray(whole.indexOf('\r\n\r\n') + 4)).buffer
}

/** A cached page, with the list of requests for which it was rendered. */
function createCountedReader(status = 200) {
  const view = createEmptyView()
  const made: string[] = []
  const read = cachePerView(view, ({ url }) => {
    made.push(url)
    return new Response(`${view.number} ${url}`, { status })
  })
  const readFeed = async (query: string) => await read(new Request(`http://wall.test/api/feed${query}`)).text()
  return { view, made, readFeed }
}

test('a page is rendered once for each query, and again after a change of the wall', async () => {
  const { view, made, readFeed } = createCountedReader()
  const first = await readFeed('?after=1')
  expect(await readFeed('?after=1')).toBe(first)
  expect(made.length).toBe(1)
  view.number += 1
  expect(await readFeed('?after=1')).not.toBe(first)
  expect(await readFeed('?after=2')).toContain('after=2')
  expect(made.length).toBe(3)
})

test('errors, responses to unusually long queries, and responses beyond the size of the cache are not cached', async () => {
  const refused = createCountedReader(400)
  for (const _ of [1, 2]) await refused.readFeed('?after=x')
  expect(refused.made.length).toBe(2)
  const odd = createCountedReader()
  for (const _ of [1, 2]) await odd.readFeed(`?after=${'0'.repeat(50)}1`)
  expect(odd.made.length).toBe(2)
  const many = createCountedReader()
  for (const _ of [1, 2]) for (let after = 0; after < 100; after++) await many.readFeed(`?after=${after}`)
  expect(many.made.length).toBe(100 + 100 - 64)
})

test('a query that makes no difference to the page does not create another cached page', async () => {
  let made = 0
  const read = cachePerView(
    createEmptyView(),
    () => new Response(`${(made += 1)}`),
    () => '',
  )
  for (const query of ['', '?a', '?b=1'])
    expect(await read(new Request(`http://wall.test/api/agents${query}`)).text()).toBe('1')
})

test('a request with the ETag of a page gets 304 until the wall changes, and a proxy may cache the page for two seconds', async () => {
  const wall = await openWall()
  await wall.buyBlock('/blocks/3,4', 1)
  for (const path of ['/api/feed', '/api/feed?limit=5', '/api/agents']) {
    const first = await wall.sendRequest(`GET ${path}`)
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
    const held = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } }
    const again = await wall.sendRequest(`GET ${path}`, held)
    expect([again.status, again.headers.get('etag')]).toEqual([304, first.headers.get('etag')])
    await wall.buyBlock('/blocks/next', 2, path.length)
    expect((await wall.sendRequest(`GET ${path}`, held)).status).toBe(200)
  }
})

test.each(['/api/canvas', '/api/canvas.bin', '/api/blocks', '/api/feed', '/api/agents'])(
  'the compiled route of %s returns its response without a promise',
  async (path) => {
    const { app } = await openWall()
    const route = app.routes.find((one) => one.path === path && one.method === 'GET')
    expect(String(route?.compile())).toStartWith('function')
  },
)
