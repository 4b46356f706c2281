import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { violationsOf } from './stage/axe.ts'
import { browserForTests } from './stage/visit.ts'

// Goal: what the service writes for people itself is for everyone, too. Method: a wall of its own answers a browser;
// axe looks at each page in each theme and size, and nothing is wider than a window of 1,280 pixels at 400 % zoom.

const browser = await browserForTests()
const desktop = { viewport: { width: 1280, height: 720 } }
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const zoomed = { viewport: { width: 320, height: 180 } }

const PAGES = [
  '/atlas',
  '/atlas?list=agents',
  '/atlas?agent=1',
  '/blocks/5,5',
  '/blocks/next',
  '/blocks/200,1',
] as const

describe.skipIf('reason' in browser)('pages without scripts, in Chromium', () => {
  const script = new URL('../http/serve-pages.ts', import.meta.url).pathname
  const wall = Bun.spawn([process.execPath, script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  let origin = ''
  setDefaultTimeout(60_000)

  beforeAll(async () => {
    const { value } = await wall.stdout.getReader().read()
    origin = new TextDecoder().decode(value).trim()
  })

  afterAll(async () => {
    await wall.stdin.end()
    await wall.exited
    if (!('reason' in browser)) await browser.close()
  })

  const opened = async (path: string, options: BrowserContextOptions): Promise<Page> => {
    if ('reason' in browser) throw new Error(browser.reason)
    const page = await (await browser.newContext(options)).newPage()
    await page.goto(new URL(path, origin).href)
    return page
  }

  test.each(PAGES)('axe finds nothing to complain about on %s', async (path) => {
    for (const colorScheme of ['dark', 'light'] as const)
      for (const size of [desktop, phone]) {
        const page = await opened(path, { ...size, colorScheme })
        expect(await violationsOf(page)).toEqual([])
        await page.context().close()
      }
  })

  test.each(PAGES)('at 400 %% zoom %s is read without scrolling aside', async (path) => {
    const page = await opened(path, zoomed)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(zoomed.viewport.width)
    await page.context().close()
  })
})
