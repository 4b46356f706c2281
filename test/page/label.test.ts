import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { HEIGHT, WIDTH } from '../../shared/wall.ts'
import { fitWall, type Point } from '../../viewer/camera/camera.ts'
import { IS_LONG_RUN } from '../support/long-run.ts'
import { openDetails, measureStageTop, measureStage } from '../support/page/driver.ts'
import { createGalleryWall } from '../support/page/gallery.ts'
import { requireBlockAt, canvas, rainbowBlock } from '../support/page/sample-wall.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'
import { createPrng } from '../support/prng.ts'

// Goal: wherever an opened artwork is on the wall, its details are next to it, complete and reachable. Method: the test
// clicks at random positions on a wall of many artworks, and checks the details once the deed has arrived.

const browser = await openTestBrowser()
const CLICKS = IS_LONG_RUN ? 100 : 3
const EDGE = 10
const MORE_WINDOWS = [
  [1440, 900],
  [640, 360],
] as const
const WINDOWS = [[1280, 720], [390, 844], ...(IS_LONG_RUN ? MORE_WINDOWS : [])] as const
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }

/** Returns how far the details reach beyond the stage, and whether all of them can be scrolled into view. */
const measureOverhang = (page: Page) =>
  page.evaluate(() => {
    const measureBox = (id: string) => document.getElementById(id)?.getBoundingClientRect() ?? new DOMRect()
    const [card, stage] = [measureBox('card'), measureBox('stage')]
    const body = document.querySelector('#card .body')
    const reaches = body === null || getComputedStyle(body).overflowY === 'auto'
    const cut = [stage.left - card.left, stage.top - card.top, card.right - stage.right, card.bottom - stage.bottom]
    return { out: Math.max(0, ...cut.map(Math.round)), reaches }
  })

