import { afterAll, expect, test } from 'bun:test'
import { createRateLimitFailure } from '../../../../server/domain/purchase/refusals.ts'
import { createTestPayment } from '../../../support/samples.ts'
import { signEdit } from '../../../support/service/signed.ts'
import { openWall, createPaidInit } from '../../../support/service/wall.ts'

// Behaviour that tests can see only over a socket, not with a Request object: framing, unusual methods, missing hosts.

const printed: string[] = []
let isSpent = false // whether every budget is used up
const createRefusal = () => (isSpent ? createRateLimitFailure(1000) : undefined)
const wall = await openWall({
  limits: { take: createRefusal, check: createRefusal },
  recordResponse: (route, status, tookMs) => {
    expect(tookMs).toBeGreaterThanOrEqual(0)
    printed.push(`${route} ${status}`)
  },
})
wall.app.listen({ hostname: '127.0.0.1', port: 0 })
const port = wall.app.server?.port ?? 0

afterAll(async () => {
  await wall.app.server?.stop(true)
  await wall.db.close()
})

/** Sends bytes and returns everything that arrives until the server disconnects. */
function sendRaw(...lines: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let got = ''
  void Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: (socket) => void socket.write(lines.join('\r\n')),
      data: (_, data) => {
        got += data.toString()
      },
      close: () => resolve(got),
    },
  })
  return promise
}

const CLOSE = 'Connection: close'

const parseStatus = (answer: string) => Number(answer.split(' ')[1])
const parseBody = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4)

test('if a client sends many requests over one connection, the first request beyond the budget gets a 429, and the server closes the connection', async () => {
  isSpent = true
  const request = ['GET /api/history HTTP/1.1', 'Host: wall.test', '', '']
  const answers = await sendRaw(...Array.from({ length: 50 }, () => request.join('\r\n')))
  isSpent = false
  expect(answers.split('HTTP/1.1 429').length - 1).toBe(1)
  expect(answers).toContain(CLOSE)
})

test('an HTTP/1.0 request without a Host header is served like any other request', async () => {
  expect(parseStatus(await sendRaw('GET /api/health HTTP/1.0', '', ''))).toBe(200)
  expect(parseStatus(await sendRaw('GET /blocks/1,1?name=%00 HTTP/1.0', '', ''))).toBe(400)
  expect(parseStatus(await sendRaw('GET /blocks/1,1 HTTP/1.0', '', ''))).toBe(402)
  expect(parseBody(await sendRaw('GET /a HTTP/1.0', '', ''))).toContain('not_found')
})

test('a request with a Host header of one letter is routed like any other request', async () => {
  const sendRequestLine = (line: string) => sendRaw(`${line} HTTP/1.1`, 'Host: a', CLOSE, '', '')
  expect(parseStatus(await sendRequestLine('GET /api/health'))).toBe(200)
  expect(parseStatus(await sendRequestLine('GET /foo/api/health'))).toBe(404)
  expect(parseStatus(await sendRequestLine('GET /foo/blocks/1,1'))).toBe(404)
  expect(parseStatus(await sendRequestLine('GET //blocks/1,1'))).toBe(404)
  expect(parseStatus(await sendRequestLine('DELETE /blocks/1,1'))).toBe(405)
})

test('a request with two hosts is rejected everywhere, including MCP', async () => {
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  const json = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  for (const [line, ...rest] of [
    ['GET /api/health', '', ''],
    ['GET /blocks/next', '', ''],
    ['GET /unknown', '', ''],
    ['POST /mcp', ...json, '', body],
  ]) {
    const sendHosts = (...hosts: readonly string[]) => sendRaw(`${line} HTTP/1.1`, ...hosts, CLOSE, ...rest)
    expect([line, parseStatus(await sendHosts('Host: wall.test', 'Host: wall.test'))]).toEqual([line, 400])
    expect([line, parseStatus(await sendHosts('Host: wall.test', 'Host: evil.test'))]).toEqual([line, 400])
    expect([line, parseStatus(await sendHosts('Host: wall.test, evil.test'))]).toEqual([line, 400])
    expect(parseStatus(await sendHosts('Host: wall.test'))).not.toBe(400)
  }
})

test('a path must match exactly: one with an extra slash, capital letters or an escaped query gets a 404', async () => {
  const ask = (line: string) => sendRaw(`${line} HTTP/1.1`, 'Host: wall.test', CLOSE, '', '')
  for (const path of ['/api/health/', '//api/health', '/API/health', '/api/health;x', '/api/health%3Fx'])
    expect(parseStatus(await ask(`GET ${path}`))).toBe(404)
  for (const path of ['/api/health?x=/y', '/api/health?', 'http://wall.test/api/health'])
    expect(parseStatus(await ask(`GET ${path}`))).toBe(200)
  for (const path of ['/api/health', '/api/health?x']) {
    expect(await ask(`POST ${path}`)).toContain('Allow: GET, HEAD, OPTIONS')
    expect(parseStatus(await ask(`OPTIONS ${path}`))).toBe(204)
  }
})

