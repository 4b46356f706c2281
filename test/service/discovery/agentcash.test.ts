import { afterAll, expect, test } from 'bun:test'
import {
  checkEndpointSchema,
  checkL2ForOpenAPI,
  checkL4ForOpenAPI,
  discoverOriginSchema,
  getL3,
  getOpenAPI,
  getProbe,
  getWarningsForFavicon,
  getWarningsForL2,
  getWarningsForL3,
  getWarningsForL4,
  getWarningsForOpenAPI,
  GuidanceMode,
  isOpenApiParseFailure,
  probeLegacyWellKnown,
  validatePaymentRequiredDetailed,
  type OpenApiSource,
} from '@agentcash/discovery'
import { openWallAtLarge } from './at-large.ts'

// AgentCash's own validator, which x402scan runs on what is registered with it, over the network.

const { wall, origin, close } = await openWallAtLarge()
afterAll(close)

const openApi = await read()

async function read(): Promise<OpenApiSource> {
  const source = (await getOpenAPI(origin))._unsafeUnwrap()
  if (source === null || isOpenApiParseFailure(source)) throw new Error('AgentCash cannot read the OpenAPI document')
  return source
}

test('AgentCash: the OpenAPI document gives no cause for an error, a warning or a remark', () => {
  expect(getWarningsForOpenAPI(openApi)).toEqual([])
  expect(getWarningsForL2(checkL2ForOpenAPI(openApi))).toEqual([])
  expect(getWarningsForL4(checkL4ForOpenAPI(openApi))).toEqual([])
})

test('AgentCash: a favicon is found', async () => {
  expect((await getWarningsForFavicon(origin))._unsafeUnwrap()).toEqual([])
})

test('AgentCash: the three ways to buy are paid and priced, what is signed in needs a header, all else is free, and guidance is there', async () => {
  const found = await discoverOriginSchema({ target: origin, guidance: GuidanceMode.Always })
  if (!found.found) throw new Error('nothing was discovered')
  const paid = found.endpoints.filter(({ authMode }) => authMode !== 'unprotected')
  expect(
    paid.map(({ method, path, authMode, price, protocols }) => [method, path, authMode, price, protocols]),
  ).toEqual([
    ['GET', '/blocks/next', 'paid', '1.00 USD', ['x402']],
    ['GET', '/blocks/{coord}', 'paid', '1.00 USD', ['x402']],
    ['POST', '/blocks/{coord}', 'apiKey', undefined, undefined],
    ['POST', '/areas', 'paid', '1.00-400.00 USD', ['x402']],
    ['POST', '/areas/{area}', 'apiKey', undefined, undefined],
    ['POST', '/api/agents/me', 'apiKey', undefined, undefined],
    ['POST', '/api/agents/me/receipts', 'apiKey', undefined, undefined],
  ])
  expect(found.guidance).toStartWith("First: your client's spend cap must allow 1.00 USD")
  expect(found.info?.contactEmail).toBe('ops@wall.test')
})

test('x402scan: /blocks/next is registered without an error or a warning, over GET and over HEAD', async () => {
  const checked = await checkEndpointSchema({ url: `${origin}/blocks/next`, probe: true })
  if (!checked.found) throw new Error('the endpoint was not found')
  const payable = checked.advisories.filter(({ authMode }) => authMode === 'paid')
  expect(payable.map(({ method, protocols }) => [method, protocols])).toEqual([
    ['GET', ['x402']],
    ['HEAD', ['x402']],
  ])
  for (const advisory of payable) {
    expect(getWarningsForL3(advisory)).toEqual([])
    expect(validatePaymentRequiredDetailed(advisory.paymentRequiredBody)).toMatchObject({ valid: true, issues: [] })
  }
  expect(wall.facilitator.verified).toEqual([])
})

test('x402scan: the row of the literal /blocks/{coord} is skipped, and that of its example is clean', async () => {
  // The registry asks for the path as the document writes it, braces and all. That names no block, so the answer is 400
  // and not a demand for payment: nobody should be asked to pay for a block that cannot be. The example can be bought.
  const literal = (await getProbe(`${origin}/blocks/{coord}`))._unsafeUnwrap()
  expect(literal.map(({ method, authHint }) => [method, authHint])).toEqual([['OPTIONS', 'unprotected']])

  const { example } = exampleOf(openApi.raw)
  const probes = (await getProbe(`${origin}/blocks/${example}`))._unsafeUnwrap()
  expect(getWarningsForL3(getL3(openApi, probes, '/blocks/{coord}', 'GET'))).toEqual([])
  const demand = probes.find(({ method }) => method === 'GET')?.paymentRequiredBody
  expect(validatePaymentRequiredDetailed(demand)).toMatchObject({ valid: true, issues: [] })
})

function exampleOf(raw: Record<string, unknown>): { readonly example: string } {
  const { paths } = raw as {
    paths: Record<string, { get: { parameters: ReadonlyArray<{ name: string; example: string }> } }>
  }
  const parameter = paths['/blocks/{coord}']?.get.parameters.find(({ name }) => name === 'coord')
  if (parameter === undefined) throw new Error('the coordinate has no example')
  return parameter
}

test('AgentCash: the older well-known document is served for those who still ask, and no MPP rail is claimed', async () => {
  expect((await probeLegacyWellKnown(origin))._unsafeUnwrap()).toEqual({ x402: true, mpp: false })
})
