import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { waitUntilReady } from '../support/page/driver.ts'
import { requireBlockAt, canvas, nastyBlock, openBlock, rainbowBlock } from '../support/page/sample-wall.ts'
import { goToFollowingPage, openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: a returning visitor sees the wall of the last visit, then the changes since that visit, and can tour them.
// Method: a first visit lasts until the browser has stored the wall; then the wall changes, and the same browser opens
// the page again.

const browser = await openTestBrowser()
const CAROL = { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null }
const px = new Uint8Array(100).fill(180).toBase64()
const NEWS = '2 blocks by 2 agents since '

describe.skipIf('reason' in browser)('a returning visit, in Chromium', () => {
  const { getServer, newPage, openPage, troubles } = setUpTestPages(browser, { width: 960, height: 600 })

  const waitUntilKept = (page: Page) => page.waitForFunction(() => localStorage.getItem('kept') === '1')

  /** Opens a page, waits until its wall is stored, and then clears the requests that the server recorded. */
  const visitOnce = async (options: Parameters<typeof newPage>[0] = {}) => {
    const page = await newPage(options)
    await page.goto(getServer().url.href)
    await waitUntilKept(page)
    getServer().asked.length = 0
    return page
  }
  const listReads = () => getServer().asked.filter((path) => /^.api/.test(path) && !path.startsWith('/api/live'))

  const sellAndRepaint = () => {
    getServer().sellBlock(openBlock, CAROL, px, Date.now(), { m: 'First block of Carol', l: 'https://carol.example/' })
    getServer().repaintBlock(nastyBlock, px)
  }
  const returnToWall = async (page: Page, address = '') => {
    await page.goto(getServer().url.href + address)
    await waitUntilReady(page)
  }

  test('a returning visitor sees the stored wall before the service responds, and then the changes', async () => {
    const page = await visitOnce()
    getServer().sellBlock(openBlock, CAROL, px)
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/api/**', async (route) => (await held, await route.continue()))
    await returnToWall(page)
    expect(await page.textContent('#counts')).toBe('4 of 14,400 blocks sold, $1 each.')
    await page.waitForFunction(() => Reflect.get(window, 'draws') > 0)
    letGo()
    await page.getByText('5 of 14,400 blocks sold').waitFor()
    expect(listReads()).toEqual(['/api/tail', '/api/feed?after=3&limit=1'])
  })

  test('a returning visitor sees the view of the last visit before any script arrives, unless a link or another window size requires a different view', async () => {
    // A service worker would serve the scripts that the test holds back below.
    const page = await visitOnce({ serviceWorkers: 'block' })
    await page.waitForFunction(() => localStorage.getItem('view') !== null)
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => (await held, await route.continue()))
    const lastView = page.locator('#last-view')
    const openHeldPage = async (address: string) => {
      await page.goto(getServer().url.href + address, { waitUntil: 'commit' })
      await page.locator('#tools').waitFor()
    }
    await openHeldPage('?block=100,20')
    expect(await lastView.isVisible()).toBe(false)
    await page.setViewportSize({ width: 900, height: 600 })
    await openHeldPage('')
    expect(await lastView.isVisible()).toBe(false)
    await page.setViewportSize({ width: 960, height: 600 })
    await openHeldPage('')
    await lastView.waitFor()
    const hasRed = await page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('#last-view')
      const { data = [] } = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {}
      for (let at = 0; at < data.length; at += 4)
        if ((data[at] ?? 0) > 200 && (data[at + 1] ?? 255) < 80 && (data[at + 2] ?? 255) < 80) return true
      return false
    })
    expect(hasRed).toBe(true)
    letGo()
    await lastView.waitFor({ state: 'detached' })
    await waitUntilReady(page)
  })

  test('on a later visit, the page reads the history if it missed 150 changes, but the whole wall if it missed more than a thousand', async () => {
    const page = await visitOnce()
    for (let n = 0; n < 150; n++) getServer().repaintBlock(rainbowBlock, px)
    await returnToWall(page)
    await page.getByText('1 block by 1 agent since ').waitFor()
    expect(listReads()).toEqual(['/api/tail', '/api/feed?after=3&limit=1', '/api/history?after=4&limit=200'])
    await page.close()
    const later = await visitOnce()
    for (let n = 0; n < 1001; n++) getServer().repaintBlock(rainbowBlock, px)
    getServer().sellBlock(openBlock, CAROL, px, Date.now())
    await returnToWall(later)
    await later.getByText('1 block by 1 agent since ').waitFor()
    expect(listReads().slice(-2)).toEqual(['/api/canvas.bin', '/api/blocks'])
  })

  test('on a later visit, the page reads the whole wall if another wall is now at the same address', async () => {
    const page = await visitOnce()
    getServer().showCanvas({ ...canvas, blocks: canvas.blocks.map((block) => ({ ...block, t: block.t + 1, a: 0 })) })
    await returnToWall(page)
    await page.getByText('1 block by 1 agent since ').waitFor()
    expect(listReads()).toEqual(['/api/tail', '/api/feed?after=3&limit=1', '/api/canvas.bin', '/api/blocks'])
  })

  test('a link to an artwork that is newer than the stored wall opens that artwork', async () => {
    const page = await visitOnce()
    sellAndRepaint()
    await returnToWall(page, '?work=100,20')
    await page.locator('#card .title').getByText('First block of Carol').waitFor()
    await page.getByText(NEWS).waitFor()
    expect(await page.textContent('#toast')).toBe('')
  })

  test('the whole tour can be followed by keyboard, and ends at an open block', async () => {
    const page = await visitOnce()
    sellAndRepaint()
    await returnToWall(page)
    const news = page.getByRole('button', { name: NEWS })
    await news.waitFor()
    await news.focus()
    await page.keyboard.press('Enter')
    const stop = page.locator('.stop')
    expect(await stop.locator('.title').textContent()).toBe('First block of Carol')
    expect(await stop.getByRole('link').getAttribute('href')).toBe('https://carol.example/')
    expect(await stop.locator('.count').textContent()).toBe('1 of 3')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Next')
    expect(await page.isVisible('#card')).toBe(false)
    await page.waitForFunction(() => location.search === '?block=100,20')
    await page.locator('#spoken').getByText('Block 100,20. Carol. Message: First block of Carol.').waitFor()
    await page.keyboard.press('Enter')
    await stop.getByText('2 of 3').waitFor()
    await page.keyboard.press('n')
    await stop.getByText('This block costs $1.').waitFor()
    await page.keyboard.press('p')
    await stop.getByText('2 of 3').waitFor()
    await page.keyboard.press('n')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Send your agent')
    await page.keyboard.press('Enter')
    await page.getByText(/^Buy block \d+,\d+ on the pixel wall/).waitFor()
  })

  test('going back closes the tour, and a click on the tour’s picture opens the details of the artwork', async () => {
    const page = await visitOnce()
    sellAndRepaint()
    await returnToWall(page)
    await page.getByRole('button', { name: NEWS }).click()
    await page.locator('.stop').waitFor()
    await page.goBack()
    await page.locator('.stop').waitFor({ state: 'detached' })
    expect(await page.isVisible('#card')).toBe(false)
    await page.getByRole('button', { name: NEWS }).click()
    await page.getByRole('button', { name: 'Open the details' }).click()
    await page.locator('#card .title').getByText('First block of Carol').waitFor()
    expect(await page.locator('.stop').count()).toBe(0)
  })

  test('the page shows missed changes one after another, and its counts rise step by step', async () => {
    const page = await visitOnce({ reducedMotion: 'no-preference' })
    for (let n = 0; n < 30; n++) getServer().sellBlock(requireBlockAt(20 + n, 10), CAROL, px, Date.now() + n)
    await page.addInitScript(() => {
      const seen: string[] = []
      Reflect.set(window, 'seen', seen)
      const recordCounts = () => {
        const text = document.getElementById('counts')?.textContent ?? ''
        if (seen.at(-1) !== text) seen.push(text)
        requestAnimationFrame(recordCounts)
      }
      requestAnimationFrame(recordCounts)
    })
    await returnToWall(page)
    await page.getByText('34 of 14,400 blocks sold').waitFor()
    const seen: string[] = await page.evaluate(() => Reflect.get(window, 'seen'))
    expect(seen.length).toBeGreaterThan(3)
    await page.getByText('30 blocks by 1 agent since ').waitFor()
  })

  test('a returning visitor who missed nothing sees today’s news, and a wall without sales has no news', async () => {
    // If the sales had different times, the latest sale might not be the last one in the log.
    const t = Date.now()
    const blocks = canvas.blocks.map((block) => ({ ...block, t }))
    getServer().showCanvas({ ...canvas, blocks, stats: { ...canvas.stats, lastClaimedAt: t } })
    const page = await visitOnce()
    await goToFollowingPage(page, getServer().url.href)
    await page.getByRole('button', { name: '4 blocks by 2 agents today' }).waitFor()
    expect(listReads()).toEqual(['/api/tail', '/api/feed?after=3&limit=1'])
    const stats = { claimed: 0, remaining: 14_400, agents: 0, lastClaimedAt: null, lastSaleId: 0 }
    getServer().showCanvas({ ...canvas, agents: [], blocks: [], stats })
    const empty = await openPage('')
    expect(await empty.textContent('#news')).toBe('')
  })

  test('the tour works without WebGL', async () => {
    const page = await newPage()
    await page.addInitScript(() => {
      const { getContext } = HTMLCanvasElement.prototype
      Reflect.set(
        HTMLCanvasElement.prototype,
        'getContext',
        function (this: unknown, kind: string, ...rest: unknown[]) {
          return kind === 'webgl' ? null : Reflect.apply(getContext, this, [kind, ...rest])
        },
      )
    })
    await page.goto(getServer().url.href)
    await waitUntilKept(page)
    sellAndRepaint()
    await returnToWall(page)
    await page.getByRole('button', { name: NEWS }).click()
    await page.locator('.stop .title').getByText('First block of Carol').waitFor()
    expect(troubles).toEqual([])
  })
})
