import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { readFilesIn, loadViewerFiles } from '../../../../server/http/answer/viewer-files.ts'
import { createScratchFolder } from '../../../support/scratch-folder.ts'
import { OFFER, openWall } from '../../../support/service/wall.ts'
import { waitFor } from '../../../support/wait.ts'

const SCRIPT = 'console.log("a script long enough to be compressed")'
const scratch = createScratchFolder()
const folder = join(scratch, 'viewer')
await Bun.write(
  join(folder, 'index.html'),
  '<!doctype html><head><title>Pixel Wall</title><style>p{}</style><script>f()</script></head>',
)
await Bun.write(join(folder, 'paint.html'), '<!doctype html><head><title>Paint</title></head>')
await Bun.write(join(folder, 'assets/index-a1b2.js'), SCRIPT)
await Bun.write(join(scratch, 'outside.txt'), 'secret')

const wall = await openWall({ findViewerFile: await loadViewerFiles(await readFilesIn(folder)) })

test('the page is served at the root, browsers revalidate it each time, and proxies may cache it for two seconds', async () => {
  for (const path of ['/', '/index.html', '/?x=1']) {
    const response = await wall.sendRequest(`GET ${path}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('text/html')
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
    expect(await response.text()).toContain('Pixel Wall')
  }
  const etag = (await wall.sendRequest('GET /')).headers.get('etag') ?? ''
  expect((await wall.sendRequest('GET /', { headers: { 'If-None-Match': etag } })).status).toBe(304)
})

test('the page may run and load only files of this service, and the scripts and styles that are in its built HTML', async () => {
  const etag = (await wall.sendRequest('GET /')).headers.get('etag') ?? ''
  for (const [path, headers] of [
    ['/', {}],
    ['/index.html', {}],
    ['/', { 'If-None-Match': etag }],
  ] as const) {
    const response = await wall.sendRequest(`GET ${path}`, { headers })
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self' ${hashText('f()')}; style-src 'self' ${hashText('p{}')}; img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'`,
    )
  }
})

const hashText = (text: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`

test('every page disables unused browser features, and requires https for later visits if the wall has an https address', async () => {
  const browser = { headers: { accept: 'text/html' } }
  for (const path of ['/', '/index.html', '/paint', '/blocks/1,1', '/blocks/next']) {
    const { headers } = await wall.sendRequest(`GET ${path}`, browser)
    expect(headers.get('content-type')).toStartWith('text/html')
    expect(headers.get('permissions-policy')).toContain('camera=(), display-capture=(), geolocation=()')
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
  }
  const plain = await openWall({
    findViewerFile: await loadViewerFiles(await readFilesIn(folder)),
    offer: { ...OFFER, baseUrl: 'http://wall.test' },
  })
  for (const path of ['/', '/paint', '/blocks/1,1'])
    expect((await plain.sendRequest(`GET ${path}`, browser)).headers.has('strict-transport-security')).toBe(false)
})

test('a page follows the shared live stream only if the operator has set up a cache that shares it', async () => {
  const words = { title: 'Pixel Wall', price: '1.00', sharesStream: true }
  const shared = await openWall({ findViewerFile: await loadViewerFiles(await readFilesIn(folder), words) })
  for (const path of ['/', '/paint']) {
    const fetchPage = async ({ sendRequest: ask }: typeof wall) =>
      await (await ask(`GET ${path}`, { headers: { accept: 'text/html' } })).text()
    expect(await fetchPage(shared)).toContain('<meta name="live" content="/api/live/shared" />')
    expect(await fetchPage(wall)).not.toContain('/api/live')
  }
})

test('the page for painting has its own address, can start workers, and cannot be framed', async () => {
  for (const path of ['/paint', '/paint.html', '/paint?at=80,45']) {
    const response = await wall.sendRequest(`GET ${path}`)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(await response.text()).toContain('Paint')
  }
})

test('a file whose name Vite derived from its content may be cached permanently', async () => {
  const response = await wall.sendRequest('GET /assets/index-a1b2.js', { headers: { 'Accept-Encoding': 'gzip' } })
  expect(response.headers.get('content-type')).toStartWith('text/javascript')
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(response.headers.get('content-encoding')).toBe('gzip')
})

test('a client that prefers Brotli gets a file as Brotli once it is compressed, and as gzip until then', async () => {
  const preferences = { 'Accept-Encoding': 'gzip, br' }
  const send = () => wall.sendRequest('GET /assets/index-a1b2.js', { headers: preferences })
  expect((await send()).headers.get('content-encoding')).toBe('gzip')
  const response = await waitFor(async () => {
    const one = await send()
    return one.headers.get('content-encoding') === 'br' ? one : undefined
  })
  expect(response.headers.get('vary')).toBe('Accept-Encoding')
  expect(response.headers.get('content-type')).toStartWith('text/javascript')
  expect(brotliDecompressSync(await response.bytes()).toString()).toBe(SCRIPT)
})

test('a request for a path that is not a file of the viewer gets a 404', async () => {
  for (const path of [
    '/../outside.txt',
    '/%2e%2e/outside.txt',
    '/..%2foutside.txt',
    '/assets/',
    '/assets',
    '//index.html',
  ])
    expect((await wall.sendRequest(`GET ${path}`)).status).toBe(404)
})

test('a PUT to a file of the viewer gets a 405', async () => {
  const response = await wall.sendRequest('PUT /index.html')
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
})
