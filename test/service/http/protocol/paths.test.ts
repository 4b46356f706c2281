import { expect, test } from 'bun:test'
import { readErrorCode, openWall } from '../../../support/service/wall.ts'

const wall = await openWall()

test.each(['%', '%E0%A4%A', '1%2F2', 'Next'])('/blocks/%s is rejected as an invalid coordinate', async (segment) => {
  expect(await readErrorCode(await wall.sendRequest(`GET /blocks/${segment}`))).toBe('invalid_coordinate')
})

const unknown = [
  '/blocks',
  '/blocks//',
  '/Blocks/1,1',
  '/api',
  '/api//canvas',
  '/API/canvas',
  '/.env',
  '/mcp/x',
  '/.well-known/agent-card.json',
]

test.each(unknown)('%s is not found', async (path) => {
  for (const method of ['GET', 'PUT', 'POST']) {
    const response = await wall.sendRequest(`${method} ${path}`)
    expect(response.status).toBe(404)
    expect(await readErrorCode(response)).toBe('not_found')
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

const verbs: ReadonlyArray<readonly [path: string, allowed: string]> = [
  ['/blocks/1,1', 'GET, HEAD, PUT, POST, OPTIONS'],
  ['/blocks/next', 'GET, HEAD, PUT, POST, OPTIONS'],
  ['/api/canvas', 'GET, HEAD, OPTIONS'],
  ['/api/feed', 'GET, HEAD, OPTIONS'],
  ['/api/deeds', 'GET, HEAD, OPTIONS'],
  ['/api/agents', 'GET, HEAD, OPTIONS'],
  ['/api/agents/me', 'PUT, POST, OPTIONS'],
  ['/api/health', 'GET, HEAD, OPTIONS'],
  ['/api/preview', 'POST, OPTIONS'],
  ['/mcp', 'POST, OPTIONS'],
  ['/openapi.json', 'GET, HEAD, OPTIONS'],
  ['/', 'GET, HEAD, OPTIONS'],
]

test.each(verbs)(
  '%s rejects every method that it does not allow, and lists the methods that it allows',
  async (path, allowed) => {
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'PROPFIND', 'MKCOL'].filter(
      (verb) => !allowed.includes(verb),
    )) {
      const response = await wall.sendRequest(`${method} ${path}`)
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe(allowed)
      if (method !== 'HEAD') expect(await readErrorCode(response)).toBe('method_not_allowed')
    }
  },
)

test('a page from another origin may read the wall and pay', async () => {
  const preflight = await wall.sendRequest('OPTIONS /blocks/1,1', {
    headers: {
      origin: 'https://agent.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'access-control-expose-headers, payment-signature',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, PUT, POST, OPTIONS')
  expect(preflight.headers.get('access-control-allow-headers')).toBe(
    'PAYMENT-SIGNATURE, X-PAYMENT, SIGN-IN-WITH-X, Content-Type, Access-Control-Expose-Headers',
  )
  for (const path of ['/blocks/1,1', '/blocks/160,0', '/api/canvas', '/api/health', '/nowhere', '/openapi.json']) {
    const { headers } = await wall.sendRequest(`GET ${path}`)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toBe(
      'PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, ETag, Link, Log-Number, Retry-After',
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test('a preflight request gets a response at any path, before any check', async () => {
  for (const path of ['/blocks/160,0', '/nowhere', '/'])
    expect((await wall.sendRequest(`OPTIONS ${path}`)).status).toBe(204)
})
