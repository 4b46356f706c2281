import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { Value } from '@sinclair/typebox/value'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { build } from 'vite'
import { Canvas } from '../../shared/contract/canvas.ts'
import { PALETTE } from '../../shared/palette.ts'
import { BARE } from '../../viewer/atlas.ts'
import { fit } from '../../viewer/camera.ts'
import { boxOf } from '../../viewer/hover.ts'
import { dark } from '../../viewer/theme.ts'
import { openBrowser } from './browser.ts'
import {
  afterDraw,
  colourAt,
  countDraws,
  loseContext,
  middleOf,
  pinch,
  pixelOf,
  pointAt,
  stageTop,
  viewOf,
  zoomTo,
} from './driver.ts'
import {
  bareBlock,
  canvas,
  checkerBlock,
  deedOf,
  nastyBlock,
  nastyMessage,
  openBlock,
  rainbowAt,
  rainbowBlock,
} from './sample-wall.ts'

const browser = await openBrowser()
if ('reason' in browser) console.warn(`The page is not tested: no Chromium starts here. ${browser.reason}`)

setDefaultTimeout(60_000)

describe.skipIf('reason' in browser)('the page in Chromium', () => {
  let dist: string
  let server: Bun.Server<undefined>
  let canvasStatus = 200
  const troubles: string[] = []

  beforeAll(async () => {
    dist = await mkdtemp(`${tmpdir()}/pixel-wall-page-`)
    const root = new URL('../../viewer', import.meta.url).pathname
    await build({ root, logLevel: 'error', build: { outDir: dist } })
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      routes: {
        '/api/canvas': () => Response.json(canvas, { status: canvasStatus }),
        '/blocks/:coord': ({ params }) =>
          Response.json(deedOf(params.coord) ?? {}, { status: deedOf(params.coord) ? 200 : 402 }),
        '/': () => new Response(Bun.file(`${dist}/index.html`)),
        '/assets/:name': ({ params }) => new Response(Bun.file(`${dist}/assets/${params.name}`)),
      },
    })
  })

  afterEach(async () => {
    if ('reason' in browser) return
    for (const context of browser.contexts()) await context.close()
    expect(troubles.splice(0)).toEqual([])
  })

  afterAll(async () => {
    await server.stop(true)
    if (!('reason' in browser)) await browser.close()
    await rm(dist, { recursive: true })
  })

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    if ('reason' in browser) throw new Error(browser.reason)
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: 'dark',
      ...options,
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
    await page.addInitScript(countDraws)
    return page
  }

  async function openPage(options?: BrowserContextOptions): Promise<Page> {
    const page = await newPage(options)
    await page.goto(server.url.href)
    await page.waitForFunction(() => document.getElementById('counts')?.textContent && Reflect.get(window, 'draws') > 0)
    return page
  }

  test('the made-up wall keeps the contract', () => {
    expect([...Value.Errors(Canvas, canvas)]).toEqual([])
  })

  test('the whole wall is shown first, with its counts and without an error', async () => {
    const page = await openPage()
    expect(await page.textContent('#counts')).toBe('4 claimed · 14,396 open')
    expect(await page.isVisible('#notice')).toBe(false)
    const view = await viewOf(page)
    expect(await colourAt(page, { x: 2, y: view.height / 2 })).toBe(dark.ground)
  })

  test('a painted block shows its palette colours exactly, pixel by pixel', async () => {
    const page = await openPage()
    const camera = await zoomTo(page, rainbowBlock, 20)
    for (const [x, y] of [
      [0, 0],
      [9, 0],
      [4, 5],
      [0, 9],
      [9, 9],
    ] as const) {
      expect(await colourAt(page, await pixelOf(page, camera, rainbowBlock, x, y))).toBe(PALETTE[rainbowAt(x, y)] ?? '')
    }
    expect(await colourAt(page, await pixelOf(page, camera, bareBlock, 5, 5))).toBe(dark.own[BARE] ?? '')
  })

  test('pixels too small to see are averaged in linear light', async () => {
    const page = await openPage({ viewport: { width: 600, height: 600 } })
    const half = 0.5 / fit(await viewOf(page)).zoom
    const camera = await zoomTo(page, checkerBlock, half)
    const grey = await colourAt(page, await pixelOf(page, camera, checkerBlock, 5, 5))
    // Half of white's light is 188 of 255 on a screen, not 128.
    expect(Math.abs(Number.parseInt(grey.slice(1, 3), 16) - 188)).toBeLessThanOrEqual(1)
  })

  test('the wheel zooms about the cursor', async () => {
    const page = await openPage()
    const after = boxOf(await zoomTo(page, nastyBlock, 30), await viewOf(page), nastyBlock)
    expect(await colourAt(page, { x: after.left - 6, y: after.top + 3 })).not.toBe('#ff0000')
    expect(await colourAt(page, { x: after.left + 3, y: after.top + 3 })).toBe('#ff0000')
    expect(await colourAt(page, { x: after.left + after.width - 3, y: after.top + after.height - 3 })).toBe('#ff0000')
  })

  test('dragging moves the wall with the hand', async () => {
    const page = await openPage()
    const camera = await zoomTo(page, rainbowBlock, 20)
    const from = await pixelOf(page, camera, rainbowBlock, 2, 2)
    const top = await stageTop(page)
    await page.mouse.move(from.x, from.y + top)
    await page.mouse.down()
    await afterDraw(page, () => page.mouse.move(from.x + 100, from.y + 60 + top, { steps: 4 }))
    await page.mouse.up()
    await page.mouse.move(2, top + 2)
    expect(await colourAt(page, { x: from.x + 100, y: from.y + 60 })).toBe(PALETTE[rainbowAt(2, 2)] ?? '')
  })

  test('the deed of the block under the pointer appears, with strangers’ text inert', async () => {
    const page = await openPage()
    await pointAt(page, nastyBlock)
    const card = page.locator('#card')
    await card.getByText('settled').waitFor()
    expect(await card.locator('.where').textContent()).toBe('Block 79,44')
    expect(await card.locator('.title').textContent()).toBe('<b onclick="window.hurt = true">Mallory</b>')
    expect(await card.locator('.framework').textContent()).toBe('<i>x</i>')
    expect(await card.locator('.message').textContent()).toBe(nastyMessage)
    expect(await card.locator('.payment').textContent()).toMatch(/^settled 0x00000000…[0-9a-f]{4}$/)
    expect(await card.locator('script, img, b, i').count()).toBe(0)
    const link = card.locator('a')
    expect(await link.textContent()).toBe('example.org')
    expect(await link.getAttribute('href')).toBe('https://example.org/?q=%3Cscript%3E')
    expect(await link.getAttribute('rel')).toBe('noopener nofollow ugc')
    expect(await page.evaluate(() => Reflect.get(window, 'hurt'))).toBeUndefined()
  })

  test('an open block says what it costs and how an agent buys it', async () => {
    const page = await openPage()
    await pointAt(page, openBlock)
    const card = page.locator('#card')
    expect(await card.locator('.where').textContent()).toBe('Block 100,20')
    expect(await card.locator('.price').textContent()).toBe('1.00 USDC for 10 × 10 pixels')
    expect(await card.locator('pre').textContent()).toBe(`GET ${server.url.origin}/blocks/100,20`)
  })

  test('a click pins a card and Escape takes it away', async () => {
    const page = await openPage()
    const point = await pointAt(page, rainbowBlock)
    await page.mouse.click(point.x, point.y)
    await page.mouse.move(2, point.y)
    expect(await page.locator('#card .where').textContent()).toBe('Block 80,45')
    await page.keyboard.press('Escape')
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('keys zoom, move and show the whole wall again', async () => {
    const page = await openPage()
    const view = await viewOf(page)
    await afterDraw(page, () => page.keyboard.press('+'))
    await afterDraw(page, () => page.keyboard.press('ArrowLeft'))
    // The wall's left edge is where the ground was before.
    expect(await colourAt(page, { x: 2, y: view.height / 2 })).not.toBe(dark.ground)
    await afterDraw(page, () => page.keyboard.press('0'))
    expect(await colourAt(page, { x: 2, y: view.height / 2 })).toBe(dark.ground)
  })

  test('nothing is drawn while nothing changes', async () => {
    const page = await openPage()
    await pointAt(page, rainbowBlock)
    await page.locator('#card').getByText('settled').waitFor()
    const drawn = await page.evaluate(async () => {
      const before = Reflect.get(window, 'draws')
      for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
      return Reflect.get(window, 'draws') - before
    })
    expect(drawn).toBe(0)
  })

  test('a phone shows the wall, its deeds by tap and a closer look by pinch', async () => {
    const page = await openPage({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 2,
    })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
    const middle = middleOf(boxOf(fit(await viewOf(page)), await viewOf(page), nastyBlock))
    const top = await stageTop(page)
    await afterDraw(page, () => pinch(page, { x: middle.x, y: middle.y + top }, 10, 100))
    // Before the pinch this was four blocks further on.
    await page.touchscreen.tap(middle.x + 8, middle.y + 8 + top)
    expect(await page.locator('#card .where').textContent()).toBe('Block 79,44')
    const card = await page.locator('#card').boundingBox()
    expect(card?.x).toBe(12)
    expect(card?.width).toBe(336)
    await page.locator('#card .close').tap()
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('a lost graphics context comes back with the wall', async () => {
    const page = await openPage()
    const camera = await zoomTo(page, rainbowBlock, 20)
    await afterDraw(page, () => page.evaluate(loseContext))
    expect(await colourAt(page, await pixelOf(page, camera, rainbowBlock, 4, 5))).toBe(PALETTE[rainbowAt(4, 5)] ?? '')
  })

  test('a failed read says so and can be tried again', async () => {
    const page = await newPage()
    canvasStatus = 503
    await page.goto(server.url.href)
    await page.getByText('The wall could not be read.').waitFor()
    canvasStatus = 200
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('4 claimed').waitFor()
    expect(await page.isVisible('#notice')).toBe(false)
    // Chromium itself reports the 503.
    expect(troubles.splice(0)).toHaveLength(1)
  })

  test('without WebGL the page says so and stands', async () => {
    const page = await newPage()
    await page.addInitScript(() => Reflect.set(HTMLCanvasElement.prototype, 'getContext', () => null))
    await page.goto(server.url.href)
    await page.getByText('4 claimed').waitFor()
    expect(await page.textContent('#notice')).toBe('This browser has no WebGL, which draws the wall.')
    expect(await page.isVisible('#notice')).toBe(true)
  })
})
