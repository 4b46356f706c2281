import { expect, test } from 'bun:test'
import { BODY_MAX_BYTES, readBody, readJson, type ReadBody } from '../../../server/http/request/body.ts'
import { runWhileTimePasses } from '../../support/fakes/timers.ts'

const createRequest = (body: RequestInit['body'] | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  new Request('http://wall.test/blocks/1,1', { method: 'PUT', body: body ?? null, headers })

const readRefusal = (read: ReadBody) => (read.kind === 'failure' ? read.code : 'none')

const createJson = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

test('a body of exactly 4 KiB is read, and a body one byte longer is rejected', async () => {
  expect(await readJson(createRequest(createJson(BODY_MAX_BYTES)))).toHaveProperty('value')
  expect(readRefusal(await readJson(createRequest(createJson(BODY_MAX_BYTES + 1))))).toBe('body_too_large')
})

test('an endless body is rejected as too large, after little more than the limit was read', async () => {
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1000
      controller.enqueue(new Uint8Array(1000))
    },
  })
  expect(readRefusal(await readJson(createRequest(endless)))).toBe('body_too_large')
  expect(sent).toBeLessThan(20_000)
})

test('a body is rejected if its Content-Encoding is anything but identity', async () => {
  for (const coding of ['gzip', 'identity, gzip', 'br', 'x'])
    expect(readRefusal(await readJson(createRequest('{}', { 'content-encoding': coding })))).toBe('invalid_body')
  expect(await readJson(createRequest('{}', { 'content-encoding': 'identity' }))).toMatchObject({ value: {} })
})

test('a body that is announced as too large is drained for at most a second, so that a proxy receives the response', async () => {
  const createLengthHeader = (bytes: number) => ({ 'content-length': String(bytes) })
  const pulled = { bytes: 0 }
  const createPiecedBody = (total: number) =>
    new ReadableStream<Uint8Array>({
      start: () => void (pulled.bytes = 0),
      pull(controller) {
        pulled.bytes += 100_000
        controller.enqueue(new Uint8Array(100_000))
        if (pulled.bytes >= total) controller.close()
      },
    })
  const megabyte = 1_000_000
  expect(readRefusal(await readJson(createRequest(createPiecedBody(megabyte), createLengthHeader(megabyte))))).toBe(
    'body_too_large',
  )
  expect(pulled.bytes).toBe(megabyte)
  expect(readRefusal(await readJson(createRequest(createPiecedBody(Infinity), createLengthHeader(1e12))))).toBe(
    'body_too_large',
  )
  expect(pulled.bytes).toBeLessThan(5 * megabyte)
  const silent = new ReadableStream<Uint8Array>({})
  const read = await runWhileTimePasses(1000, () => readJson(createRequest(silent, createLengthHeader(4097))))
  expect(readRefusal(read)).toBe('body_too_large')
})

test('a body that stops arriving is rejected at the deadline, and its stream is cancelled', async () => {
  let cancelled = false
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
    cancel: () => {
      cancelled = true
    },
  })
  expect(readRefusal(await readJson(createRequest(silent), { deadlineMs: 10 }))).toBe('invalid_body')
  expect(cancelled).toBe(true)
})

test('a body whose connection breaks is rejected as invalid, not as an internal error', async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('reset')) })
  expect(readRefusal(await readJson(createRequest(broken)))).toBe('invalid_body')
})

test('a body is rejected if it is not UTF-8, or begins with a byte order mark', async () => {
  expect(readRefusal(await readJson(createRequest(Uint8Array.of(0x22, 0xff, 0x22))))).toBe('invalid_body')
  expect(readRefusal(await readJson(createRequest(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))))).toBe('invalid_body')
  expect(readRefusal(await readJson(createRequest(Bun.gzipSync('{}'), { 'content-encoding': 'gzip' })))).toBe(
    'invalid_body',
  )
})

const types: ReadonlyArray<readonly [type: string, isTaken: boolean]> = [
  ['application/json', true],
  ['APPLICATION/JSON', true],
  ['application/json;charset=utf-8', true],
  ['application/json; charset=UTF-8', true],
  ['application/json; charset="utf-8"', true],
  ['application/json; charset=utf-16', false],
  ['application/json; boundary=x', false],
  ['application/jsonp', false],
  ['application/vnd.api+json', false],
  ['text/plain', false],
  ['text/json', false],
  ['application/x-www-form-urlencoded', false],
  ['application/xml', false],
  ['application/json, text/plain', false],
]

test.each(types)('the check whether a body of type %s is accepted returns %p', async (type, isTaken) => {
  const read = await readJson(createRequest('{}', { 'content-type': type }))
  expect(readRefusal(read)).toBe(isTaken ? 'none' : 'invalid_body')
})

test('a body without a Content-Type is read as JSON', async () => {
  expect(await readJson(createRequest(new TextEncoder().encode('{}')))).toMatchObject({ value: {} })
})

test('a body that arrives too slowly is rejected long before its deadline', async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1)) })
  const request = new Request('http://wall.test/', { method: 'POST', body })
  const read = runWhileTimePasses(3000, () => readBody(request, { deadlineMs: 600_000, bytesPerSecondMin: 16_384 }))
  expect(await read).toMatchObject({
    code: 'invalid_body',
    message: 'The body cannot be read: it took too long to arrive.',
    cut: true,
  })
})
