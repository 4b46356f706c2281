import { expect, test } from 'bun:test'
import { renderDocuments } from '../../../server/discovery/documents.ts'
import { PATHS } from '../../../server/discovery/links.ts'
import type { Site } from '../../../server/discovery/site.ts'
import { ADVICE, IF_YOURS, REPEAT } from '../../../server/domain/advice.ts'
import {
  createFacilitatorFailure,
  createSettlementUnknownFailure,
  createUnavailableFailure,
} from '../../../server/domain/purchase/refusals.ts'
import { findTool, TOOLS } from '../../../server/mcp/registry.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'
import { OPERATIONS } from '../../support/service/operations.ts'
import { BASE_URL, readErrorCode, readJson, OFFER, openWall } from '../../support/service/wall.ts'

const site: Site = { offer: OFFER, contact: null, tools: TOOLS, operations: OPERATIONS }

const PAGE = '<!doctype html><html><head><title>Pixel Wall</title></head><body></body></html>'

const createPage = () => new Response(PAGE, { headers: { 'content-type': 'text/html', vary: 'Accept-Encoding' } })

// The only built page that this wall serves is the page for painting.
const wall = await openWall({ findViewerFile: (path) => (path === PATHS.paint ? createPage : undefined) })

const paths = ['/', '/openapi.json', '/.well-known/security.txt', ...renderDocuments(site).map(({ path }) => path)]

