import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { PALETTE } from '../../shared/palette.ts'
import { fit } from '../../viewer/camera.ts'
import { boxOf } from '../../viewer/hover.ts'
import { openBrowser } from './browser.ts'
import { afterDraw, colourAt, countDraws, middleOf, stageTop, viewOf } from './driver.ts'
import { canvasText, startSampleServer, type SampleServer } from './sample-server.ts'
import { at, canvas, nastyBlock, openBlock, rainbowBlock } from './sample-wall.ts'

// Goal: all that can be open on the page beside the wall works, by keyboard, by touch and for those who hear it. Method:
// as in page.test.ts; axe looks at each state, and at phone size no target is smaller than 44 pixels.

const browser = await openBrowser()
const axe = await Bun.file(new URL(import.meta.resolve('axe-core/axe.min.js'))).text()

setDefaultTimeout(60_000)

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
const red = new Uint8Array(100).fill(180).toBase64()
const carol = { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null }

describe.skipIf('reason' in browser)('what opens beside the wall, in Chromium', () => {
  let server: SampleServer
  const troubles: string[] = []

  beforeAll(async () => {
    server = await startSampleServer()
  })

  afterEach(async () => {
    if ('reason' in browser) return
    for (const context of browser.contexts()) await context.close()
    server.show(canvas)
    expect(troubles.splice(0)).toEqual([])
  })

  afterAll(async () => {
    await server.stop()
    if (!('reason' in browser)) await browser.close()
  })

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    if ('reason' in browser) throw new Error(browser.reason)
    const context = await browser.newContext({
      viewport: { width: 960, height: 600 },
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      ...options,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(8000)
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
    await page.addInitScript(countDraws)
    return page
  }

  async function openPage(address = '', options?: BrowserContextOptions): Promise<Page> {
    const page = await newPage(options)
    await page.goto(server.url.href + address)
    await page.waitForFunction(() => document.body.dataset['ready'] && Reflect.get(window, 'draws') > 0)
    return page
  }

  const violationsOf = async (page: Page) => {
    await page.evaluate(axe)
    const found: unknown = await page.evaluate(async () => {
      const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
      return violations.map((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) => [
        violation.id,
        violation.nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
      ])
    })
    return found
  }

  const smallTargets = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll('button, input, select')].flatMap((element) => {
        const { width, height } = (element.closest('label') ?? element).getBoundingClientRect()
        return width === 0 || (width >= 44 && height >= 44) ? [] : [element.outerHTML]
      }),
    )

  const middleOfBlock = async (page: Page, block: typeof openBlock) => {
    const view = await viewOf(page)
    return middleOf(boxOf(fit(view), view, block))
  }

  const PANELS = [
    ['/', 'Find'],
    ['v', 'View'],
    ['t', 'Time'],
    ['l', 'Share'],
    ['?', 'Help'],
  ] as const

  test.each([
    ['dark', {}],
    ['light', { colorScheme: 'light' }],
    ['strong contrast', { contrast: 'more' }],
    ['a phone', { ...phone, colorScheme: 'light' }],
  ] as const)('axe finds nothing to complain about in any state: %s', async (_, options) => {
    const page = await openPage('?block=79,44', options)
    await page.locator('#card .payment').getByText('settled').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(await smallTargets(page)).toEqual([])
    for (const [key, title] of PANELS) {
      await page.keyboard.press(key)
      await page.getByRole('heading', { name: title, exact: true, includeHidden: true }).waitFor({ state: 'attached' })
      if (key === 'v') await page.getByLabel('Framework of each agent').check()
      expect([title, await violationsOf(page)]).toEqual([title, []])
      expect([title, await smallTargets(page)]).toEqual([title, []])
      await page.keyboard.press('Escape')
    }
    await page
      .getByRole('button', { name: 'All 3 blocks' })
      .or(page.getByRole('button', { name: 'Show its agent' }))
      .click()
    await page.locator('.chip').waitFor()
    expect(await violationsOf(page)).toEqual([])
  })

  test('every panel opens by its key, takes the focus, and gives it back', async () => {
    const page = await openPage()
    for (const [key, title] of PANELS) {
      await page.keyboard.press(key)
      expect(await page.locator('#panel').getAttribute('aria-label')).toBe(title)
      expect(await page.locator('#panel :focus').count()).toBe(1)
      await page.keyboard.press('Escape')
      expect(await page.isVisible('#panel')).toBe(false)
      expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(title)
    }
  })

  test('a search finds an agent, and choosing it dims the rest and names its works', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    await page.keyboard.type('ada')
    await page.getByRole('button', { name: /^#1 Ada/ }).waitFor()
    await afterDraw(page, () => page.keyboard.press('Enter'))
    expect(await page.locator('.chip').textContent()).toContain('Ada')
    expect(await page.locator('.labels span:not([hidden]) bdi').allTextContents()).toContain('Ada · 2 × 1')
    const view = await viewOf(page)
    expect(await page.getByRole('button', { name: /^#1 Ada/ }).getAttribute('aria-pressed')).toBe('true')
    // The stage's middle lies in the agent's blocks' area; its corner is open and dimmed.
    const corner = await colourAt(page, { x: 2, y: view.height - 2 })
    await page.getByRole('button', { name: 'Show all agents' }).click()
    expect(await colourAt(page, { x: 2, y: view.height - 2 })).not.toBe(corner)
  })

  test('a search finds a coordinate and goes there', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    await page.keyboard.type('80,45')
    await page.keyboard.press('Enter')
    expect(await page.locator('#card.pinned .where').textContent()).toBe('Block 80,45')
    await page.waitForURL(/block=80,45/)
  })

  test('strangers’ text is inert in the list, too', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    expect(await page.locator('.list .name').allTextContents()).toEqual([
      'Ada',
      '<b onclick="window.hurt = true">Mallory</b>',
    ])
    expect(await page.locator('.list b').count()).toBe(0)
  })

  test('the scrubber shows the wall as it was, and a link to a moment leads there', async () => {
    const page = await openPage('?at=1760000000000')
    const point = await middleOfBlock(page, nastyBlock)
    const before = await colourAt(page, point)
    await page.keyboard.press('t')
    const scrubber = page.getByRole('slider')
    expect(await scrubber.inputValue()).toBe('1')
    expect(await page.locator('#panel output').textContent()).toMatch(/ · 1 block$/)
    await scrubber.focus()
    await page.keyboard.press('End')
    await page.locator('#panel output').getByText('Now · 4 blocks').waitFor()
    expect(await colourAt(page, await middleOfBlock(page, nastyBlock))).not.toBe(before)
    await page.keyboard.press('Home')
    await page.waitForURL(/at=1759999999999/)
  })

  test('playing runs through every sale to the present', async () => {
    const page = await openPage()
    await page.keyboard.press('t')
    await page.evaluate(() => {
      const output = document.querySelector('#panel output')
      const told: string[] = []
      Reflect.set(window, 'told', told)
      if (output) new MutationObserver(() => told.push(output.textContent)).observe(output, { childList: true })
    })
    await page.getByRole('button', { name: 'Play' }).click()
    await page.waitForFunction(() => Reflect.get(window, 'told').at(-1) === 'Now · 4 blocks')
    const told: string[] = await page.evaluate(() => Reflect.get(window, 'told'))
    const counts = told.map((text) => text.split(' · ')[1])
    expect([...new Set(counts)]).toEqual(['0 blocks', '1 block', '2 blocks', '3 blocks', '4 blocks'])
    expect(await page.getByRole('button', { name: 'Play' }).count()).toBe(1)
  })

  test('a sale and a repaint appear without a reload, and are told', async () => {
    const page = await openPage()
    server.sell(openBlock, carol, red)
    server.repaint(rainbowBlock, red)
    await afterDraw(page, () => page.evaluate(() => window.dispatchEvent(new Event('online'))))
    await page.locator('.ticker').getByText('Carol just bought 100,20').waitFor()
    expect(await page.textContent('#counts')).toBe('5 claimed · 14,395 open')
    await page.getByRole('button', { name: /just bought/ }).click()
    expect(await page.locator('#card .title').textContent()).toBe('Carol')
    await page.keyboard.press('Escape')
    await page.keyboard.press('0')
    await page.mouse.move(2, 2)
    expect(await colourAt(page, await middleOfBlock(page, openBlock))).toBe('#ff0000')
    expect(await colourAt(page, await middleOfBlock(page, rainbowBlock))).toBe('#ff0000')
  })

  test('after sleep every sale is caught up with, page by page', async () => {
    const page = await openPage()
    const sold = Array.from({ length: 450 }, (_, i) => at(i % 150, Math.floor(i / 150)))
    for (const block of sold) server.sell(block, carol)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText('454 claimed').waitFor()
    await page.locator('.ticker').waitFor()
  })

  test('a wall that hears nothing says since when, and that it is over', async () => {
    const page = await openPage()
    await page.route('**/api/feed*', (route) => route.abort())
    const wake = () => page.evaluate(() => window.dispatchEvent(new Event('online')))
    await Promise.all([page.waitForEvent('requestfailed'), wake()])
    await wake()
    await page.getByText('Not up to date since').waitFor()
    await page.unroute('**/api/feed*')
    await wake()
    await page.waitForFunction(() => document.getElementById('stale')?.textContent === '')
    // Chromium itself reports the lost requests.
    troubles.length = 0
  })

  test('rows are drawn as they arrive', async () => {
    const text = canvasText(canvas)
    // The row of the nasty block has arrived, the one below it has not.
    server.holdAfter(text.indexOf('\n', text.indexOf(`"i":${nastyBlock}`)) + 1)
    const page = await newPage()
    await page.goto(server.url.href)
    await page.waitForFunction(() => Reflect.get(window, 'draws') > 0)
    expect(await colourAt(page, await middleOfBlock(page, nastyBlock))).toBe('#ff0000')
    const below = await colourAt(page, await middleOfBlock(page, rainbowBlock))
    server.holdAfter(undefined)
    await page.waitForFunction(() => document.body.dataset['ready'])
    await afterDraw(page, () => page.keyboard.press('+'))
    await afterDraw(page, () => page.keyboard.press('0'))
    expect(await colourAt(page, await middleOfBlock(page, rainbowBlock))).not.toBe(below)
  })

  test('a picture of a block can be taken away, pixel for pixel', async () => {
    const page = await openPage('?block=80,45')
    await page.keyboard.press('l')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'PNG of block 80,45' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('pixel-wall-80-45.png')
    const png = await Bun.file(await download.path()).bytes()
    const [width, corner] = await page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes]))
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
      context?.drawImage(image, 0, 0)
      return [image.width, [...(context?.getImageData(0, 0, 1, 1).data ?? [])]]
    }, png.toBase64())
    expect(width).toBe(240)
    expect(
      `#${corner
        .slice(0, 3)
        .map((level) => level.toString(16).padStart(2, '0'))
        .join('')}`,
    ).toBe(PALETTE[16] ?? '')
  })

  test('a wall nobody has bought of says how to be the first', async () => {
    const stats = { claimed: 0, remaining: 14_400, agents: 0, lastClaimedAt: null, lastSaleId: 0 }
    server.show({ ...canvas, agents: [], blocks: [], stats })
    const page = await openPage()
    await page.getByText(`GET ${server.url.origin}/blocks/next`).waitFor()
    expect(await violationsOf(page)).toEqual([])
    server.sell(openBlock, { ...carol, id: 1 }, red)
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await page.locator('.first').waitFor({ state: 'hidden' })
  })

  test('inside another page only the wall is shown', async () => {
    const page = await openPage('?embed=1')
    expect(await page.isVisible('header')).toBe(false)
    expect(await page.isVisible('#tools')).toBe(false)
    expect(await page.getByRole('link', { name: 'Pixel Wall' }).getAttribute('href')).toBe('/')
    expect(await stageTop(page)).toBe(0)
  })

  test('the minimap shows while the wall is near, and leads elsewhere', async () => {
    const page = await openPage('#200,200,8')
    const box = await page.locator('.minimap').boundingBox()
    if (box === null) throw new Error('there is no minimap')
    await afterDraw(page, () => page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2))
    await page.waitForURL(/#1[12]\d\d/)
    await afterDraw(page, () => page.keyboard.press('0'))
    expect(await page.isVisible('.minimap')).toBe(false)
  })

  test('a chosen theme stays', async () => {
    const page = await openPage()
    await page.keyboard.press('v')
    await page.getByLabel('High contrast').check()
    await page.reload()
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'contrast')
  })

  test('on a phone an agent is found by touch', async () => {
    const page = await openPage('', phone)
    await page.getByRole('button', { name: 'Find' }).tap()
    await page.getByRole('button', { name: /^#1 Ada/ }).tap()
    await page.locator('.chip').getByText('Ada').waitFor()
    const panel = await page.locator('#panel').boundingBox()
    expect(panel?.width).toBe(360)
    expect(panel && panel.height < 360).toBe(true)
  })

  test('the page is light', async () => {
    const sizes: Record<string, number> = {}
    for await (const name of new Bun.Glob('**/*').scan(server.dist)) {
      sizes[name] = Bun.gzipSync(await Bun.file(`${server.dist}/${name}`).bytes(), { level: 9 }).length
    }
    const sum = (pattern: RegExp) =>
      Object.entries(sizes).reduce((total, [name, size]) => total + (pattern.test(name) ? size : 0), 0)
    console.info(`gzip bytes: first script ${sum(/index-.*\.js$/)}, all ${sum(/./)}`, sizes)
    expect(sum(/index-.*\.js$/)).toBeLessThanOrEqual(45_000)
    expect(sum(/./)).toBeLessThanOrEqual(60_000)
  })
})
