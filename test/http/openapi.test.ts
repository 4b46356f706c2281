import { expect, test } from 'bun:test'
import { statusOf, type FailureCode } from '../../server/domain/failure.ts'
import { OPERATIONS } from '../../server/http/operations.ts'
import { jsonOf, openWall } from './wall.ts'

const wall = await openWall()
const document = await jsonOf(await wall.ask('GET /openapi.json'))
const text = JSON.stringify(document)

// Refusals of the transport itself, which belong to no operation.
const ofNoOperation: readonly FailureCode[] = ['not_found', 'method_not_allowed']

test('the document is OpenAPI 3.1 of version 1.0.0, at our own address', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { version: '1.0.0' },
    servers: [{ url: 'https://wall.test' }],
    components: { securitySchemes: { x402: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' } } },
  })
})

test('every reference leads to a schema, and every schema is used', () => {
  const { schemas } = document['components'] as { schemas: Record<string, unknown> }
  const used = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
  expect(new Set(used)).toEqual(new Set(Object.keys(schemas)))
})

test('every code that can be answered is documented, under its status', () => {
  const documented = new Set(OPERATIONS.flatMap(({ codes }) => codes))
  const all = (Object.keys(statusOf) as FailureCode[]).filter((code) => !ofNoOperation.includes(code))
  expect([...documented].toSorted()).toEqual(all.toSorted())
  for (const code of documented) expect(text).toContain(`\`${code}\``)
})

test('what SPEC lists for each operation is there', () => {
  const paths = document['paths'] as Record<string, Record<string, { responses: object }>>
  const listed = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { responses }]) => `${method} ${path}: ${Object.keys(responses).join(' ')}`,
    ),
  )
  expect(listed).toEqual([
    'get /blocks/next: 200 400 402 409 410 500 502 503',
    'get /blocks/{coord}: 200 304 400 402 409 500 502 503',
    'put /blocks/{coord}: 200 400 401 404 409 413 500 503',
    'get /api/canvas: 200 304 500 503',
    'get /api/feed: 200 400 500 503',
    'get /api/agents: 200 500 503',
    'put /api/agents/me: 200 400 401 404 413 500 503',
    'get /api/health: 200 500',
  ])
})

test('every documented operation is served', async () => {
  for (const { method, path } of OPERATIONS) {
    const response = await wall.ask(`${method} ${path.replace('{coord}', '1,1')}`)
    expect([404, 405]).not.toContain(response.status)
  }
})
