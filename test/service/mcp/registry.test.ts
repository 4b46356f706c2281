import { expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { TOOLS } from '../../../server/mcp/registry.ts'
import { TOOL_LIST, callReadTool, sendRpc } from '../../support/service/agent.ts'
import { openWall } from '../../support/service/wall.ts'

const ANNOTATIONS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

test('the tools of the contract come first, in the order of the contract, and no two tools have the same name', () => {
  expect(TOOLS.slice(0, 6).map(({ name }) => name)).toEqual([
    'get_wall',
    'get_block',
    'list_unclaimed',
    'get_founding_machines',
    'set_pixels',
    'buy_block',
  ])
  expect(new Set(TOOLS.map(({ name }) => name)).size).toBe(TOOLS.length)
})

test('tools/list returns the registry', async () => {
  const answer = await sendRpc(await openWall(), { id: 1, method: 'tools/list' })
  expect(answer).toEqual({ status: 200, id: 1, result: { tools: JSON.parse(JSON.stringify(TOOL_LIST)) } })
})

test.each(TOOLS)('$name declares all annotations, and its description agrees with them', (tool) => {
  expect(Object.keys(tool.annotations).toSorted()).toEqual(ANNOTATIONS.toSorted())
  const { readOnlyHint, destructiveHint } = tool.annotations
  expect(readOnlyHint && destructiveHint).toBe(false)
  expect(/no side effects/i.test(tool.description)).toBe(readOnlyHint)
})

test.each(TOOLS)(
  'the description of $name says when to use the tool, which tool to use for other tasks, what the tool costs and what it returns',
  (tool) => {
    expect(tool.title.length).toBeGreaterThan(5)
    expect(tool.description).toMatch(/^Use /)
    expect(tool.description).toMatch(/\b(For|To) [^.]+, (use|POST) |\bneither\b|Buys and reserves nothing/)
    expect(tool.description).toMatch(/\bFree\b|\bCost: \{price\} /)
    expect(tool.description).toMatch(/\breturns /i)
  },
)

test.each(TOOLS)('every argument of $name has a description, with an example or its values', (tool) => {
  expect(tool.input['additionalProperties']).toBe(false)
  for (const [name, schema] of Object.entries(tool.input.properties)) {
    const described = `${tool.name}.${name}`
    expect(schema.description?.length ?? 0, described).toBeGreaterThan(10)
    expect(hasExamples(schema), described).toBe(true)
    if (schema.default !== undefined) expect(schema.description, described).toContain(`efault ${schema.default}`)
  }
})

/** Whether a schema shows what a value looks like. */
function hasExamples(schema: TSchema): boolean {
  const { examples, pattern, anyOf, type, description, default: standard } = schema
  if (Array.isArray(anyOf)) return anyOf.some((one: TSchema) => 'const' in one || hasExamples(one))
  return (
    examples !== undefined ||
    pattern !== undefined ||
    standard !== undefined ||
    type === 'boolean' ||
    /Example/.test(description ?? '')
  )
}

test('every tool that a description mentions exists', () => {
  const names = TOOLS.map(({ name }) => name)
  const pointed = TOOLS.flatMap(({ description }) => [
    ...description.matchAll(/\b(?:get|list|set|buy|preview|find|image|signing|my)_[a-z_]+\b/g),
  ])
  expect(pointed.length).toBeGreaterThan(TOOLS.length)
  expect(pointed.map(([name]) => name).filter((name) => !names.includes(name))).toEqual([])
})

test('only the tools that buy declare no output schema, because clients would validate a demand for payment against that schema', () => {
  expect(TOOLS.filter(({ output }) => output === undefined).map(({ name }) => name)).toEqual(['buy_block', 'buy_area'])
})

test('an argument that has a default may be left out', async () => {
  const wall = await openWall()
  for (const { inputSchema } of TOOL_LIST)
    for (const name of inputSchema.required ?? []) expect(inputSchema.properties?.[name]).not.toHaveProperty('default')
  for (const name of ['list_unclaimed', 'get_founding_machines', 'find_space', 'get_wall_image'])
    expect(await callReadTool(wall, name)).not.toHaveProperty('error')
})

test('tools that cost money list their terms, and only the tool with a fixed price says that payment is required', () => {
  const terms = { scheme: 'exact', network: 'eip155:8453', amount: '1000000', maxTimeoutSeconds: 300 }
  const priced = TOOL_LIST.flatMap(({ name, _meta }) => (_meta?.['x402'] === undefined ? [] : [[name, _meta['x402']]]))
  expect(priced).toMatchObject([
    ['buy_block', { paymentRequired: true, accepts: [terms] }],
    ['buy_area', { accepts: [terms] }],
  ])
  expect(priced[1]?.[1]).not.toHaveProperty('paymentRequired')
})

test('the list of tools is at most 28 kB long, because every agent reads it before its first call', () => {
  expect(Buffer.byteLength(JSON.stringify({ tools: TOOL_LIST }))).toBeLessThanOrEqual(28_000)
})

test('the list of tools shows the valid values of arguments, but only the fields and types of outputs', () => {
  const listed = TOOL_LIST.find(({ name }) => name === 'signing_message')
  expect(listed?.inputSchema.properties?.['kind']).toMatchObject({
    type: 'string',
    enum: ['set_pixels', 'set_area', 'register', 'set_painter', 'order'],
  })
  expect(listed?.outputSchema?.properties).toMatchObject({ message: { type: 'string' }, call: { type: 'object' } })
  expect(JSON.stringify(TOOL_LIST)).not.toMatch(/"(?:examples|format|contentEncoding|minLength)":/)
})

test('the error for an invalid argument describes its valid values, and the error for an unknown argument lists the arguments of the tool', async () => {
  const wall = await openWall()
  expect(await callReadTool(wall, 'list_unclaimed', { limit: 0 })).toEqual({
    error: 'invalid_limit',
    message: 'limit is missing or invalid. It should be: How many blocks, 1 to 100. Default 20.',
  })
  expect(await callReadTool(wall, 'list_unclaimed', { count: 5 })).toEqual({
    error: 'invalid_body',
    message: 'Unknown argument. Arguments of this tool: limit, near.',
  })
  expect(await callReadTool(wall, 'get_wall', { near: '1,1' })).toEqual({
    error: 'invalid_body',
    message: 'Unknown argument. Arguments of this tool: none.',
  })
})
