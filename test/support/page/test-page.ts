/** Opens the built page with the test wall in a real Chromium; any error that the page reports fails the test. */

import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test'
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core'
import { scaleLimit } from '../machine.ts'
import { reportSkipped } from '../skipped.ts'
import { openBrowser, type NoBrowser } from './browser.ts'
import { countDraws, waitUntilReady } from './driver.ts'
import { startSampleServer, type SampleServer } from './sample-server.ts'
import { canvas } from './sample-wall.ts'

export type TestPages = {
  getServer(): SampleServer
  /** A new page that has not opened an address yet. */
  newPage(options?: BrowserContextOptions): Promise<Page>
  /** Opens the page at an address, by default with the whole wall; resolves once it is complete and drawn. */
  openPage(address?: string, options?: BrowserContextOptions): Promise<Page>
  /** Errors the page reported; a test removes those that it expects. */
  readonly troubles: string[]
}

/** A browser, or why this machine has none. */
export async function openTestBrowser(): Promise<Browser | NoBrowser> {
  const browser = await openBrowser()
  if ('reason' in browser) {
    console.warn(browser.reason)
    const cause = /process did exit: [^>]+/.exec(browser.reason)?.[0] ?? browser.reason.split('\n')[0]
    reportSkipped(`a Chromium that starts (${cause})`, false)
  }
  return browser
}

/** A new page that has not opened an address yet; the errors it reports are added to `troubles`. */
export async function openTestPage(
  browser: Browser | NoBrowser,
  troubles: string[],
  options: BrowserContextOptions,
): Promise<Page> {
  if ('reason' in browser) throw new Error(browser.reason)
  const context = await browser.newContext({ colorScheme: 'dark', reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
  page.setDefaultTimeout(scaleLimit(15_000))
  await page.addInitScript(countDraws)
  return page
}

/** Opens an address; resolves once the page follows the wall's live stream. */
export async function goToFollowingPage(page: Page, address: string): Promise<Response | null> {
  const live = page.waitForResponse((response) => response.url().includes('/api/live?after='))
  const opened = await page.goto(address)
  await live
  return opened
}

/** Sets up the tests of the `describe` block that calls it, and cleans up after them. */
export function setUpTestPages(browser: Browser | NoBrowser, viewport: { width: number; height: number }): TestPages {
  let started: SampleServer | undefined
  const troubles: string[] = []
  setDefaultTimeout(60_000)

  const getServer = () => {
    if (started === undefined) throw new Error('the sample server is only available while tests run')
    return started
  }

  beforeAll(async () => {
    started = await startSampleServer()
  })

  afterEach(async () => {
    if ('reason' in browser) return
    for (const context of browser.contexts()) await context.close()
    getServer().setStatus(200)
    getServer().shareStream(false)
    getServer().showCanvas(canvas)
    expect(troubles.splice(0)).toEqual([])
  })

  afterAll(async () => {
    await started?.stop()
    if (!('reason' in browser)) await browser.close()
  })

  const newPage = (options: BrowserContextOptions = {}) => openTestPage(browser, troubles, { viewport, ...options })

  async function openPage(address = '#all', options?: BrowserContextOptions): Promise<Page> {
    const page = await newPage(options)
    await page.goto(getServer().url.href + address)
    await waitUntilReady(page)
    await page.waitForFunction(() => Reflect.get(window, 'draws') > 0 || document.body.dataset['drawn'] !== undefined)
    return page
  }

  return { getServer, newPage, openPage, troubles }
}
