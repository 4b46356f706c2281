import { expect, test } from 'bun:test'
import manifest from '../../../package.json'
import { statusOf } from '../../../server/domain/failure.ts'
import { CLAIM_ORDER, coordOf } from '../../../shared/wall.ts'
import { listedBy } from '../../support/service/documented.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import { jsonOf, openWall } from '../../support/service/wall.ts'

const wall = await openWall()
const document = await jsonOf(await wall.ask('GET /openapi.json'))
const text = JSON.stringify(document)

type Answer = { readonly description?: string; readonly $ref?: string }

type Described = {
  readonly security: readonly unknown[]
  readonly responses: Record<string, Answer>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly example?: string }>
}

const paths = document['paths'] as Record<string, Record<string, Described>>

test('the document is OpenAPI 3.1 of the package’s version, at our own address', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { version: manifest.version },
    servers: [{ url: 'https://wall.test' }],
    components: {
      securitySchemes: {
        signInWithX: { type: 'apiKey', in: 'header', name: 'SIGN-IN-WITH-X' },
        x402: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' },
      },
    },
  })
})

test('every reference leads somewhere, and every schema and answer is used', () => {
  const { schemas, responses } = document['components'] as Record<'schemas' | 'responses', Record<string, unknown>>
  const used = [...text.matchAll(/"\$ref":"#\/components\/(\w+\/\w+)"/g)].map(([, name]) => name)
  const there = [
    ...Object.keys(schemas ?? {}).map((name) => `schemas/${name}`),
    ...Object.keys(responses ?? {}).map((name) => `responses/${name}`),
  ]
  expect(new Set(used)).toEqual(new Set(there))
})

test('every code that can be answered is explained, with its operation or in the description of the service', () => {
  const shared = (document['components'] as { responses: Record<string, Answer> }).responses
  for (const { path, method, codes } of OPERATIONS)
    for (const code of codes) {
      const answer = paths[path]?.[method.toLowerCase()]?.responses[statusOf[code]]
      const described = answer?.$ref === undefined ? answer : shared[answer.$ref.split('/').at(-1) ?? '']
      expect(described?.description).toContain(`\`${code}\``)
    }
  for (const code of Object.keys(statusOf)) expect(text).toContain(`\`${code}\``)
})

test('what SPEC lists for each operation is there', () => {
  expect(listedBy(wall.app)).toEqual(
    expect.arrayContaining([
      ...[200, 400, 402, 409, 410, 502, 503].map((status) => `GET /blocks/next ${status}`),
      ...[200, 400, 402, 409, 502, 503].map((status) => `GET /blocks/{coord} ${status}`),
      ...[200, 400, 401, 404, 409, 413].map((status) => `PUT /blocks/{coord} ${status}`),
      ...[200, 503].map((status) => `GET /api/canvas ${status}`),
      ...[200, 400, 503].map((status) => `GET /api/feed ${status}`),
      ...[200, 503].map((status) => `GET /api/agents ${status}`),
      ...[200, 400, 401, 404, 413].map((status) => `PUT /api/agents/me ${status}`),
      'GET /api/health 200',
      ...[200, 400, 413].map((status) => `POST /mcp ${status}`),
    ]),
  )
})

test('no operation requires a key, but those that are signed in need their header', () => {
  const secured = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) =>
      security.length === 0 ? [] : [[`${method} ${path}`, security]],
    ),
  )
  expect(secured).toEqual(
    ['/blocks/{coord}', '/areas/{area}', '/api/agents/me', '/api/agents/me/receipts'].map((path) => [
      `post ${path}`,
      [{ signInWithX: [] }],
    ]),
  )
})

test('the example of a coordinate is an open block, now and after it has been sold', async () => {
  const exampleNow = async () => {
    const { paths: now } = (await jsonOf(await wall.ask('GET /openapi.json'))) as { paths: typeof paths }
    return now['/blocks/{coord}']?.['get']?.parameters.find(({ name }) => name === 'coord')?.example ?? ''
  }
  const [last, secondLast] = CLAIM_ORDER.slice(-2).toReversed().map(coordOf)
  expect(await exampleNow()).toBe(last ?? '')
  const before = (await wall.ask('GET /openapi.json')).headers.get('etag')
  expect((await wall.buy(`/blocks/${last}`, 1)).status).toBe(200)
  expect(await exampleNow()).toBe(secondLast ?? '')
  expect((await wall.ask('GET /openapi.json')).headers.get('etag')).not.toBe(before)
  expect((await wall.ask(`GET /blocks/${secondLast}`)).status).toBe(402)
})
