import { afterAll, describe, expect, test } from 'bun:test'
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
import { createBodyInit } from '../../support/service/signed.ts'
import { decodeDemand, OFFER, openWall, type Wall } from '../../support/service/wall.ts'

// The rules of public graders for paid services. x402scan runs AgentCash's own validator on registered services over
// the network. The rules of other graders are here only if no test of a document or an address covers them.

const opened = Promise.withResolvers<Wall>()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => await (await opened.promise).app.handle(request),
})
const { origin } = server.url
const wall = await openWall({ offer: { ...OFFER, baseUrl: origin } })
opened.resolve(wall)
afterAll(() => server.stop(true))

const openApi = await readSource()

async function readSource(): Promise<OpenApiSource> {
  const source = (await getOpenAPI(origin))._unsafeUnwrap()
  if (source === null || isOpenApiParseFailure(source)) throw new Error('AgentCash cannot read the OpenAPI document')
  return source
}

type Operation = {
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly example: string }>
  readonly 'x-payment-info'?: { readonly protocols: ReadonlyArray<Record<string, object>> }
}

const { paths } = openApi.raw as { paths: Record<string, Record<string, Operation>> }

describe('AgentCash and x402scan', () => {
  test('AgentCash and x402scan report no error, warning or remark about the OpenAPI document or the favicon', async () => {
    expect(getWarningsForOpenAPI(openApi)).toEqual([])
    expect(getWarningsForL2(checkL2ForOpenAPI(openApi))).toEqual([])
    expect(getWarningsForL4(checkL4ForOpenAPI(openApi))).toEqual([])
    expect((await getWarningsForFavicon(origin))._unsafeUnwrap()).toEqual([])
  })

  test('AgentCash and x402scan find the guidance, three paid operations with prices and the sign-in operations, and treat every other operation as free', async () => {
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

  test('AgentCash and x402scan register /blocks/next without an error or a warning, over GET and HEAD', async () => {
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

  test('AgentCash and x402scan skip the literal path /blocks/{coord}, and accept the path with its example coordinate', async () => {
    // The registry requests the path as the document writes it, including braces. The literal path does not identify a
    // block, so the response is 400 and not a demand for payment: nobody should pay for a block that cannot exist. The
    // example can be bought.
    const literal = (await getProbe(`${origin}/blocks/{coord}`))._unsafeUnwrap()
    expect(literal.map(({ method, authHint }) => [method, authHint])).toEqual([['OPTIONS', 'unprotected']])

    const example = paths['/blocks/{coord}']?.['get']?.parameters.find(({ name }) => name === 'coord')?.example
    const probes = (await getProbe(`${origin}/blocks/${example}`))._unsafeUnwrap()
    expect(getWarningsForL3(getL3(openApi, probes, '/blocks/{coord}', 'GET'))).toEqual([])
    const demand = probes.find(({ method }) => method === 'GET')?.paymentRequiredBody
    expect(validatePaymentRequiredDetailed(demand)).toMatchObject({ valid: true, issues: [] })
  })

  test('AgentCash and x402scan find x402 in the older well-known document, and no MPP, which the wall does not offer', async () => {
    expect((await probeLegacyWellKnown(origin))._unsafeUnwrap()).toEqual({ x402: true, mpp: false })
    expect((await wall.sendRequest('GET /blocks/next')).headers.get('www-authenticate')).toBeNull()
  })
})

/** The catalogue entry in a demand. */
const readCatalogueEntry = (response: Response) =>
  (decodeDemand(response).extensions as { bazaar: { info: { input: { queryParams?: object; body?: object } } } }).bazaar
    .info

const demand = decodeDemand(await wall.sendRequest('GET /blocks/next'))

const paid = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, { 'x-payment-info': info }]) =>
    info === undefined ? [] : [{ path, method, protocols: info.protocols }],
  ),
)

test.each(paid)(
  'CDP: $method $path responds with 402, both to an empty probe and to the example request in its terms',
  async ({ path, method }) => {
    const request = `${method.toUpperCase()} ${path.replace('{coord}', '159,89')}`
    for (const probe of method === 'post' ? [{}, { body: '' }, createBodyInit({})] : [{}])
      expect((await wall.sendRequest(request, probe)).status).toBe(402)
    const { input } = readCatalogueEntry(await wall.sendRequest(request))
    const query = new URLSearchParams({ ...input.queryParams }).toString()
    const own =
      input.body === undefined
        ? wall.sendRequest(`${request}?${query}`)
        : wall.sendRequest(request, createBodyInit(input.body))
    expect((await own).status).toBe(402)
  },
)

test.each(paid)(
  'canagentuse: the terms of $method $path are the same in the OpenAPI document and the demand for payment',
  ({ path, protocols }) => {
    // The document does not state an amount for areas; only the demand does.
    const { amount, ...terms } = demand.accepts[0] ?? {}
    const expected = path === '/areas' ? terms : { ...terms, amount }
    expect(protocols).toEqual([{ x402: { version: 2, ...expected } }])
  },
)

test('x402-surface-check: the terms contain the requested URL, but no cookie, credential or referrer from the request', async () => {
  const headers = { cookie: 'secret=1', authorization: 'Bearer secret', referer: 'https://secret.example/' }
  const asked = await wall.sendRequest('GET /blocks/next?name=Ada', { headers })
  expect(decodeDemand(asked)).toEqual({
    ...demand,
    resource: { ...demand.resource, url: `${demand.resource?.url}?name=Ada` },
  })
})
