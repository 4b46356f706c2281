import { describe, expect, test } from 'bun:test'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { isPaymentRequiredV2 } from '@x402/core/schemas'
import { x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import {
  bazaarResourceServerExtension,
  declareDiscoveryExtension,
  extractDiscoveryInfo,
  isValidServiceName,
  sanitizeTags,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
  type DiscoveryExtension,
} from '@x402/extensions/bazaar'
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from '@x402/extensions/payment-identifier'
import { toCaip2 } from '../../../server/x402/network.ts'
import { orderBinding } from '../../../server/x402/order-binding.ts'
import { encodeHeader } from '../../../server/x402/receipt.ts'
import {
  formatPath,
  buildDemand,
  toRequirements,
  formatResourceUrl,
  createToolDemand,
} from '../../../server/x402/terms.ts'
import { ListingQuery } from '../../../shared/contract/block.ts'
import { COORD_PATTERN } from '../../../shared/wall.ts'
import { OFFER } from '../../support/offer.ts'
import { parseBlockOrThrow, TERMS } from '../../support/samples.ts'

const TARGETS = ['next', parseBlockOrThrow('80,45')] as const

// The SDK's own server asks a facilitator once what it supports; this facilitator rejects all other calls.
const NETWORK = toCaip2(TERMS.network)
const facilitator = {
  getSupported: () =>
    Promise.resolve({ kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }], extensions: [], signers: {} }),
  verify: () => Promise.reject(new Error('terms are built without verifying')),
  settle: () => Promise.reject(new Error('terms are built without settling')),
}

async function createStockServer(): Promise<x402ResourceServer> {
  const server = new x402ResourceServer(facilitator).register(NETWORK, new ExactEvmScheme())
  server.registerExtension(bazaarResourceServerExtension)
  await server.initialize()
  return server
}

const buildStockRequirements = (server: x402ResourceServer) =>
  server.buildPaymentRequirements({
    scheme: 'exact',
    price: '$1.00',
    network: NETWORK,
    payTo: '0x00000000000000000000000000000000000A11cE',
    maxTimeoutSeconds: 300,
  })

/**
 * The discovery extension of a target as the SDK builds it; the SDK adds the method and the route to the declaration.
 */
function buildStockDiscovery(target: (typeof TARGETS)[number]): Record<string, unknown> {
  const properties = Object.fromEntries(
    Object.entries(ListingQuery.properties).map(([name, { type, minLength, maxLength, pattern }]) => [
      name,
      JSON.parse(JSON.stringify({ type, minLength, maxLength, pattern })),
    ]),
  )
  const coord = { type: 'string', pattern: COORD_PATTERN }
  const declared = declareDiscoveryExtension({
    input: { name: 'Ada', message: 'hello' },
    inputSchema: { properties },
    output: { example: { block: '80,45', owner: 'you', pixels: 'yours' } },
    ...(target === 'next' ? {} : { pathParamsSchema: { properties: { coord }, required: ['coord'] } }),
  })
  const routePattern = target === 'next' ? '/blocks/next' : '/blocks/:coord'
  const context = { method: 'GET', routePattern, adapter: { getPath: () => formatPath(target) } }
  return { bazaar: bazaarResourceServerExtension.enrichDeclaration?.(declared['bazaar'], context) }
}

const IDENTIFIER = { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension() }

/** The discovery extension of a demand; both validators of the SDK must accept the extension. */
function validateDiscovery({ extensions }: ReturnType<typeof buildDemand>) {
  const bazaar = extensions?.['bazaar'] as DiscoveryExtension & Record<string, unknown>
  expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true })
  expect(validateDiscoveryExtensionSpec(bazaar)).toEqual({ valid: true })
  return bazaar
}

/** The information that a catalogue reads from a paid demand. */
const catalogueDemand = (demand: ReturnType<typeof buildDemand>) => {
  const accepted = toRequirements(OFFER, TERMS)
  return extractDiscoveryInfo({ ...demand, accepted, payload: {} }, accepted)
}

describe('the terms of a block', () => {
  test('the terms of a block equal the complete demand that the SDK builds', async () => {
    const server = await createStockServer()
    for (const target of TARGETS) {
      const ours = buildDemand(OFFER, target)
      const theirs = await server.createPaymentRequiredResponse(
        (await buildStockRequirements(server)).map((accept) => ({
          ...accept,
          extra: { ...accept.extra, primaryType: 'TransferWithAuthorization' },
        })),
        ours.resource,
        'payment_required',
        ours.extensions,
      )
      expect(ours).toEqual(theirs)
    }
  })

  test('the terms of a block use the configured network, payee and amount', () => {
    const other = { ...TERMS, network: 'eip155:84532', payTo: TERMS.asset, amount: 7n }
    expect(toRequirements(OFFER, other)).toMatchObject({
      network: 'eip155:84532',
      payTo: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      amount: '7',
    })
  })
})