describe.skipIf('reason' in browser)('the details of an artwork, in Chromium', () => {
  const { getServer, openPage } = setUpTestPages(browser, { width: 960, height: 600 })

  test.each(WINDOWS)('at %i x %i pixels, the details are never cut off, whatever is clicked', async (width, height) => {
    getServer().showCanvas(createGalleryWall(1500))
    const page = await openPage('#all', { viewport: { width, height } })
    const [view, top] = [await measureStage(page), await measureStageTop(page)]
    const { zoom } = fitWall(view)
    const prng = createPrng(width)
    // The pointer's position is rounded to whole screen pixels, so at the very edge of the wall a click may miss the
    // wall.
    const pickOffset = (side: number) => (EDGE + prng.nextInt(side - 2 * EDGE) - side / 2) * zoom
    // Two quick clicks close together would count as a double click.
    const pickPointAwayFrom = (last: Point): Point => {
      const point = { x: pickOffset(WIDTH), y: pickOffset(HEIGHT) }
      return Math.hypot(point.x - last.x, point.y - last.y) < 50 ? pickPointAwayFrom(last) : point
    }
    let point: Point = { x: 0, y: 0 }
    for (let click = 0; click < CLICKS; click++) {
      point = pickPointAwayFrom(point)
      await openDetails(page, { x: view.width / 2 + point.x, y: top + view.height / 2 + point.y })
      if ((await page.locator('#card .payment').count()) > 0)
        await page.locator('#card .payment').getByText('Paid on Base').waitFor({ state: 'attached' })
      expect(await measureOverhang(page)).toEqual({ out: 0, reaches: true })
      if (click % 3 === 0 && (await page.locator('#card summary').count()) > 0) {
        await page.evaluate(() => document.querySelector<HTMLElement>('#card summary')?.click())
        await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
        expect(await measureOverhang(page)).toEqual({ out: 0, reaches: true })
      }
      await page.keyboard.press('Escape')
      await page.keyboard.press('0')
    }
  })

  test('the details of an artwork contain its picture, and do not cover the artwork on the wall', async () => {
    const page = await openPage('?work=80,45', { viewport: { width: 1280, height: 720 } })
    await page.locator('#card .title').getByText('Hello from a machine.').waitFor()
    const picture = page.locator('#card .frame canvas')
    expect(
      await picture.evaluate((element) => [element.getAttribute('width'), element.getAttribute('height')]),
    ).toEqual(['20', '10'])
    const card = await page.locator('#card').boundingBox()
    // The artwork has twenty by ten wall pixels, at zoom 16, in the middle of the stage.
    expect(card !== null && (card.x > 640 + 160 || card.x + card.width < 640 - 160)).toBe(true)
    expect(await page.title()).toBe('Hello from a machine. by Ada · Pixel Wall')
  })

  test('the details of an artwork without a picture say that the owner has not painted one or the operator has hidden it', async () => {
    const blocks = canvas.blocks.map(({ px, ...block }) =>
      block.i === requireBlockAt(79, 44) ? block : { ...block, ...(px ? { px } : {}) },
    )
    getServer().showCanvas({ ...canvas, blocks })
    const page = await openPage('?work=79,44')
    await page.locator('#card').getByText('or the operator has hidden it').waitFor()
  })

  test('the first step back closes the panel, the second one closes the details, and the forward button opens the details again', async () => {
    const page = await openPage('#all', { viewport: { width: 1280, height: 720 } })
    await page.keyboard.press('/')
    await page.keyboard.type('hello')
    await page.keyboard.press('Enter')
    await page.locator('#card').waitFor()
    await page.waitForURL(/work=80,45/)
    // Each step back closes one layer.
    await page.goBack()
    await page.locator('#panel').waitFor({ state: 'hidden' })
    expect(await page.isVisible('#card')).toBe(true)
    await page.goBack()
    await page.locator('#card').waitFor({ state: 'hidden' })
    expect(await page.title()).toBe('Pixel Wall')
    await page.goForward()
    await page.locator('#card').getByText('Hello from a machine.').waitFor()
    await page.locator('#card').getByRole('button', { name: 'Close', exact: true }).click()
    await page.waitForFunction(() => !location.search.includes('work'))
  })

  test('if a visitor closes the details of one block and immediately opens those of another block, the new details stay open', async () => {
    const page = await openPage('#800,450,20')
    await page.locator('#wall').focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.locator('#card').waitFor()
    await page.evaluate(async () => {
      const pressKey = (key: string) =>
        document.getElementById('wall')?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      const { promise, resolve } = Promise.withResolvers()
      window.addEventListener('popstate', resolve, { once: true })
      for (const key of ['Escape', 'ArrowRight', 'Enter']) pressKey(key)
      await promise
    })
    expect(await page.isVisible('#card')).toBe(true)
    await page.goBack()
    await page.locator('#card').waitFor({ state: 'hidden' })
  })

  test('the focus moves into the details and back to the wall, and is never lost', async () => {
    const page = await openPage('#all')
    const readFocus = () =>
      page.evaluate(() => [document.activeElement?.id, document.activeElement?.closest('#card') !== null])
    await page.getByRole('button', { name: 'Send your agent' }).focus()
    await page.keyboard.press('Tab')
    expect(await readFocus()).toEqual(['wall', false])
    // A tooltip is shown, and it contains nothing that could take the focus.
    await page.keyboard.press('Tab')
    expect(await readFocus()).toEqual(['', false])
    expect(await page.evaluate(() => document.activeElement !== document.body)).toBe(true)
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.locator('#card').waitFor()
    await page.keyboard.press('Tab')
    expect((await readFocus())[1]).toBe(true)
    await page.keyboard.press('Escape')
    expect(await readFocus()).toEqual(['wall', false])
  })

  test('a repaint elsewhere leaves the details unchanged, and a repaint of the shown artwork updates them', async () => {
    const page = await openPage('?work=80,45')
    await page.locator('#card summary').click()
    const isSameElement = () => page.evaluate(() => Reflect.get(document.querySelector('#card .title') ?? {}, 'seen'))
    await page.evaluate(() => Reflect.set(document.querySelector('#card .title') ?? {}, 'seen', true))
    const red = new Uint8Array(100).fill(180).toBase64()
    getServer().repaintBlock(requireBlockAt(79, 44), new Uint8Array(100).fill(215).toBase64())
    getServer().sellBlock(requireBlockAt(0, 0), { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null })
    // Once the count includes the sale, the page has also applied the repaint, which came first.
    await page.getByText('5 of 14,400 blocks sold').waitFor()
    expect(await isSameElement()).toBe(true)
    getServer().repaintBlock(rainbowBlock, red)
    await page.waitForFunction(() => Reflect.get(document.querySelector('#card .title') ?? {}, 'seen') !== true)
    expect(await page.locator('#card details').getAttribute('open')).toBe('')
  })

  test('on a phone, the first tap opens the nearest artwork in a sheet, and the Details button expands the sheet', async () => {
    const page = await openPage('#all', phone)
    const stage = await page.locator('#stage').boundingBox()
    if (stage === null) throw new Error('there is no stage')
    // The tap is a few pixels to the left of the artworks in the middle of the wall.
    await openDetails(page, { x: stage.x + stage.width / 2 - 6, y: stage.y + stage.height / 2 }, 'finger')
    await page.waitForURL(/(block|work)=/)
    const measureHeight = async () => (await page.locator('#card').boundingBox())?.height ?? 0
    const button = await page.locator('#card').getByRole('button', { name: 'Share' }).boundingBox()
    const sheet = await page.locator('#card').boundingBox()
    expect(button !== null && sheet !== null && button.y + button.height <= sheet.y + sheet.height).toBe(true)
    expect(button?.height).toBeGreaterThanOrEqual(44)
    expect(await page.locator('#card').getByRole('button', { name: 'Zoom in' }).count()).toBe(0)
    const before = await measureHeight()
    await page.locator('#card summary').click()
    await page.getByRole('button', { name: 'Details' }).tap()
    await page.waitForFunction(
      (height) => (document.getElementById('card')?.getBoundingClientRect().height ?? 0) > height,
      before,
    )
    expect(await measureOverhang(page)).toEqual({ out: 0, reaches: true })
  })

  test('in the details, the link of an artwork is more than twice as wide as the Share button, and a click on the picture zooms in', async () => {
    const page = await openPage('?work=80,45#800,450,3')
    const card = page.locator('#card')
    const measureWidth = async (name: string) =>
      (await card.getByRole(name === 'example.com' ? 'link' : 'button', { name }).boundingBox())?.width ?? 0
    expect(await measureWidth('example.com')).toBeGreaterThan(2 * (await measureWidth('Share')))
    const before = page.url()
    await card.getByRole('button', { name: 'Zoom in' }).click()
    await page.waitForURL((url) => url.href !== before)
    expect(Number(page.url().split(',').at(-1))).toBeGreaterThan(3)
  })

  test('in the details, a long message has no box around it, and a long name is aligned to the start', async () => {
    const [first, ...others] = canvas.blocks
    if (first === undefined) throw new Error('the made-up wall is empty')
    getServer().showCanvas({ ...canvas, blocks: [{ ...first, m: 'word '.repeat(50).trim() }, ...others] })
    const page = await openPage('?block=79,44')
    const message = page.locator('#card p.message')
    expect(await message.evaluate((element) => getComputedStyle(element).boxShadow)).toBe('none')
    const agent = page.locator('#card .agent')
    expect(await agent.evaluate((element) => getComputedStyle(element).textAlign)).toBe('start')
  })

  test('a title in a right-to-left script is shown from right to left', async () => {
    const [mallory, ...others] = canvas.blocks
    if (mallory === undefined) throw new Error('the made-up wall is empty')
    getServer().showCanvas({ ...canvas, blocks: [{ ...mallory, m: 'مرحبا بالعالم' }, ...others] })
    const page = await openPage('?block=79,44')
    const side = await page.locator('#card .title').evaluate((element) => getComputedStyle(element).direction)
    expect(side).toBe('rtl')
  })

  test('when a section of the details unfolds, its heading stays under the pointer', async () => {
    const page = await openPage('?work=80,45', { viewport: { width: 1280, height: 600 } })
    const summary = page.locator('#card summary')
    const before = await summary.boundingBox()
    await summary.click()
    await page.locator('#card .payment').getByText('Paid on Base').waitFor()
    expect((await summary.boundingBox())?.y).toBe(before?.y ?? 0)
  })
})
