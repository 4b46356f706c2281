import { describe, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { PALETTE } from '../../shared/palette.ts'
import { computeBlockBox, fitWall, zoom } from '../../viewer/camera/camera.ts'
import { dark } from '../../viewer/theme.ts'
import { OPEN } from '../../viewer/wall/pixel-buffer.ts'
import {
  computeMiddle,
  waitUntilReady,
  restPointer,
  waitForColour,
  waitForBlockColour,
  measureStageTop,
  measureStage,
} from '../support/page/driver.ts'
import { requireBlockAt, nastyBlock, openBlock, rainbowBlock } from '../support/page/sample-wall.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: a browser without WebGL shows the same wall and has the same controls. Method: WebGL is disabled in the page
// before it starts, and colours are read from what the browser shows.

const browser = await openTestBrowser()
const white = new Uint8Array(100).fill(215).toBase64()

/** Runs in the page before the page's own code: disables all canvas contexts except 2d. */
function refuseWebGl() {
  const { getContext } = HTMLCanvasElement.prototype
  const getOnly2d = function (this: HTMLCanvasElement, kind: string) {
    return kind === '2d' ? getContext.call(this, kind) : null
  }
  Reflect.set(HTMLCanvasElement.prototype, 'getContext', getOnly2d)
}

/** Runs in the page before the page's own code: disables all canvas contexts. */
function refuseAllContexts() {
  Reflect.set(HTMLCanvasElement.prototype, 'getContext', () => null)
}

describe.skipIf('reason' in browser)('the page without WebGL, in Chromium', () => {
  const { getServer, newPage } = setUpTestPages(browser, { width: 960, height: 600 })

  async function openWithoutContext(
    refuse: () => void,
    address = '#all',
    options?: BrowserContextOptions,
  ): Promise<Page> {
    const page = await newPage(options)
    await page.addInitScript(refuse)
    await page.goto(getServer().url.href + address)
    await waitUntilReady(page)
    return page
  }

  const red = '#ff0000'
  const open = dark.own[OPEN] ?? ''

  test('without WebGL, every pixel shows its palette colour', async () => {
    const page = await openWithoutContext(refuseWebGl, '#805,455,20')
    const view = await measureStage(page)
    const box = computeBlockBox({ x: 805, y: 455, zoom: 20 }, view, rainbowBlock)
    for (const pixel of [0, 33, 66, 99]) {
      const [x, y] = [pixel % 10, Math.floor(pixel / 10)]
      const point = { x: box.left + (x + 0.5) * 20, y: box.top + (y + 0.5) * 20 }
      await waitForColour(page, point, PALETTE[16 + 20 * y + 2 * x] ?? '')
    }
  })

  test('without WebGL, the artworks of a selected agent have an outline', async () => {
    const page = await openWithoutContext(refuseWebGl, '?agent=1#805,455,20')
    // The profile panel makes the stage smaller, so the stage is measured only once the panel is shown.
    await page.locator('.about-agent').getByText('Ada').waitFor()
    const box = computeBlockBox({ x: 805, y: 455, zoom: 20 }, await measureStage(page), rainbowBlock)
    const findPointBeside = (px: number) => ({ x: box.left + px, y: box.top + box.height / 2 })
    await waitForColour(page, findPointBeside(-1), '#ffffff')
    await waitForColour(page, findPointBeside(-2), '#000000')
  })

  test('without WebGL, sold artworks have an edge', async () => {
    // In a window this wide, the height of the header is a whole number of pixels.
    const page = await openWithoutContext(refuseWebGl, '#805,455,20', { viewport: { width: 1280, height: 720 } })
    const box = computeBlockBox({ x: 805, y: 455, zoom: 20 }, await measureStage(page), rainbowBlock)
    await waitForColour(page, { x: box.left + box.width / 2, y: Math.round(box.top) - 1 }, dark.edge)
  })

  test('without WebGL, the page for painting shows the edges of artworks, and coordinates once the wall is zoomed in', async () => {
    const page = await newPage()
    await page.goto(`${getServer().url.href}paint`)
    await waitUntilReady(page)
    expect(await page.isVisible('.ticks')).toBe(false)
    const view = await measureStage(page)
    let camera = fitWall(view)
    for (let press = 0; press < 8; press++) {
      await page.locator('#wall').press('+')
      camera = zoom(camera, view, 1.5, { x: view.width / 2, y: view.height / 2 })
    }
    await page.locator('.ticks .col').getByText('80', { exact: true }).waitFor()
    const box = computeBlockBox(camera, view, rainbowBlock)
    await waitForColour(page, { x: box.left + box.width / 2, y: Math.round(box.top) - 1 }, dark.edge)
  })

  test('without WebGL, overlays colour the blocks, and the history can be shown', async () => {
    const page = await openWithoutContext(refuseWebGl)
    await page.keyboard.press('v')
    await page.getByLabel('Available blocks').check()
    await page.keyboard.press('Escape')
    await waitForBlockColour(page, openBlock, (colour) => colour !== open)
    await page.keyboard.press('Escape')
    await page.keyboard.press('t')
    await page.getByLabel('Timeline of sales and repaints').fill('1')
    await page.keyboard.press('t')
    await waitForBlockColour(page, nastyBlock, open)
  })

  test('without WebGL, a repaint appears without a reload', async () => {
    const page = await openWithoutContext(refuseWebGl)
    await waitForBlockColour(page, nastyBlock, red)
    getServer().repaintBlock(nastyBlock, white)
    await waitForBlockColour(page, nastyBlock, '#ffffff')
  })

  test('without WebGL, a switch to another theme changes the colour of open blocks', async () => {
    const page = await openWithoutContext(refuseWebGl)
    await waitForBlockColour(page, requireBlockAt(100, 20), open)
    await page.emulateMedia({ colorScheme: 'light' })
    await waitForBlockColour(page, requireBlockAt(100, 20), '#f4efe7')
  })

  test('if nothing can be drawn, the tooltip still describes the block under the pointer', async () => {
    const page = await openWithoutContext(refuseAllContexts)
    const view = await measureStage(page)
    const middle = computeMiddle(computeBlockBox(fitWall(view), view, nastyBlock))
    const point = { x: middle.x, y: middle.y + (await measureStageTop(page)) }
    await restPointer(page, point, page.locator('.tooltip').getByText('Mallory'))
  })

  test('if drawing with WebGL is slow, the page switches to 2D canvases without showing a blank frame', async () => {
    // A service worker would deliver the script that the test holds back below.
    const page = await newPage({ serviceWorkers: 'block' })
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/canvas-2d-fallback-*', async (route) => (await held, await route.continue()))
    let isAsked = false
    page.on('request', (request) => (isAsked ||= request.url().includes('/canvas-2d-fallback-')))
    await page.addInitScript(() => {
      const { drawArrays } = WebGLRenderingContext.prototype
      WebGLRenderingContext.prototype.drawArrays = function (...args) {
        for (const until = performance.now() + 60; performance.now() < until;);
        drawArrays.apply(this, args)
      }
    })
    await page.goto(`${getServer().url.href}#all`)
    await waitUntilReady(page)
    expect(await page.locator('.fallback').count()).toBe(0)
    for (let press = 0; !isAsked; press++) {
      await page.keyboard.press(press % 2 === 0 ? '+' : '-')
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    }
    await page.keyboard.press('0')
    await waitForBlockColour(page, nastyBlock, red)
    expect(await page.locator('.fallback').count()).toBe(0)
    letGo()
    await page.locator('.fallback').first().waitFor({ state: 'attached' })
    await waitForBlockColour(page, nastyBlock, red)
  })
})
