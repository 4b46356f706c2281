import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { Agents } from '../../../../shared/contract/agent.ts'
import { createWalletAddress } from '../../../support/samples.ts'
import { readJson, openWall, type Wall } from '../../../support/service/wall.ts'

const PAGE =
  '<!doctype html><html><head><title>Pixel Wall</title></head><body><p id="counts"></p><p id="news"></p><main id="stage"></main></body></html>'
const createPage = () => new Response(PAGE, { headers: { 'content-type': 'text/html', vary: 'Accept-Encoding' } })
const findPage = (path: string) => (path === '/' ? createPage : undefined)

const NAME = '"><script>alert(1)</script>'
const MESSAGE = '</head><img src=x onerror="a&b">'

const wall = await openWall({ findViewerFile: findPage })
await wall.buyBlock(
  `/blocks/3,4?name=${encodeURIComponent(NAME)}&message=${encodeURIComponent(MESSAGE)}&framework=eliza`,
  1,
)
await wall.buyBlock('/blocks/5,4', 2)

/** The content of each meta tag in the head, by the property or name of the tag. */
async function readMetaTags(own: Wall, path: string): Promise<Record<string, string>> {
  const tags: Record<string, string> = {}
  const rewriter = new HTMLRewriter().on('head meta', {
    element(meta) {
      tags[meta.getAttribute('property') ?? meta.getAttribute('name') ?? ''] = unescapeText(
        meta.getAttribute('content'),
      )
    },
  })
  await rewriter.transform(await own.sendRequest(`GET ${path}`)).text()
  return tags
}