describe.each([...TARGETS])('the demand for %p', (target) => {
  const demand = buildDemand(OFFER, target)

  test('the demand satisfies the schema of x402 v2, and the SDK can read its header', () => {
    expect(isPaymentRequiredV2(demand)).toBe(true)
    expect(decodePaymentRequiredHeader(encodeHeader(demand))).toEqual(demand)
  })

  test('the encoded demand leaves room for other headers in a header buffer of 4 KiB', () => {
    expect(encodeHeader(demand).length).toBeLessThan(3500)
  })

  test('the demand describes its resource only with values that strict facilitators accept', () => {
    const { description = '', serviceName = '', tags = [] } = demand.resource
    expect(description.length).toBeLessThan(500)
    expect(isValidServiceName(serviceName)).toBe(true)
    expect(sanitizeTags(tags)).toEqual(tags)
  })

  test('the demand carries the extensions as the SDK declares them, and the SDK’s validators accept them', () => {
    expect(demand.extensions).toEqual({ ...buildStockDiscovery(target), ...IDENTIFIER, ...orderBinding })
    validateDiscovery(demand)
  })
})

describe('the demand for one request', () => {
  test('the demand for one request contains the exact URL, with the query as it was sent', () => {
    const query = 'name=Ada&message=hi+%F0%9F%98%80'
    const demand = buildDemand(OFFER, 'next', { query })
    expect(demand).toEqual({
      ...buildDemand(OFFER, 'next'),
      resource: { ...demand.resource, url: `https://wall.example/blocks/next?${query}` },
    })
    expect(isPaymentRequiredV2(demand)).toBe(true)
    expect(catalogueDemand(demand)?.resourceUrl).toBe('https://wall.example/blocks/next')
  })

  test('the header of the demand for one request is within a proxy’s limit of 8 kB, however long the query is', () => {
    const createLongDemand = (length: number) =>
      encodeHeader(buildDemand(OFFER, parseBlockOrThrow('80,45'), { query: 'x'.repeat(length) }))
    expect(createLongDemand(2000).length).toBeLessThan(6500)
    expect(createLongDemand(4096).length).toBeLessThan(7200)
  })
})

test('the SDK finds the URL of the MCP server and the name of the buying tool in the demand for a tool call', () => {
  const demand = createToolDemand(OFFER, 'next', { reason: 'expired' })
  expect(isPaymentRequiredV2(demand)).toBe(true)
  expect([demand.resource.url, demand.error]).toEqual(['https://wall.example/mcp', 'expired'])
  const bazaar = validateDiscovery(demand)
  const { inputSchema, example } = (bazaar as { info: { input: { inputSchema: object; example: object } } }).info.input
  const declared = declareDiscoveryExtension({
    toolName: 'buy_block',
    transport: 'streamable-http',
    inputSchema: { ...inputSchema },
    example: { ...example },
    output: { example: { block: '80,45', owner: 'you', pixels: 'yours' } },
  })
  expect(demand.extensions).toEqual({ ...JSON.parse(JSON.stringify(declared)), ...IDENTIFIER, ...orderBinding })
  expect(catalogueDemand(demand)).toMatchObject({ resourceUrl: 'https://wall.example/mcp', toolName: 'buy_block' })
})

test('the SDK finds a fixed URL in the demand for the next block, and a URL template in the demand for a specific block', () => {
  const found = TARGETS.map((target) => {
    const discovered = catalogueDemand(buildDemand(OFFER, target))
    return { url: discovered?.resourceUrl, input: discovered?.discoveryInfo.input }
  })
  const input = { type: 'http', method: 'GET', queryParams: { name: 'Ada', message: 'hello' } } as const
  expect(found).toEqual([
    { url: 'https://wall.example/blocks/next', input },
    { url: 'https://wall.example/blocks/:coord', input: { ...input, pathParams: { coord: '80,45' } } },
  ])
})

test('the URL of a paid resource is canonical and on the configured host', () => {
  expect(TARGETS.map(formatPath)).toEqual(['/blocks/next', '/blocks/80,45'])
  expect(formatResourceUrl(OFFER, parseBlockOrThrow('007,003'))).toBe('https://wall.example/blocks/7,3')
  expect(buildDemand(OFFER, 'next').resource.url).toBe('https://wall.example/blocks/next')
})
