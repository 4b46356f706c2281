import { describe, expect, test } from 'bun:test'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import manifest from '../../../package.json'
import { jsonOf, openWall } from '../../support/service/wall.ts'

// The rules by which public graders mark paid services, as far as they can be checked without a public address.

const wall = await openWall()

const next = await wall.ask('GET /blocks/next')
const header = next.headers.get('payment-required') ?? ''
const demand = decodePaymentRequiredHeader(header)
const [accept] = demand.accepts

type Operation = {
  readonly security: unknown
  readonly summary?: string
  readonly description?: string
  readonly parameters: ReadonlyArray<{ readonly schema: unknown }>
  readonly responses: Record<string, unknown>
  readonly 'x-payment-info'?: { readonly price: object; readonly protocols: ReadonlyArray<Record<string, object>> }
}

const openApi = (await jsonOf(await wall.ask('GET /openapi.json'))) as {
  openapi: string
  info: Record<string, unknown>
  'x-service-info': { categories: string[]; docs: Record<string, string> }
  paths: Record<string, Record<string, Operation>>
}

const paid = Object.values(openApi.paths)
  .flatMap((operations) => Object.values(operations))
  .filter((operation) => operation['x-payment-info'] !== undefined)

// What is bought there is said in the body.
const area = openApi.paths['/areas']?.['post']

/** The example that a demand shows catalogues. */
function exampleIn(response: Response) {
  const { extensions } = decodePaymentRequiredHeader(response.headers.get('payment-required') ?? '')
  const { bazaar } = extensions as {
    bazaar: { info: { input: { queryParams?: Record<string, string>; body?: object } } }
  }
  return bazaar.info
}

const textAt = async (path: string, init?: RequestInit) => (await wall.ask(`GET ${path}`, init)).text()

describe('CDP validate', () => {
  test('the bazaar declaration is there and fits its own schema, on both kinds of address', async () => {
    const block = await wall.ask('GET /blocks/0,0')
    const demands = [demand, decodePaymentRequiredHeader(block.headers.get('payment-required') ?? '')]
    for (const { extensions } of demands)
      expect(validateDiscoveryExtension(extensions?.['bazaar'] as never)).toEqual({ valid: true })
  })

  test('every paid address answers a probe with 402: without a body, with an empty object, and with its own example', async () => {
    for (const [path, operations] of Object.entries(openApi.paths))
      for (const [method, operation] of Object.entries(operations)) {
        if (!paid.includes(operation)) continue
        const request = `${method.toUpperCase()} ${path.replace('{coord}', '159,89')}`
        const json = (body: unknown) => ({
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        })
        const probes = method === 'post' ? [{}, { body: '' }, json({})] : [{}]
        for (const probe of probes) expect([request, (await wall.ask(request, probe)).status]).toEqual([request, 402])
        const { input } = exampleIn(await wall.ask(request))
        const query = new URLSearchParams(input.queryParams).toString()
        const own = input.body === undefined ? wall.ask(`${request}?${query}`) : wall.ask(request, json(input.body))
        expect([request, (await own).status]).toEqual([request, 402])
      }
  })

  test('the description is within 500 characters', () => {
    expect(demand.resource?.description?.length).toBeLessThanOrEqual(500)
  })
})

describe('mpp.land and mppx', () => {
  test('required members of the document, and every paid operation declares its 402 and its price', () => {
    expect(openApi).toMatchObject({ openapi: '3.1.0', info: { title: 'Pixel Wall', version: manifest.version } })
    expect(paid).toHaveLength(3)
    for (const operation of paid) {
      expect(Object.keys(operation.responses)).toContain('402')
      expect(operation['x-payment-info']?.price).toEqual(
        operation === area
          ? { mode: 'dynamic', currency: 'USD', min: '1.00', max: '400.00' }
          : { mode: 'fixed', currency: 'USD', amount: '1.00' },
      )
    }
  })

  test('input is described, and so is every paid operation', () => {
    for (const operation of paid) {
      const { parameters, summary, description } = operation
      if (operation !== area) expect(parameters.length).toBeGreaterThan(0)
      for (const { schema } of parameters) expect(schema).toBeDefined()
      expect([summary, description]).not.toContain(undefined)
    }
  })

  test('the service has categories, and links to its documents', () => {
    expect(openApi['x-service-info'].categories.length).toBeGreaterThan(0)
    for (const link of Object.values(openApi['x-service-info'].docs)) expect(URL.canParse(link)).toBe(true)
  })

  // Not applicable, because there is no MPP rail, and none may be claimed that does not work: a WWW-Authenticate challenge
  // with its required parameters, its expiry and a digest of POST bodies. Problem Details (2 points): the contract fixes
  // the error shape. HTTPS (10 points): of the deployment, whose BASE_URL all documents follow.
  test('no rail is claimed that is not there', () => {
    expect(next.headers.get('www-authenticate')).toBeNull()
    for (const operation of paid) expect(operation['x-payment-info']).not.toHaveProperty('offers')
  })
})

