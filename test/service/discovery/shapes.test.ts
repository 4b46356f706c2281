import { expect, test } from 'bun:test'
import { FormatRegistry, Type, type TProperties, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { renderDocuments } from '../../../server/discovery/documents.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import { BASE_URL, OFFER } from '../../support/service/wall.ts'

// The rules of each small document's own specification, written out here because a test cannot fetch the schemas.

FormatRegistry.Set('uri', (text) => URL.canParse(text))

const Uri = Type.String({ format: 'uri' })
const createClosedObject = (members: TProperties) => Type.Object(members, { additionalProperties: false })
const createNonEmptyArray = (one: TSchema) => Type.Array(one, { minItems: 1 })
const createTextSchema = (maxLength: number, pattern = '^') => Type.String({ minLength: 1, maxLength, pattern })

const sizes = Type.Array(Type.String({ pattern: '^(\\d+x\\d+|any)$' }))

const identity = {
  name: Type.String({ pattern: '^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$', minLength: 3, maxLength: 200 }),
  title: createTextSchema(100),
  description: createTextSchema(100),
  version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  websiteUrl: Uri,
  icons: Type.Array(createClosedObject({ src: Uri, mimeType: Type.String(), sizes })),
  remotes: createNonEmptyArray(
    createClosedObject({ type: Type.Literal('streamable-http'), url: Type.String({ pattern: '^https?://\\S+$' }) }),
  ),
}

const skill = { name: createTextSchema(64, '^[a-z0-9]+(-[a-z0-9]+)*$'), description: createTextSchema(1024) }

/** Agent skills discovery, 0.1. */
const SkillsIndexV1 = createClosedObject({
  skills: Type.Array(createClosedObject({ ...skill, files: Type.Tuple([Type.Literal('SKILL.md')]) })),
})

/** Agent skills discovery, 0.2.0. */
const SkillsIndex = createClosedObject({
  $schema: Type.Literal('https://schemas.agentskills.io/discovery/0.2.0/schema.json'),
  skills: createNonEmptyArray(
    createClosedObject({
      ...skill,
      type: Type.Literal('skill-md'),
      url: Type.String({ pattern: '^/' }),
      digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
    }),
  ),
})

/** The MCP registry's entry, schema of 2025-12-11. */
const ServerJson = createClosedObject({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  ...identity,
})

/** The MCP server card, SEP-2127. */
const ServerCard = createClosedObject({
  $schema: Type.Literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  ...identity,
})

const Targets = createNonEmptyArray(createClosedObject({ href: Uri, type: Type.String() }))

/** RFC 9727: a linkset (RFC 9264) of registered relations. */
const ApiCatalog = createClosedObject({
  linkset: createNonEmptyArray(
    createClosedObject({
      anchor: Uri,
      'service-desc': Targets,
      'service-doc': Targets,
      'service-meta': Type.Optional(Targets),
      status: Type.Optional(Targets),
    }),
  ),
})

const X402Resources = createClosedObject({
  version: Type.Literal(1),
  resources: createNonEmptyArray(Uri),
  ownershipProofs: Type.Array(Type.String()),
  instructions: Type.String({ minLength: 1 }),
})

const shapes: ReadonlyArray<readonly [path: string, shape: TSchema]> = [
  ['/server.json', ServerJson],
  ['/.well-known/mcp.json', ServerCard],
  ['/mcp/server-card', ServerCard],
  ['/.well-known/agent-skills/index.json', SkillsIndex],
  ['/.well-known/skills/index.json', SkillsIndexV1],
  ['/.well-known/api-catalog', ApiCatalog],
  ['/.well-known/x402', X402Resources],
]

const addresses = ['https://wall.test', 'http://127.0.0.1:8402', 'http://[::1]:8402', 'https://a-b.wall.co.test:8443']

/** The text of a document as a wall with this address would serve it. */
function renderDocument(path: string, baseUrl = BASE_URL): string {
  const found = renderDocuments({
    offer: { ...OFFER, baseUrl },
    contact: null,
    tools: [],
    operations: OPERATIONS,
  }).find((each) => each.path === path)
  const body = found?.body()
  if (typeof body !== 'string') throw new Error(`there is no document at ${path}`)
  return body
}

test.each(shapes)('%s follows its specification, whatever the address of the wall', (path, shape) => {
  for (const address of addresses)
    expect([...Value.Errors(shape, JSON.parse(renderDocument(path, address)))]).toEqual([])
})

test('the front matter of the skill contains a licence, and the same name and description as the index of skills', () => {
  const { skills } = JSON.parse(renderDocument('/.well-known/agent-skills/index.json')) as {
    skills: ReadonlyArray<{ name: string; description: string }>
  }
  const [, frontMatter = ''] = renderDocument('/skill.md').split('---\n')
  expect(Bun.YAML.parse(frontMatter)).toEqual({
    name: skills[0]?.name,
    description: skills[0]?.description,
    license: 'MIT',
  })
})

test('the older index of skills leads installers to the same text as /skill.md', () => {
  const { skills } = JSON.parse(renderDocument('/.well-known/skills/index.json')) as {
    skills: ReadonlyArray<{ name: string; files: readonly string[] }>
  }
  const [{ name, files: [file] } = { name: '', files: [] }] = skills
  expect(renderDocument(`/.well-known/skills/${name}/${file}`)).toBe(renderDocument('/skill.md'))
})

test('llms.txt has a title, a summary and a list of key facts, followed only by lists of links', () => {
  const [title, summary, ...rest] = renderDocument('/llms.txt').trimEnd().split('\n\n')
  expect(title).toMatch(/^# [^\n]+$/)
  expect(summary).toMatch(/^> [^\n]+$/)
  const sections = rest.slice(rest.findIndex((part) => part.startsWith('## ')))
  const [headings, lists] = [sections.filter((_, at) => at % 2 === 0), sections.filter((_, at) => at % 2 === 1)]
  expect(headings).toEqual(['## Documents', '## Addresses', '## Optional'])
  for (const line of lists.flatMap((list) => list.split('\n')))
    expect(line).toMatch(/^- \[[^\]]+\]\(https:\/\/\S+\): .+$/)
})
