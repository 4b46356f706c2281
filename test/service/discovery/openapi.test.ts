import { expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { statusOf } from '../../../server/domain/failure.ts'
import { CLAIM_ORDER, formatCoord } from '../../../shared/wall.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import { readJson, openWall } from '../../support/service/wall.ts'

const wall = await openWall()
const document = await readJson(await wall.sendRequest('GET /openapi.json'))
const text = JSON.stringify(document)

type Answer = { readonly description?: string; readonly $ref?: string }

type Described = {
  readonly responses: Record<string, Answer>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly example?: string }>
}

const paths = document['paths'] as Record<string, Record<string, Described>>

test("Redocly's linter, with all recommended rules except one, reports only the security scheme that no operation requires", async () => {
  // A request for a read without parameters cannot be invalid, so such a read has no 4xx response.
  const rules = { 'operation-4xx-response': 'off' } as const
  const config = await createConfig({ extends: ['recommended'], rules })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  // If an operation required the scheme, payment clients would try to get a key in advance, so the scheme is only
  // documentation.
  expect(problems.map(({ ruleId, location }) => [ruleId, location[0]?.pointer])).toEqual([
    ['no-unused-components', '#/components/securitySchemes/x402'],
  ])
})

test('the OpenAPI document contains every error code, and explains it in the responses of each operation that returns it', () => {
  const shared = (document['components'] as { responses: Record<string, Answer> }).responses
  for (const { path, method, codes } of OPERATIONS)
    for (const code of codes) {
      const answer = paths[path]?.[method.toLowerCase()]?.responses[statusOf[code]]
      const described = answer?.$ref === undefined ? answer : shared[answer.$ref.split('/').at(-1) ?? '']
      expect(described?.description).toContain(`\`${code}\``)
    }
  for (const code of Object.keys(statusOf)) expect(text).toContain(`\`${code}\``)
})

test('the example coordinate in the OpenAPI document is an open block, and changes to another open block once that block is sold', async () => {
  const readExample = async () => {
    const { paths: now } = (await readJson(await wall.sendRequest('GET /openapi.json'))) as { paths: typeof paths }
    return now['/blocks/{coord}']?.['get']?.parameters.find(({ name }) => name === 'coord')?.example ?? ''
  }
  const [last, secondLast] = CLAIM_ORDER.slice(-2).toReversed().map(formatCoord)
  expect(await readExample()).toBe(last ?? '')
  const before = (await wall.sendRequest('GET /openapi.json')).headers.get('etag')
  expect((await wall.buyBlock(`/blocks/${last}`, 1)).status).toBe(200)
  expect(await readExample()).toBe(secondLast ?? '')
  expect((await wall.sendRequest('GET /openapi.json')).headers.get('etag')).not.toBe(before)
  expect((await wall.sendRequest(`GET /blocks/${secondLast}`)).status).toBe(402)
})
