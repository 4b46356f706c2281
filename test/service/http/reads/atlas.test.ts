import { expect, test } from 'bun:test'
import { readErrorCode, readJson, openWall } from '../../../support/service/wall.ts'

// Goal: artworks and agents can be read, followed and quoted without a script. Method: the pages are read as text, and
// some names and messages contain markup.

const NAME = '<b>Mallory</b> & "Co"'
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const wall = await openWall()
await wall.buyBlock('/blocks/3,4?name=Ada&framework=eliza&message=Hello%20there&link=https%3A%2F%2Fexample.com%2Fa', 1)
await wall.buyBlock('/blocks/4,4', 1, 2)
await wall.buyBlock(
  `/blocks/9,9?name=${encodeURIComponent(NAME)}&message=${encodeURIComponent('<script>alert(1)</script>')}`,
  2,
  3,
)

const readText = async (path: string) => (await wall.sendRequest(`GET ${path}`)).text()

test('the atlas shows each artwork once, with its picture, title, agent and link, newest first', async () => {
  const html = await readText('/atlas')
  expect(html.match(/<article>/g)).toHaveLength(2)
  expect(html).toContain('src="/wall.png?col=3&amp;row=4&amp;cols=2&amp;rows=1&amp;scale=16"')
  expect(html).toContain('<a href="/?work=3,4">Hello there</a>')
  expect(html).toContain('<a href="/atlas?agent=1"><bdi>Ada</bdi></a> · 2 × 1 blocks')
  expect(html).toContain('<a href="https://example.com/a" rel="noopener nofollow ugc">example.com</a>')
  expect(html.indexOf('/?work=9,9')).toBeLessThan(html.indexOf('/?work=3,4'))
})

test('untrusted text stays text in the atlas, and the page may not run scripts', async () => {
  const response = await wall.sendRequest('GET /atlas')
  const html = await response.text()
  expect(html).not.toMatch(/<script|<b>/)
  expect(html).toContain('&lt;b&gt;Mallory&lt;/b&gt; &amp; &quot;Co&quot;')
  expect(response.headers.get('content-security-policy')).toStartWith("default-src 'none'; style-src 'sha256-")
  expect(await readText('/atlas.atom')).not.toMatch(/<script|<b>/)
})

test('the atlas has a list of all agents, and a page for each agent', async () => {
  const agents = await readText('/atlas?list=agents')
  expect(agents).toContain('<a href="/atlas?agent=1"><bdi>Ada</bdi></a>')
  const ada = await readText('/atlas?agent=1')
  expect(ada.match(/<article>/g)).toHaveLength(1)
  expect(ada).toContain('Agent 1 of 2')
  expect(ada).toContain('href="/atlas.atom?agent=1"')
})

test('many artworks are spread over several pages that link to each other', async () => {
  const large = await openWall()
  for (let at = 0; at < 50; at++) await large.buyBlock(`/blocks/${at * 2},${at % 2}`, 1 + (at % 3), at)
  const [first, second] = [await large.sendRequest('GET /atlas'), await large.sendRequest('GET /atlas?page=2')]
  const [one, two] = [await first.text(), await second.text()]
  expect([one, two].map((html) => html.match(/<article>/g)?.length)).toEqual([48, 2])
  expect(one).toContain('<a href="/atlas?page=2" rel="next">Next</a>')
  expect(two).toContain('<a href="/atlas" rel="prev">Previous</a>')
})

test.each(['/atlas?agent=3', '/atlas?agent=x', '/atlas?page=2', '/atlas?page=0', '/atlas?list=all', '/nowhere'])(
  'a browser gets a 404 with a readable page if the requested page does not exist: %s',
  async (path) => {
    const response = await wall.sendRequest(`GET ${path}`, { headers: { accept } })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('There is nothing here.')
  },
)

test('the Atom feed has each artwork with its author and link, and each agent has a feed of its own', async () => {
  const response = await wall.sendRequest('GET /atlas.atom')
  expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
  const feed = await response.text()
  expect(feed.match(/<entry>/g)).toHaveLength(2)
  expect(feed).toContain('<link href="https://wall.test/?work=3,4"/>')
  expect(feed).toContain('<author><name>Ada</name></author>')
  expect((await readText('/atlas.atom?agent=1')).match(/<entry>/g)).toHaveLength(1)
  expect(await readErrorCode(await wall.sendRequest('GET /atlas.atom?agent=9'))).toBe('not_found')
})

test('the oEmbed response describes how other sites can show an artwork, an agent and the wall', async () => {
  const fetchEmbed = async (url: string, more = '') =>
    readJson(await wall.sendRequest(`GET /oembed?url=${encodeURIComponent(url)}${more}`))
  expect(await fetchEmbed('https://wall.test/?work=4,4')).toMatchObject({
    version: '1.0',
    type: 'rich',
    title: 'Hello there by Ada · Pixel Wall',
    thumbnail_url: 'https://wall.test/card.png?work=3,4',
    html: '<iframe src="https://wall.test/?work=3,4&amp;embed=1" width="800" height="450" title="Hello there by Ada · Pixel Wall"></iframe>',
  })
  expect(await fetchEmbed('https://wall.test/', '&maxwidth=400')).toMatchObject({ width: 400, height: 225 })
  expect(await fetchEmbed('https://wall.test/?agent=2')).toMatchObject({ title: `${NAME} · Pixel Wall` })
  for (const path of ['/oembed', '/oembed?url=https%3A%2F%2Fwall.test.example%2F'])
    expect(await readErrorCode(await wall.sendRequest(`GET ${path}`))).toBe('not_found')
  expect(await readErrorCode(await wall.sendRequest('GET /oembed?url=https%3A%2F%2Fwall.test%2F&format=xml'))).toBe(
    'invalid_option',
  )
})

test('a browser that opens a block is redirected to that block on the wall, or gets an error if the block does not exist', async () => {
  const sold = await wall.sendRequest('GET /blocks/3,4', { headers: { accept }, redirect: 'manual' })
  expect([sold.status, sold.headers.get('location')]).toEqual([303, '/?block=3,4'])
  const wrong = await wall.sendRequest('GET /blocks/200,4', { headers: { accept } })
  expect(wrong.status).toBe(400)
  expect(await wrong.text()).toContain('This is not a block of the wall.')
  expect((await wall.sendRequest('GET /blocks/3,4')).status).toBe(200)
})

test('each artwork has its own card, and a request for the card of both an artwork and an agent is rejected', async () => {
  const card = await wall.sendRequest('GET /card.png?work=3,4')
  expect(card.headers.get('content-type')).toBe('image/png')
  expect(await readErrorCode(await wall.sendRequest('GET /card.png?work=3,4&agent=1'))).toBe('invalid_option')
})
