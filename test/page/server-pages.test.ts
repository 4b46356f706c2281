import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { APPEARANCES, findViolations } from '../support/page/axe.ts'
import { openTestBrowser } from '../support/page/test-page.ts'

// Goal: everyone can also use the HTML pages that the service itself renders. Method: a real wall serves the pages to a
// browser. axe checks each page in each theme and size, and nothing is wider than a window of 1,280 pixels at 400 %
// zoom.

const browser = await openTestBrowser()
const zoomed = { viewport: { width: 320, height: 180 } }

/** Each path with its status: pages of the atlas, demands, errors, and a sold-out wall. */
const PAGES = [
  ['/atlas', 200],
  ['/atlas?page=2', 200],
  ['/atlas?list=agents', 200],
  ['/atlas?agent=1', 200],
  ['/blocks/5,5', 402],
  ['/blocks/next', 402],
  ['/blocks/200,1', 400],
  ['/atlas?agent=99', 404],
  ['/sold-out/blocks/next', 410],
] as const

describe.skipIf('reason' in browser)('pages without scripts, in Chromium', () => {
  const script = new URL('../support/service/serve-pages.ts', import.meta.url).pathname
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

  const openAt = async (path: string, options: BrowserContextOptions): Promise<Page> => {
    if ('reason' in browser) throw new Error(browser.reason)
    const page = await (await browser.newContext(options)).newPage()
    const response = await page.goto(new URL(path, origin).href)
    expect(response?.status()).toBe(PAGES.find(([name]) => name === path)?.[1] ?? 0)
    return page
  }

  test.each(PAGES)('axe reports no violation on %s, and at 400 %% zoom nothing overflows', async (path) => {
    for (const options of [...APPEARANCES.map(([, appearance]) => appearance), zoomed]) {
      const page = await openAt(path, options)
      if (options !== zoomed) expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      await page.context().close()
    }
  })
})
