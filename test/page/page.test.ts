import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { Canvas } from '../../shared/contract/canvas.ts'
import { PALETTE } from '../../shared/palette.ts'
import { computeBlockBox, fitWall } from '../../viewer/camera/camera.ts'
import { dark } from '../../viewer/theme.ts'
import { NO_PICTURE } from '../../viewer/wall/pixel-buffer.ts'
import {
  actAndWaitForDraw,
  readColour,
  loseContext,
  computeMiddle,
  openDetails,
  pinch,
  locatePixel,
  hoverBlock,
  waitForColour,
  measureStageTop,
  repeatUntilAnswered,
  measureStage,
  zoomToBlock,
} from '../support/page/driver.ts'
import {
  blockWithoutPicture,
  canvas,
  checkerBlock,
  nastyBlock,
  nastyMessage,
  openBlock,
  computeRainbowColour,
  rainbowBlock,
} from '../support/page/sample-wall.ts'
import { openTestBrowser, goToFollowingPage, setUpTestPages } from '../support/page/test-page.ts'

const browser = await openTestBrowser()

describe.skipIf('reason' in browser)('the page in Chromium', () => {
  const { getServer, newPage, openPage, troubles } = setUpTestPages(browser, { width: 800, height: 520 })

  test('the canvas of the test wall satisfies the schema of the API', () => {
    expect([...Value.Errors(Canvas, canvas)]).toEqual([])
  })

  test('a painted block shows its palette colours exactly, pixel by pixel', async () => {
    const page = await openPage()
    const camera = await zoomToBlock(page, rainbowBlock, 20)
    for (const [x, y] of [
      [0, 0],
      [4, 5],
      [9, 9],
    ] as const) {
      await waitForColour(
        page,
        await locatePixel(page, camera, rainbowBlock, x, y),
        PALETTE[computeRainbowColour(x, y)] ?? '',
      )
    }
    await waitForColour(page, await locatePixel(page, camera, blockWithoutPicture, 5, 5), dark.own[NO_PICTURE] ?? '')
  })

  test('pixels that are too small to see are averaged in linear light', async () => {
    const page = await openPage('#all', { viewport: { width: 600, height: 600 } })
    const half = 0.5 / fitWall(await measureStage(page)).zoom
    const camera = await zoomToBlock(page, checkerBlock, half)
    // On a screen, the value 188 of 255 emits half of white's light; 128 does not.
    const isHalfGrey = (grey: string) => Math.abs(Number.parseInt(grey.slice(1, 3), 16) - 188) <= 1
    await waitForColour(page, await locatePixel(page, camera, checkerBlock, 5, 5), isHalfGrey)
  })

  test('dragging moves the wall with the pointer', async () => {
    const page = await openPage()
    const camera = await zoomToBlock(page, rainbowBlock, 20)
    const from = await locatePixel(page, camera, rainbowBlock, 2, 2)
    const top = await measureStageTop(page)
    await page.mouse.move(from.x, from.y + top)
    await page.mouse.down()
    await actAndWaitForDraw(page, () => page.mouse.move(from.x + 100, from.y + 60 + top, { steps: 4 }))
    await page.mouse.up()
    await page.mouse.move(2, top + 2)
    await waitForColour(page, { x: from.x + 100, y: from.y + 60 }, PALETTE[computeRainbowColour(2, 2)] ?? '')
  })

  test('text from other users is inert both in the tooltip of a block and in the details that a click on the block opens', async () => {
    const page = await openPage()
    const point = await hoverBlock(page, nastyBlock)
    expect(await page.locator('.tooltip').textContent()).toBe(
      '<script>window.hurt = true</script><img src=x…<b onclick="window.hurt = true">Mallory</b> · 1 × 1',
    )
    await openDetails(page, point)
    const card = page.locator('#card')
    await card.getByText('Paid on Base').waitFor({ state: 'attached' })
    expect(await card.locator('summary').textContent()).toBe('Block 79,44')
    expect(await card.locator('.agent').textContent()).toBe('<b onclick="window.hurt = true">Mallory</b>')
    expect(await card.locator('.title').textContent()).toBe('<script>window.hurt = true</script><img src=x…')
    expect(await card.locator('.framework').textContent()).toBe('<i>x</i>')
    expect(await card.locator('.message').textContent()).toBe(nastyMessage)
    expect(await card.locator('.payment a').allTextContents()).toEqual(['Paid on Base', 'Order signed by its buyer'])
    expect(await card.locator('script, img, b, i').count()).toBe(0)
    const link = card.locator('a.button').first()
    expect(await link.textContent()).toBe('example.org')
    expect(await link.getAttribute('href')).toBe('https://example.org/?q=%3Cscript%3E')
    expect(await link.getAttribute('rel')).toBe('noopener nofollow ugc')
    for (const proof of await card.locator('.payment a').all()) {
      expect(await proof.getAttribute('href')).toMatch(/^https:\/\/basescan\.org\/tx\/0x[0-9a-f]{64}$/)
      expect(await proof.getAttribute('aria-label')).toContain('0x00000000…')
    }
    expect(await page.evaluate(() => Reflect.get(window, 'hurt'))).toBeUndefined()
  })

  test('the details of an open block show what the block costs and how an agent buys it', async () => {
    const page = await openPage()
    const point = await hoverBlock(page, openBlock)
    expect(await page.locator('.tooltip').textContent()).toBe('Available100,20 · $1')
    await openDetails(page, point)
    const card = page.locator('#card')
    expect(await card.locator('.where').textContent()).toBe('Block 100,20')
    expect(await card.locator('.price').textContent()).toBe('$1 in USDC for 10 × 10 pixels')
    expect(await card.locator('pre').textContent()).toBe(`GET ${getServer().url.origin}/blocks/100,20`)
  })

  test('the plus key zooms in, an arrow key moves the wall, and the key 0 shows the whole wall again', async () => {
    const page = await openPage()
    const view = await measureStage(page)
    const left = { x: 2, y: view.height / 2 }
    await waitForColour(page, left, dark.ground)
    await page.keyboard.press('+')
    await page.keyboard.press('ArrowLeft')
    // Until now, this point showed the background to the left of the wall.
    await waitForColour(page, left, (colour) => colour !== dark.ground)
    await page.keyboard.press('0')
    await waitForColour(page, left, dark.ground)
  })

  test('the address of the page follows the view, and opening that address restores the view', async () => {
    // In a window this wide, a click in the middle opens the details without moving the wall.
    const wide = { viewport: { width: 1280, height: 720 } }
    const page = await openPage('#all', wide)
    const point = await hoverBlock(page, rainbowBlock)
    await openDetails(page, point)
    await actAndWaitForDraw(page, () => page.mouse.wheel(0, -1500))
    await page.waitForURL(/\?work=80,45#[\d.]+,[\d.]+,[\d.]+$/)
    expect(await page.evaluate(() => history.length)).toBe(3)
    const top = await measureStageTop(page)
    // The point is near the middle of the block, where four pixels meet, but clearly inside one pixel.
    const place = { x: point.x + 9, y: point.y - top + 9 }
    const shown = await readColour(page, place)
    const again = await openPage(new URL(page.url()).search + new URL(page.url()).hash, wide)
    await again.locator('#card').getByText('Paid on Base').waitFor({ state: 'attached' })
    await waitForColour(again, place, shown)
  })

  test('the page reads the wall only once, however many repaints arrive afterwards', async () => {
    const page = await newPage()
    const reads: string[] = []
    page.on('request', (request) => {
      const path = new URL(request.url()).pathname
      if (/canvas|blocks|feed|tail/.test(path) && path.startsWith('/api/')) reads.push(path)
    })
    await goToFollowingPage(page, getServer().url.href)
    for (let colour = 0; colour < 20; colour++)
      getServer().repaintBlock(rainbowBlock, new Uint8Array(100).fill(colour).toBase64())
    getServer().sellBlock(openBlock, { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null })
    await page.getByText('5 of 14,400 blocks sold').waitFor()
    expect(reads).toEqual(['/api/canvas.bin', '/api/blocks'])
  })

  test('a double click zooms in and leaves no details open', async () => {
    const page = await openPage('#800,450,8')
    await repeatUntilAnswered(
      (timeout) => page.waitForURL(/,20$/, { timeout }),
      async () => {
        // If an earlier attempt was too slow for a double click, its single clicks opened the details, so Escape closes
        // them first.
        await page.keyboard.press('Escape')
        await page.mouse.dblclick(640, 400)
      },
    )
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('a double tap zooms in and opens no details', async () => {
    const page = await openPage('#800,450,8', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    // The taps are made in the page itself, because taps that are sent one by one may arrive too late for a double tap.
    await page.evaluate(() => {
      const wall = document.getElementById('wall')
      const init = { bubbles: true, pointerId: 1, pointerType: 'touch', clientX: 195, clientY: 400 }
      if (wall) wall.setPointerCapture = () => {}
      for (const type of ['pointerdown', 'pointerup', 'pointerdown', 'pointerup'])
        wall?.dispatchEvent(new PointerEvent(type, init))
    })
    await page.waitForURL(/,20$/)
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('Tab and the arrow keys move a cursor over the blocks, and a description of each block is announced', async () => {
    const page = await openPage()
    await page.getByRole('button', { name: 'Send your agent' }).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowLeft')
    await page.locator('.tooltip').getByText('Mallory').waitFor()
    await page.locator('#spoken').getByText('Block 79,44. <b onclick').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    expect(await page.locator('#card summary').textContent()).toBe('Block 79,44')
    await page.keyboard.press('Escape')
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('nothing is drawn while nothing changes', async () => {
    const page = await openPage()
    const point = await hoverBlock(page, rainbowBlock)
    await openDetails(page, point)
    await page.locator('#card').getByText('Paid on Base').waitFor({ state: 'attached' })
    const drawn = await page.evaluate(async () => {
      const before = Reflect.get(window, 'draws')
      for (let frame = 0; frame < 30; frame++) await new Promise(requestAnimationFrame)
      return Reflect.get(window, 'draws') - before
    })
    expect(drawn).toBe(0)
  })

  test('on a phone, a pinch zooms in and a tap opens the details of a block', async () => {
    const page = await openPage('#all', {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 2,
    })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
    const middle = computeMiddle(
      computeBlockBox(fitWall(await measureStage(page)), await measureStage(page), nastyBlock),
    )
    const top = await measureStageTop(page)
    await actAndWaitForDraw(page, () => pinch(page, { x: middle.x, y: middle.y + top }, 10, 100))
    // Before the pinch, this point was on another block, four blocks away.
    await openDetails(page, { x: middle.x + 8, y: middle.y + 8 + top }, 'finger')
    expect(await page.locator('#card summary').textContent()).toBe('Block 79,44')
    const card = await page.locator('#card').boundingBox()
    expect(card?.x).toBe(0)
    expect(card?.width).toBe(360)
    await page.locator('#card .close').tap()
    expect(await page.isVisible('#card')).toBe(false)
  })

  test('after the graphics context is lost, the wall is drawn again', async () => {
    const page = await openPage()
    const camera = await zoomToBlock(page, rainbowBlock, 20)
    await actAndWaitForDraw(page, () => page.evaluate(loseContext))
    await waitForColour(
      page,
      await locatePixel(page, camera, rainbowBlock, 4, 5),
      PALETTE[computeRainbowColour(4, 5)] ?? '',
    )
  })

  test('a failed read of the wall is shown as an error, and can be retried', async () => {
    const page = await newPage()
    getServer().setStatus(503)
    await page.goto(getServer().url.href)
    await page.getByText('Could not load the wall.').waitFor()
    getServer().setStatus(200)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('4 of 14,400 blocks sold').waitFor()
    expect(await page.isVisible('#notice')).toBe(false)
    // Chromium itself reports the 503.
    expect(troubles.splice(0)).toHaveLength(1)
  })

  test('a mouse click shows no focus ring around the stage, even if an arrow key was pressed before', async () => {
    const page = await openPage()
    const isFocusVisible = () => page.locator('#wall').evaluate((element) => element.matches(':focus-visible'))
    await page.locator('#wall').focus()
    await page.keyboard.press('ArrowUp')
    expect(await isFocusVisible()).toBe(true)
    await page.keyboard.press('Escape')
    await page.mouse.click(200, 300)
    expect(await isFocusVisible()).toBe(false)
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('wall')
  })
})