test('unsupported methods that Bun lets through get a 405 with the allowed methods, and CONNECT gets a 404', async () => {
  for (const verb of ['TRACE', 'PROPFIND', 'DELETE', 'MKCOL']) {
    const answer = await sendRaw(`${verb} /blocks/1,1 HTTP/1.1`, 'Host: wall.test', 'Cookie: secret', CLOSE, '', '')
    expect(parseStatus(answer)).toBe(405)
    expect(answer).toContain('Allow: GET, HEAD, PUT, POST, OPTIONS')
    expect(JSON.parse(parseBody(answer))).toHaveProperty('error', 'method_not_allowed')
    expect(answer).not.toContain('secret')
  }
  expect(parseStatus(await sendRaw('CONNECT wall.test:443 HTTP/1.1', 'Host: wall.test', CLOSE, '', ''))).toBe(404)
})

test('a HEAD request gets the length of the body that GET would return, and buys nothing', async () => {
  const { headers } = createPaidInit(createTestPayment(1, 1))
  const payment = `PAYMENT-SIGNATURE: ${headers['PAYMENT-SIGNATURE']}`
  for (const [path, status] of [
    ['/blocks/next', 402],
    ['/api/canvas', 200],
    ['/api/health', 200],
  ] as const) {
    const head = await sendRaw(`HEAD ${path} HTTP/1.1`, 'Host: a', payment, CLOSE, '', '')
    expect(parseStatus(head)).toBe(status)
    expect(parseBody(head)).toBe('')
    const get = await sendRaw(`GET ${path} HTTP/1.1`, 'Host: a', CLOSE, '', '')
    expect(/content-length: (\d+)/i.exec(head)?.[1]).toBe(String(Buffer.byteLength(parseBody(get))))
  }
  expect(wall.facilitator.verified).toEqual([])
})

const PUT = ['PUT /blocks/1,1 HTTP/1.1', 'Host: wall.test', 'Content-Type: application/json']

test('a body whose announced length is too large is rejected with a JSON error, and the connection is closed', async () => {
  for (const announced of [4097, 2 ** 52]) {
    const answer = await sendRaw(...PUT, `Content-Length: ${announced}`, '', '')
    expect(parseStatus(answer)).toBe(413)
    expect(answer.toLowerCase()).toContain('connection: close')
    expect(JSON.parse(parseBody(answer))).toHaveProperty('error', 'body_too_large')
  }
})

test('a chunked body is rejected as soon as it is too large, and the rest of it is not read as a request', async () => {
  const chunk = `1001\r\n${'a'.repeat(0x1001)}\r\n`
  const smuggled = 'GET /api/health HTTP/1.1\r\nHost: wall.test\r\n\r\n'
  for (const rest of [smuggled, `0\r\n\r\n${smuggled}`]) {
    const answer = await sendRaw(...PUT, 'Transfer-Encoding: chunked', '', chunk + rest)
    expect(parseStatus(answer)).toBe(413)
    expect(parseBody(answer)).toStartWith('{"error":"body_too_large"')
    expect(answer).not.toContain('pixel-wall')
  }
})

test('a signed edit with a chunked body is read completely', async () => {
  const body = JSON.stringify(signEdit(1, '1,1', { message: 'a' }))
  const chunks = [body.slice(0, 20), body.slice(20)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
  const answer = await sendRaw(...PUT, 'Transfer-Encoding: chunked', CLOSE, '', `${chunks.join('')}0\r\n\r\n`)
  expect(JSON.parse(parseBody(answer))).toHaveProperty('error', 'no_owner')
})

test('a path is used as it was sent: dots in it are not resolved', async () => {
  const dotted = [
    '/blocks/%2e%2e/api/health',
    '/blocks/../api/health',
    '/blocks/%2e%2e',
    '/blocks/%2E',
    '/api/./health',
    '/x/%2e%2e/blocks/1,1',
    '/blocks/x/%2e%2e/1,1',
    '/./blocks/1,1',
    '/blocks\\1,1',
    '/%2e%2e',
    '/api/agents/%2e%2e/health',
  ]
  for (const path of dotted) {
    const answer = await sendRaw(`GET ${path} HTTP/1.1`, 'Host: wall.test', CLOSE, '', '')
    expect([path, parseStatus(answer), JSON.parse(parseBody(answer)).error]).toEqual([path, 404, 'not_found'])
  }
  for (const [path, status] of [
    ['/blocks/1%2c1', 402],
    ['/blocks/..%2f1,1', 400],
    ['/api/health?x=/../y', 200],
    ['/blocks/1,1?link=https://a.example/../b', 402],
    ['/blocks/1,1.png', 200],
  ] as const)
    expect([path, parseStatus(await sendRaw(`GET ${path} HTTP/1.1`, 'Host: wall.test', CLOSE, '', ''))]).toEqual([
      path,
      status,
    ])
})

test.each([
  ['/api/canvas', '/api/canvas 200'],
  ['/blocks/1,1', '/blocks/:name 402'],
  ['/blocks/next', '/blocks/:name 402'],
  ['/api/history?after=x', '/api/history 400'],
  ['/nothing', '/* 404'],
])('a request to %s is counted once in the metrics, as %s', async (path, line) => {
  printed.length = 0
  await (await fetch(`http://127.0.0.1:${port}${path}`)).body?.cancel()
  // The request is counted only after its response has been sent.
  while (printed.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(printed).toEqual([line])
})