describe('x402audit', () => {
  test('the well-known document lists what can be paid for, and each of it asks for payment', async () => {
    const { resources } = (await jsonOf(await wall.ask('GET /.well-known/x402'))) as { resources: string[] }
    expect(resources).toEqual(['https://wall.test/blocks/next', 'https://wall.test/areas', 'https://wall.test/mcp'])
    const area = { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ w: 4, h: 3 }) }
    expect((await wall.ask('POST /areas', area)).status).toBe(402)
    expect((await wall.ask('GET /blocks/next')).status).toBe(402)
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'buy_block', arguments: { coord: 'next' } },
    }
    const unpaid = await wall.ask('POST /mcp', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    })
    expect(await unpaid.json()).toMatchObject({ error: { code: 402 } })
  })

  test('guidance is given, short enough to be taken in at once, with a contact', () => {
    expect(openApi.info['x-guidance']).toBeString()
    expect(String(openApi.info['x-guidance']).length).toBeLessThan(4000)
    expect(openApi.info['contact']).toMatchObject({ email: 'ops@wall.test', url: 'https://wall.test/' })
  })
})

describe('x402-surface-check', () => {
  test('amount, asset, network, payee, resource and timeout are there before anybody signs', () => {
    expect(accept).toMatchObject({
      scheme: 'exact',
      amount: '1000000',
      network: 'eip155:8453',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      maxTimeoutSeconds: 300,
    })
    expect(accept?.payTo).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(new URL(demand.resource?.url ?? '').origin).toBe('https://wall.test')
  })

  test('nothing of the request but its own address is in the terms', async () => {
    const headers = { cookie: 'secret=1', authorization: 'Bearer secret', referer: 'https://secret.example/' }
    const asked = await wall.ask('GET /blocks/next?name=Ada', { headers })
    const resource = { ...demand.resource, url: `${demand.resource?.url}?name=Ada` }
    expect(decodePaymentRequiredHeader(asked.headers.get('payment-required') ?? '')).toEqual({ ...demand, resource })
  })

  test('a page of another origin may send the payment and read the answer', async () => {
    const preflight = await wall.ask('OPTIONS /blocks/next')
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toContain('PAYMENT-SIGNATURE')
    expect(next.headers.get('access-control-expose-headers')).toContain('PAYMENT-REQUIRED, PAYMENT-RESPONSE')
    expect(next.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('strict cache: no demand, refusal or receipt is stored, and what varies says so', async () => {
    expect(next.headers.get('vary')).toBe('Accept, PAYMENT-SIGNATURE, X-PAYMENT')
    const own = await openWall()
    expect((await own.buy('/blocks/next', 1)).headers.get('cache-control')).toBe('private, no-store')
    expect((await own.ask('GET /blocks/160,0')).headers.get('cache-control')).toBe('no-store')
  })
})

describe('canagentuse', () => {
  test('price, network and payee are the same in the document and the demand', () => {
    for (const operation of paid) {
      // An area's amount is told with its demand.
      const { amount: _, ...terms } = accept ?? {}
      const told = operation === area ? terms : accept
      expect(operation['x-payment-info']?.protocols).toEqual([{ x402: { version: 2, ...told } }])
    }
  })
})

describe('x402fix and x402-doctor', () => {
  test('HEAD is answered like GET, header and all, without a body', async () => {
    const head = await wall.ask('HEAD /blocks/next')
    expect(head.status).toBe(402)
    expect(head.headers.get('payment-required')).toBe(header)
  })
})

describe('isitagentready and agent-ready', () => {
  test('robots.txt welcomes crawlers of language models by name, with content signals and a sitemap', async () => {
    const robots = await textAt('/robots.txt')
    for (const agent of ['*', 'GPTBot', 'ClaudeBot', 'PerplexityBot', 'Google-Extended', 'CCBot'])
      expect(robots).toContain(`User-agent: ${agent}\n`)
    expect(robots).not.toContain('Disallow')
    expect(robots.match(/^Content-Signal: search=yes, ai-input=yes, ai-train=yes$/gm)).toHaveLength(2)
    expect(robots).toContain('Sitemap: https://wall.test/sitemap.xml')
  })

  test.each(['/.well-known/mcp/server-card.json', '/.well-known/agent-skills/index.json', '/.well-known/api-catalog'])(
    '%s is there',
    async (path) => {
      expect((await wall.ask(`GET ${path}`)).status).toBe(200)
    },
  )

  // Not served, because there is nothing behind them: an A2A card, OAuth metadata, a directory of request-signing keys.
  test.each(['/.well-known/agent-card.json', '/.well-known/oauth-protected-resource'])(
    '%s claims nothing',
    async (path) => {
      expect((await wall.ask(`GET ${path}`)).status).toBe(404)
    },
  )
})

describe('enclave402', () => {
  test('the seller can be vetted: contact, usage, documents and health', async () => {
    expect(await textAt('/.well-known/security.txt')).toContain('Contact: mailto:ops@wall.test')
    expect(demand.extensions?.['bazaar']).toHaveProperty('info.output.example')
    expect(await textAt('/llms.txt')).toContain('spend cap')
    expect(await jsonOf(await wall.ask('GET /api/health'))).toMatchObject({ ok: true, rail: 'armed' })
  })
})
