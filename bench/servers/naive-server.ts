/**
 * Naive implementations, in a separate process: a query for each read, the x402 SDK for each demand. Argument: the path
 * of a database.
 */

import { x402HTTPResourceServer, x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions/bazaar'
import { connect } from '../../db/sqlite/connection.ts'
import { ListingQuery } from '../../shared/contract/block.ts'
import { COORD_PATTERN } from '../../shared/wall.ts'
import naiveSql from './naive-server.sql' with { type: 'text' }

const [databasePath = ''] = process.argv.slice(2)
const network = 'eip155:8453'
const asset = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

const connection = connect(databasePath)
const [selectBlocks = '', selectAgents = ''] = naiveSql.split(';\n')
type Row = Readonly<Record<string, unknown>> & { readonly px?: Uint8Array | null }
const blocks = connection.prepare<Row>(selectBlocks)
const agents = connection.prepare<Row>(selectAgents)

/** The whole wall, read and serialised on each call. */
function renderCanvas(): string {
  const shown = blocks.all({}).map((row) => ({ ...row, px: row.px?.toBase64() }))
  return JSON.stringify({ agents: agents.all({}), blocks: shown })
}

// The same fields as in the wall's own demand, without the schema keywords that only the wall's OpenAPI document has.
const listingProperties = Object.fromEntries(
  Object.entries(ListingQuery.properties).map(([name, { type, minLength, maxLength, pattern }]) => [
    name,
    { type, minLength, maxLength, pattern },
  ]),
)

const payments = new x402ResourceServer({
  getSupported: async () => ({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} }),
  verify: () => Promise.reject(new Error('nobody pays here')),
  settle: () => Promise.reject(new Error('nobody pays here')),
})
const resourceServer = new x402HTTPResourceServer(
  payments.register(network, new ExactEvmScheme()).registerExtension(bazaarResourceServerExtension),
  {
    'GET /sdk': {
      accepts: {
        scheme: 'exact',
        network,
        payTo: `0x${'11'.repeat(20)}`,
        price: { amount: '1000000', asset, extra: { name: 'USD Coin', version: '2' } },
      },
      description: 'One 10x10 pixel block of a public billboard: 100 pixels, a message, a link.',
      mimeType: 'application/json',
      // The catalogue entry is most of a demand; without it, the SDK would do less work than the wall.
      extensions: declareDiscoveryExtension({
        input: { name: 'Ada', message: 'hello' },
        inputSchema: { properties: listingProperties },
        pathParamsSchema: { properties: { coord: { type: 'string', pattern: COORD_PATTERN } }, required: ['coord'] },
        output: { example: { block: '80,45', owner: 'you', pixels: 'yours' } },
      }),
    },
  },
)
await resourceServer.initialize()

async function demandPayment(request: Request): Promise<Response> {
  const path = '/sdk'
  const adapter = {
    getHeader: (name: string) => request.headers.get(name) ?? undefined,
    getMethod: () => request.method,
    getPath: () => path,
    getUrl: () => request.url,
    getAcceptHeader: () => 'application/json',
    getUserAgent: () => '',
  }
  const result = await resourceServer.processHTTPRequest({ adapter, path, method: 'GET' })
  if (result.type !== 'payment-error') throw new Error('the SDK did not demand a payment')
  const { status, headers: fields, body: said } = result.response
  return new Response(JSON.stringify(said ?? {}), { status, headers: fields })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  development: false,
  routes: {
    '/sdk': demandPayment,
    '/naive/canvas': () =>
      new Response(Bun.gzipSync(Buffer.from(renderCanvas()), { level: 6, library: 'zlib' }), {
        headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      }),
  },
})
console.log(server.port)
