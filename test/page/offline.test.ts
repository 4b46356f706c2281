import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createGalleryWall } from '../support/page/gallery.ts'
import { startSampleServer, type SampleServer } from '../support/page/sample-server.ts'
import { requireBlockAt } from '../support/page/sample-wall.ts'
import { openTestBrowser, goToFollowingPage, openTestPage } from '../support/page/test-page.ts'

// Goal: the page can be installed, and shows the last wall without a connection. Method: each test has its own server,
// which can be stopped once the page is stored.

const browser = await openTestBrowser()

/** Waits until the page and its wall are stored for offline use. */
const waitUntilCached = (page: Page) =>
  page.evaluate(async () => {
    const { resolve, promise } = Promise.withResolvers<void>()
    const checkCaches = async () => {
      const isWhole = (await caches.match('/')) !== undefined && localStorage.getItem('kept') === '1'
      if (isWhole && navigator.serviceWorker.controller) resolve()
      else requestAnimationFrame(() => void checkCaches())
    }
    void checkCaches()
    await promise
  })

/** The size in bytes of `count` events, as the live stream sends them. */
async function countEventBytes({ url }: SampleServer, after: number, count: number): Promise<number> {
  const { body } = await fetch(new URL(`/api/live?after=${after}`, url))
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.split('event: ').length > count && text.endsWith('\n\n')) break
  }
  return text.length
}

describe.skipIf('reason' in browser)('without a connection, in Chromium', () => {
  setDefaultTimeout(90_000)
  let server: SampleServer
  let page: Page
  const troubles: string[] = []

  beforeEach(async () => {
    server = await startSampleServer()
    page = await openTestPage(browser, troubles, {})
  })

  afterEach(async () => {
    await page.context().close()
    await server.stop()
    troubles.length = 0
  })

  afterAll(async () => {
    if (!('reason' in browser)) await browser.close()
  })

  const listReads = () => server.asked.filter((path) => /^.api/.test(path) && !path.startsWith('/api/live'))
  const ONCE = ['/api/canvas.bin', '/api/blocks']

  test('without a connection, the last known wall is shown with a note that it is not current', async () => {
    const failures: string[] = []
    page.on('pageerror', (error) => failures.push(error.message))
    await page.goto(server.url.href)
    await waitUntilCached(page)
    expect(listReads()).toEqual(ONCE)
    expect(server.asked.filter((path) => path === '/')).toEqual(['/'])
    await server.stop()
    await page.goto(`${server.url.href}?work=80,45`)
    await page.getByText('4 of 14,400 blocks sold').waitFor()
    await page.locator('#card .title').getByText('Hello from a machine.').waitFor()
    await page.locator('#stale').getByText('Out of date').waitFor({ timeout: 30_000 })
    expect(failures).toEqual([])
  })

  test('a visit to a wall with ten repaints per second transfers at most 1.15 times as many bytes as a visit to a quiet wall', async () => {
    const wall = createGalleryWall(8200)
    server.showCanvas(wall)
    await goToFollowingPage(page, server.url.href)
    const quiet = server.asked.filter((path) => !path.startsWith('/api/live'))
    // Makes the repaints of ten seconds, a hundred in all, while the page is being stored for offline use.
    const repainted = wall.blocks.slice(0, 100)
    for (const { i, px = '' } of repainted) server.repaintBlock(requireBlockAt(i % 160, Math.floor(i / 160)), px)
    await waitUntilCached(page)
    expect(listReads()).toEqual(ONCE)
    const sizes = await Promise.all(
      [...new Set(quiet)].map(
        async (path) => Bun.gzipSync(await (await fetch(new URL(path, server.url))).bytes()).length,
      ),
    )
    const visit = sizes.reduce((sum, size) => sum + size, 0)
    const events = await countEventBytes(server, wall.blocks.length, 100)
    console.info(`gzip bytes of a quiet visit: ${visit}, of 100 repaints as they are sent: ${events}`)
    expect((visit + events) / visit).toBeLessThanOrEqual(1.15)
  })

  test('the page has everything that a browser needs to install it', async () => {
    await page.goto(server.url.href)
    const session = await page.context().newCDPSession(page)
    const { errors, data = '' } = await session.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const { icons }: { icons: { src: string }[] } = JSON.parse(data)
    for (const { src } of icons.filter((icon) => icon.src.endsWith('.png')))
      expect((await fetch(new URL(src, server.url))).headers.get('content-type')).toBe('image/png')
  })
})