test.each(paths)(
  '%s may be cached for five minutes, is revalidated by its ETag, and supports HEAD but not POST',
  async (path) => {
    const response = await wall.sendRequest(`GET ${path}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const etag = response.headers.get('etag') ?? ''
    expect(etag).not.toBe('')
    expect((await wall.sendRequest(`GET ${path}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const head = await wall.sendRequest(`HEAD ${path}`)
    expect([head.status, head.headers.get('content-type')]).toEqual([200, response.headers.get('content-type')])
    expect((await wall.sendRequest(`POST ${path}`)).status).toBe(405)
  },
)

test('proofs of ownership are in /.well-known/x402 and in the OpenAPI document, where catalogues look for them', async () => {
  const ownershipProofs = [`0x${'1b'.repeat(65)}`]
  const proven = await openWall({ offer: { ...OFFER, ownershipProofs } })
  expect(await readJson(await proven.sendRequest('GET /.well-known/x402'))).toMatchObject({ ownershipProofs })
  expect(await readJson(await proven.sendRequest('GET /openapi.json'))).toMatchObject({
    'x-discovery': { ownershipProofs },
  })
})

const types: ReadonlyArray<readonly [path: string, type: string]> = [
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/llms-full.txt', 'text/plain; charset=utf-8'],
  ['/skill.md', 'text/markdown; charset=utf-8'],
  ['/openapi.json', 'application/json'],
  ['/.well-known/x402', 'application/json'],
  ['/.well-known/api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
  ['/mcp/server-card', 'application/mcp-server-card+json'],
  ['/sitemap.xml', 'application/xml'],
  ['/favicon.svg', 'image/svg+xml'],
  ['/favicon.ico', 'image/x-icon'],
]

test.each(types)('%s has the type %s', async (path, type) => {
  expect((await wall.sendRequest(`GET ${path}`)).headers.get('content-type')).toBe(type)
})

const twins: ReadonlyArray<readonly [string, string]> = [
  ['/.well-known/mcp.json', '/.well-known/mcp/server-card.json'],
  ['/.well-known/mcp.json', '/mcp/server-card'],
]

test.each(twins)('%s and %s have the same content', async (one, other) => {
  expect(await (await wall.sendRequest(`GET ${one}`)).text()).toBe(
    await (await wall.sendRequest(`GET ${other}`)).text(),
  )
})

const manuals = ['/llms.txt', '/llms-full.txt', '/skill.md', '/openapi.json', '/.well-known/x402']

test.each(manuals)(
  'for each response without a receipt, %s gives the same advice as the response itself',
  async (path) => {
    const text = await (await wall.sendRequest(`GET ${path}`)).text()
    for (const advice of [ADVICE[402], ADVICE[502], REPEAT, IF_YOURS]) expect(text).toContain(advice)
    expect(createSettlementUnknownFailure({ target: 'next', block: parseBlockOrThrow('1,1') }).message).toContain(
      REPEAT,
    )
    expect(createFacilitatorFailure('Gone').message).toContain(ADVICE[502])
    expect(createUnavailableFailure('next', 'reserved').message).toContain(IF_YOURS)
    expect(findTool('buy_block')?.description).toContain(REPEAT)
  },
)

test('no address of the wall that a document contains responds with 404', async () => {
  const named = new Set<string>()
  for (const path of paths.filter((each) => !each.includes('favicon'))) {
    const text = await (await wall.sendRequest(`GET ${path}`)).text()
    for (const [, found = ''] of text.matchAll(/https:\/\/wall\.test(\/[^\s"'`<>()\]?\\]*)/g))
      if (!found.includes('{')) named.add(found.replace(/[.,:;]+$/, ''))
  }
  expect(named.size).toBeGreaterThan(10)
  for (const path of named) expect([path, (await wall.sendRequest(`HEAD ${path}`)).status]).not.toEqual([path, 404])
})

const preferences: ReadonlyArray<readonly [accept: string, type: string]> = [
  ['text/markdown', 'text/markdown; charset=utf-8'],
  ['text/markdown, text/html;q=0.9', 'text/markdown; charset=utf-8'],
  ['text/html, text/markdown', 'text/markdown; charset=utf-8'],
  ['text/html, text/markdown;q=0.5', 'text/html; charset=utf-8'],
  ['text/markdown;q=0', 'text/html; charset=utf-8'],
  ['text/html', 'text/html; charset=utf-8'],
  ['*/*', 'text/html; charset=utf-8'],
  ['', 'text/html; charset=utf-8'],
]

test.each(preferences)('the homepage for the Accept header %p has the type %s', async (accept, type) => {
  const built = await openWall({ findViewerFile: (path) => (path === '/' ? createPage : undefined) })
  const { headers } = await built.sendRequest('GET /', { headers: { accept } })
  expect(headers.get('content-type')).toBe(type)
  expect(headers.get('vary')).toBe('Accept-Encoding, Accept')
  expect(headers.get('link')).toContain('</openapi.json>; rel="service-desc"')
})

test('the homepage links to its picture and its documents at the wall’s own address', async () => {
  const built = await openWall({ findViewerFile: (path) => (path === '/' ? createPage : undefined) })
  const html = await (await built.sendRequest('GET /')).text()
  expect(html).toStartWith('<!doctype html><html><head><title>Pixel Wall</title><link rel="canonical"')
  const [, image = ''] = html.match(/property="og:image" content="([^"]+)"/) ?? []
  expect(image).toBe('https://wall.test/card.png')
  expect((await wall.sendRequest(`GET ${new URL(image).pathname}`)).headers.get('content-type')).toBe('image/png')
  expect(html).toContain('<link rel="alternate" href="https://wall.test/skill.md" type="text/markdown">')
})

test('every address in the Link header of the homepage exists', async () => {
  const link = (await wall.sendRequest('GET /')).headers.get('link') ?? ''
  const named = [...link.matchAll(/<([^>]+)>; rel="([\w-]+)"; type="[\w/+-]+"/g)]
  expect(named.map(([, , rel]) => rel)).toEqual([
    'service-desc',
    'service-doc',
    'describedby',
    'alternate',
    'api-catalog',
    'status',
    'sitemap',
  ])
  for (const [, path] of named) expect((await wall.sendRequest(`HEAD ${path}`)).status).toBe(200)
})

const contacts: ReadonlyArray<readonly [contact: string, line: string]> = [
  ['ops@wall.test', 'Contact: mailto:ops@wall.test'],
  ['mailto:ops@wall.test', 'Contact: mailto:ops@wall.test'],
  ['https://wall.test/contact', 'Contact: https://wall.test/contact'],
]

test.each(contacts)(
  'security.txt contains the contact %s, and the date when the file expires',
  async (contact, line) => {
    const asked = await (await openWall({ contact })).sendRequest('GET /.well-known/security.txt')
    const lines = (await asked.text()).split('\n')
    expect(lines[0]).toBe(line)
    expect(lines[1]).toBe('Expires: 2027-04-15T00:00:00.000Z')
  },
)

test.each([null, '', 'Ada, room 4', 'http://insecure.test/'])(
  'a wall with the contact %p has no security.txt',
  async (contact) => {
    const response = await (await openWall({ contact })).sendRequest('GET /.well-known/security.txt')
    expect(response.status).toBe(404)
    expect(await readErrorCode(response)).toBe('not_found')
  },
)

test('the digest of the skill in the index of skills matches the served file', async () => {
  const index = await readJson(await wall.sendRequest('GET /.well-known/agent-skills/index.json'))
  const [entry] = index['skills'] as [{ url: string; digest: string }]
  const bytes = await (await wall.sendRequest(`GET ${new URL(entry.url, BASE_URL).pathname}`)).bytes()
  expect(entry.digest).toBe(`sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`)
})

test('a demand for payment, as JSON or as a page, links to the documents, and its PAYMENT-REQUIRED header is shorter than 3,500 characters', async () => {
  for (const accept of ['application/json', 'text/html']) {
    const { headers } = await wall.sendRequest('GET /blocks/0,0', { headers: { accept } })
    expect(headers.get('link')).toBe(
      '</openapi.json>; rel="service-desc"; type="application/json", </llms.txt>; rel="service-doc"; type="text/plain"',
    )
    expect(headers.get('x-payment-protocol')).toBe('x402')
    expect(headers.get('payment-required')?.length).toBeLessThan(3500)
  }
})

test('the file /favicon.ico, for old browsers, contains one bitmap of 32 by 32 pixels', async () => {
  const icon = Buffer.from(await (await wall.sendRequest('GET /favicon.ico')).bytes())
  expect(icon.subarray(0, 6)).toEqual(Buffer.from([0, 0, 1, 0, 1, 0]))
  expect([icon[6], icon[7], icon.readUInt16LE(12)]).toEqual([32, 32, 32])
  expect(icon.readUInt32LE(14) + icon.readUInt32LE(18)).toBe(icon.length)
  // The middle of the icon is its green patch. The rows are stored from the bottom up, and the first byte of each pixel
  // is blue.
  expect(icon.subarray(62 + (15 * 32 + 16) * 4).subarray(0, 4)).toEqual(Buffer.from([0x87, 0xff, 0x87, 0xff]))
})

test('the documents of a wall do not contain the address of another wall', async () => {
  const elsewhere = { ...OFFER, baseUrl: 'http://[::1]:8402' }
  const texts = renderDocuments({ ...site, offer: elsewhere })
    .map(({ body }) => body())
    .filter((text) => typeof text === 'string')
  expect(texts.filter((text) => text.includes('wall.test'))).toEqual([])
})