// The rewriter returns attributes as they stand in the HTML, still escaped.
const unescapeText = (text: string | null) =>
  (text ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')

test('the meta tags of the homepage describe the wall and its card', async () => {
  expect(await readMetaTags(wall, '/')).toEqual({
    'og:type': 'website',
    'og:site_name': 'Pixel Wall',
    'og:title': 'Pixel Wall',
    'og:description': 'A public 1600x900 billboard. Agents buy its 10x10 blocks for 1.00 USD over x402.',
    'og:url': 'https://wall.test/',
    'og:image': 'https://wall.test/card.png',
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': 'The whole wall.',
    'twitter:card': 'summary_large_image',
    contact: 'mailto:ops@wall.test',
  })
})

test('a link to a block has a preview of the block, its owner and its message', async () => {
  expect(await readMetaTags(wall, '/?block=003,4&agent=2')).toMatchObject({
    'og:title': `Block 3,4 of ${NAME} · Pixel Wall`,
    'og:description': MESSAGE,
    'og:url': 'https://wall.test/?block=3,4',
    'og:image': 'https://wall.test/card.png?block=3,4',
    'og:image:alt': 'Block 3,4, enlarged, and its place on the wall.',
  })
})

test('a link to an open block has a preview with its price', async () => {
  const { 'og:title': title, 'og:description': description } = await readMetaTags(wall, '/?block=80,45')
  expect(title).toBe('Block 80,45 is open · Pixel Wall')
  expect(description).toContain('1.00 USDC')
})

const registry = Value.Cast(Agents, await readJson(await wall.sendRequest('GET /api/agents')))
const shown = registry.agents[0]?.wallet ?? ''

test.each(['1', createWalletAddress(1), shown])('a link to the agent %s has a preview of its blocks', async (agent) => {
  expect(await readMetaTags(wall, `/?agent=${encodeURIComponent(agent)}`)).toMatchObject({
    'og:title': `${NAME} · Pixel Wall`,
    'og:description': `Agent 1 of 2, wallet ${shown}, which runs on eliza, has bought one block of the wall.`,
    'og:url': 'https://wall.test/?agent=1',
    'og:image': 'https://wall.test/card.png?agent=1',
  })
})

test.each(['/?block=160,0', '/?block=%zz', '/?block=3,4&block=3,4', '/?agent=3', '/?agent=', '/?agent=__proto__'])(
  'a link to a block or an agent that does not exist has the card of the wall: %s',
  async (path) => {
    expect((await readMetaTags(wall, path))['og:image']).toBe('https://wall.test/card.png')
  },
)

test('untrusted text on the homepage cannot add markup', async () => {
  for (const path of ['/?block=3,4', '/?agent=1']) {
    const html = await (await wall.sendRequest(`GET ${path}`)).text()
    expect(html).not.toMatch(/<script|<img/)
    expect(html.match(/<\/head>/g)).toHaveLength(1)
  }
})

const ROBOTS = [
  ['Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)', '*/*'],
  ['TelegramBot (like TwitterBot)', 'text/html,application/xhtml+xml,*/*;q=0.8'],
  ['WhatsApp/2.23.20.0', 'text/html'],
  ['LinkedInBot/1.0', undefined],
] as const

test.each(ROBOTS)('the link preview robot %s gets the page with its meta tags', async (agent, accept) => {
  const headers = { 'User-Agent': agent, ...(accept === undefined ? {} : { Accept: accept }) }
  const response = await wall.sendRequest('GET /?block=3,4', { headers })
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toContain('og:image')
})

test('a page about a block has its own ETag and the security headers, is compressed, and is revalidated by browsers each time', async () => {
  const path = '/?block=3,4'
  const first = await wall.sendRequest(`GET ${path}`, { headers: { 'Accept-Encoding': 'gzip' } })
  expect([first.headers.get('cache-control'), first.headers.get('content-encoding')]).toEqual([
    'public, max-age=0, s-maxage=2',
    'gzip',
  ])
  expect(first.headers.get('content-security-policy')).toStartWith("default-src 'none'")
  const holding = { headers: { 'If-None-Match': first.headers.get('etag') ?? '' } }
  expect((await wall.sendRequest(`GET ${path}`, holding)).status).toBe(304)
  expect((await wall.sendRequest('GET /', holding)).status).toBe(200)
  const head = await wall.sendRequest(`HEAD ${path}`)
  expect([head.status, head.headers.get('etag')]).toEqual([200, first.headers.get('etag')])
})

test('a client that prefers Markdown gets the guide, even if the URL identifies a block', async () => {
  const response = await wall.sendRequest('GET /?block=3,4', { headers: { Accept: 'text/markdown' } })
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
})

test('the page shows no contact if none is set, or if the contact cannot be turned into a link', async () => {
  for (const contact of [null, 'Ada, room 4'])
    expect((await readMetaTags(await openWall({ findViewerFile: findPage, contact }), '/'))['contact']).toBeUndefined()
})

test('before any script runs, the page shows how many blocks are sold, and the buyer and position of the last sale', async () => {
  const own = await openWall({ findViewerFile: findPage })
  const readBody = async () => (await (await own.sendRequest('GET /')).text()).replace(/^.*<body>/s, '')
  expect(await readBody()).toStartWith(
    '<p id="counts">0 of 14,400 blocks sold, $1 each.</p><p id="news"></p><main id="stage">',
  )
  await own.buyBlock('/blocks/5,6', 1)
  await own.buyBlock(`/blocks/3,4?name=${encodeURIComponent(NAME)}`, 2)
  expect(await readBody()).toStartWith(
    '<p id="counts">2 of 14,400 blocks sold, $1 each.</p><p id="news"><span>Last sale to <bdi>&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;</bdi></span></p><main id="stage" data-sold="3,4,3,3">',
  )
})

test('the page and its ETag stay the same until a block is sold', async () => {
  const own = await openWall({ findViewerFile: findPage })
  const readEtag = async () => (await own.sendRequest('GET /')).headers.get('etag') ?? ''
  const before = await readEtag()
  expect((await own.sendRequest('GET /', { headers: { 'If-None-Match': before } })).status).toBe(304)
  await own.buyBlock('/blocks/3,4', 1)
  expect((await own.sendRequest('GET /', { headers: { 'If-None-Match': before } })).status).toBe(200)
  expect(await readEtag()).not.toBe(before)
})
