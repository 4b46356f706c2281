/** `bun test/support/page/screenshots.ts`: takes the README's pictures again, from the built page. */

import { mkdir } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { CanvasBlock } from '../../../shared/contract/canvas.ts'
import { COLS, formatCoord, type BlockIndex } from '../../../shared/wall.ts'
import { openBrowser } from './browser.ts'
import { createGalleryWall, SOLD_IN_DEMO } from './gallery.ts'
import { startSampleServer } from './sample-server.ts'
import { requireBlockAt } from './sample-wall.ts'

const FOLDER = new URL('../../../docs/', import.meta.url).pathname
const QUALITY = 70

// The page's clock stops this long after the last sale, so the pictures are the same whenever they are taken.
const SINCE_LAST_SALE_MS = 240_000

// The host in the address bar; no request is sent to it.
const ORIGIN = 'https://wall.example'

const wall = createGalleryWall(SOLD_IN_DEMO)
const shown = findBlockWithMessage(86, 42)
/** The query of a page that shows the artwork at the block `shown`, with the artwork's details open. */
const workAddress = `?work=${formatCoord(shown)}`

const desktop = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 390, height: 760 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }

type Shot = { readonly name: string; readonly address: string; readonly options: BrowserContextOptions }

const SHOTS: readonly Shot[] = [
  { name: 'wall', address: '', options: { ...desktop, colorScheme: 'light' } },
  { name: 'deed', address: workAddress, options: { ...desktop, colorScheme: 'dark' } },
  { name: 'phone', address: workAddress, options: { ...phone, colorScheme: 'dark' } },
]

const browser = await openBrowser()
if ('reason' in browser) throw new Error(`Chromium does not start on this machine: ${browser.reason}`)
const server = await startSampleServer()
server.showCanvas(wall)
await mkdir(FOLDER, { recursive: true })
try {
  for (const shot of SHOTS) {
    const bytes = await takeScreenshot(browser, server.url, shot)
    await Bun.write(`${FOLDER}${shot.name}.webp`, bytes)
    console.log(`docs/${shot.name}.webp: ${(bytes.length / 1000).toFixed(0)} kB`)
  }
} finally {
  await browser.close()
  await server.stop()
}

async function takeScreenshot(opened: Browser, url: URL, { address, options }: Shot): Promise<Uint8Array> {
  const context = await opened.newContext({ reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC', ...options })
  const page = await context.newPage()
  await page.clock.setFixedTime((wall.stats.lastClaimedAt ?? 0) + SINCE_LAST_SALE_MS)
  await page.route(`${ORIGIN}/**`, async (route) => {
    const asked = route.request().url()
    const from = asked.replace(`${ORIGIN}/`, url.href)
    // The real stream never ends, so `route.fetch` would wait for it forever.
    if (new URL(asked).pathname === '/api/live')
      await route.fulfill({ contentType: 'text/event-stream', body: 'retry: 60000\n\n' })
    else await route.fulfill({ response: await route.fetch({ url: from }) })
  })
  await page.goto(`${ORIGIN}/${address}`)
  await page.waitForFunction(
    () => document.querySelector('main')?.ariaBusy === 'false' && !document.getElementById('counts')?.matches(':empty'),
  )
  if (address !== '') await page.locator('#card .payment').getByText('Paid on Base').waitFor({ state: 'attached' })
  await waitUntilSettled(page)
  const png = await page.screenshot()
  await context.close()
  return await new Bun.Image(png).webp({ quality: QUALITY }).bytes()
}

/** Resolves after two animation frames, when pending changes are drawn. */
async function waitUntilSettled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}

/** The block with a message that is nearest to a position; if no block has a message, the block at the position. */
function findBlockWithMessage(nearCol: number, nearRow: number): BlockIndex {
  const measureDistance = ({ i }: CanvasBlock) => Math.hypot((i % COLS) - nearCol, Math.floor(i / COLS) - nearRow)
  const [nearest] = wall.blocks
    .filter(({ m }) => m !== undefined)
    .toSorted((a, b) => measureDistance(a) - measureDistance(b))
  return nearest === undefined
    ? requireBlockAt(nearCol, nearRow)
    : requireBlockAt(nearest.i % COLS, Math.floor(nearest.i / COLS))
}
