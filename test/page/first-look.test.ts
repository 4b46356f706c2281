import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { PALETTE } from '../../shared/palette.ts'
import { TOTAL_BLOCKS } from '../../shared/wall.ts'
import { dark } from '../../viewer/theme.ts'
import { OPEN } from '../../viewer/wall/pixel-buffer.ts'
import { readColour, countDraws, waitUntilReady, waitForColour, measureStage } from '../support/page/driver.ts'
import { createGalleryWall } from '../support/page/gallery.ts'
import { canvas, nastyBlock, openBlock, computeRainbowColour } from '../support/page/sample-wall.ts'
import { openTestBrowser, goToFollowingPage, setUpTestPages } from '../support/page/test-page.ts'

// Goal: every visitor understands immediately what the page is, whatever the window, the wall, the link or the error.

const browser = await openTestBrowser()
const nothing = { claimed: 0, remaining: 14_400, agents: 0, lastClaimedAt: null, lastSaleId: 0 }
const emptyWall = { ...canvas, agents: [], blocks: [], stats: nothing }
const white = new Uint8Array(100).fill(215).toBase64()

/** Runs in the page before the page's own code: collects all layout shifts in `window.shifts`. */
function recordShifts() {
  const shifts: string[] = []
  Reflect.set(window, 'shifts', shifts)
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push(JSON.stringify(entry))
  }).observe({ type: 'layout-shift', buffered: true })
}

/** Overlapping pairs of elements in the header and the toolbar. */
const listCollisions = (page: Page) =>
  page.evaluate(() => {
    const parts = [...document.querySelectorAll('header > *, header p, .ways > *, #tools > *, .zoom > *')]
    const boxes = parts.flatMap((element) => {
      const box = element.getBoundingClientRect()
      return box.width > 1 && box.height > 1 ? [{ element, box }] : []
    })
    return boxes.flatMap(({ element, box }, i) =>
      boxes.slice(i + 1).flatMap(({ element: other, box: next }) => {
        if (element.contains(other) || other.contains(element)) return []
        const across = Math.min(box.right, next.right) - Math.max(box.left, next.left)
        const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top)
        return across > 0.5 && down > 0.5 ? [`${element.textContent} / ${other.textContent}`] : []
      }),
    )
  })

describe.skipIf('reason' in browser)('the first look, in Chromium', () => {
  const { getServer, newPage, openPage, troubles } = setUpTestPages(browser, { width: 960, height: 600 })

  test('one line says what the wall is, what a block costs and how many blocks are sold', async () => {
    const page = await openPage('')
    expect((await page.locator('.line p').allInnerTexts()).slice(0, 2)).toEqual([
      'A wall only machines can buy.',
      '4 of 14,400 blocks sold, $1 each.',
    ])
    // The test wall has no sales of today, so the news is its last sale.
    expect(await page.locator('#news').innerText()).toMatch(/^Last sale .+, to <b onclick/)
  })

  test.each([320, 390, 820, 1440, 3840])(
    'nothing moves while the page loads in a window that is %d pixels wide',
    async (width) => {
      getServer().showCanvas(createGalleryWall(1500))
      const page = await newPage({ viewport: { width, height: 844 } })
      await page.addInitScript(recordShifts)
      await page.goto(getServer().url.href)
      await waitUntilReady(page)
      await page.locator('#news button').waitFor()
      expect(await page.evaluate(() => Reflect.get(window, 'shifts'))).toEqual([])
      // On a phone, the next visit shows no headline, not even in its first frame.
      await page.reload()
      await waitUntilReady(page)
      expect(await page.getByText('A wall only machines can buy.').isVisible()).toBe(width > 600)
      expect(await page.evaluate(() => Reflect.get(window, 'shifts'))).toEqual([])
    },
  )

  test('the first pixels are drawn at their final positions', async () => {
    getServer().pausePixelsAfter(8000)
    const page = await newPage()
    await page.goto(getServer().url.href)
    const { width, height } = await measureStage(page)
    const inRainbow = { x: width / 2 + 33, y: height / 2 + 33 }
    await waitForColour(page, inRainbow, PALETTE[computeRainbowColour(5, 5)] ?? '')
    expect(await page.textContent('#counts')).toBe('4 of 14,400 blocks sold, $1 each.')
    getServer().pausePixelsAfter(undefined)
    await waitUntilReady(page)
    await waitForColour(page, inRainbow, PALETTE[computeRainbowColour(5, 5)] ?? '')
  })

  test('nothing in the header or the toolbar overlaps, at any window width', async () => {
    const page = await openPage('')
    for (const width of [320, 360, 390, 480, 601, 640, 700, 760, 761, 820, 901, 1000, 1280, 1920]) {
      await page.setViewportSize({ width, height: 600 })
      expect([width, await listCollisions(page)]).toEqual([width, []])
      expect([width, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([width, width])
    }
  })

  test('the page explains the wall to visitors, and gives them a prompt for their agent', async () => {
    const page = await openPage('', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.getByRole('button', { name: 'What is this?' }).click()
    await page.getByText('only software agents can buy its 14,400 blocks').waitFor()
    await page.locator('#panel').getByRole('button', { name: 'Send your agent' }).click()
    await page.getByRole('button', { name: 'Copy prompt' }).click()
    await page.getByText('Copied').waitFor()
    const { origin } = getServer().url
    const prompt = await page.evaluate(() => navigator.clipboard.readText())
    expect(prompt).toStartWith(
      `Buy the open block nearest the centre on the pixel wall at ${origin} for me, and paint it.`,
    )
    expect(prompt).toContain(`${origin}/skill.md`)
    expect(prompt).toContain('1.00 USDC on eip155:8453')
    expect(prompt).toContain('wait for my approval')
    await page.keyboard.press('Escape')
    await page.goto(`${getServer().url.href}?block=100,20`)
    await page.locator('#card').getByRole('button', { name: 'Send your agent' }).click()
    await page.getByText('Buy block 100,20 on the pixel wall').waitFor()
  })

  test.each(['', 'paint'])('a page whose script has not loaded after eight seconds says so: /%s', async (path) => {
    const page = await newPage()
    await page.route(/assets[/](?:index|paint)-.*js$/, (route) => route.abort())
    const session = await page.context().newCDPSession(page)
    await session.send('Animation.enable')
    await session.send('Animation.setPlaybackRate', { playbackRate: 100 })
    await page.goto(`${getServer().url.href}${path}`)
    await page.getByText('This page’s script did not load.').waitFor()
    expect(await page.getByRole('link', { name: 'all artworks and agents' }).getAttribute('href')).toBe('/atlas')
    troubles.length = 0
  })

  test('after a failed read of the wall, the stage has the colour of the theme, and the read is retried automatically', async () => {
    const page = await newPage({ colorScheme: 'light' })
    getServer().setStatus(503)
    await page.goto(getServer().url.href)
    await page.getByText('Could not load the wall.').waitFor()
    expect(await readColour(page, { x: 5, y: 5 })).toBe('#e5dfd5')
    getServer().setStatus(200)
    await page.locator('#notice').waitFor({ state: 'hidden' })
    await waitUntilReady(page)
    troubles.length = 0
  })

  test('in the light theme, the stage is not black even before the wall arrives', async () => {
    const page = await newPage({ colorScheme: 'light' })
    getServer().pausePixelsAfter(1)
    await page.goto(getServer().url.href)
    expect(await readColour(page, { x: 5, y: 5 })).toBe('#e5dfd5')
    const view = await measureStage(page)
    expect(await readColour(page, { x: view.width / 2, y: view.height / 2 })).toBe('#e5dfd5')
    getServer().pausePixelsAfter(undefined)
    await waitUntilReady(page)
  })

  test('a printed page contains the server’s picture of the wall', async () => {
    const page = await openPage('')
    expect(getServer().asked).not.toContain('/wall.png')
    await page.emulateMedia({ media: 'print' })
    await page.waitForFunction(() => (document.querySelector<HTMLImageElement>('.printed')?.naturalWidth ?? 0) > 0)
    const shown = await page.locator('.printed').boundingBox()
    expect(shown?.width).toBeGreaterThan(800)
    expect(await page.isVisible('#wall')).toBe(false)
  })

  test('without scripts, the page shows a picture of the wall and a link to all artworks, and no control that would do nothing', async () => {
    const page = await newPage({ javaScriptEnabled: false })
    await page.goto(getServer().url.href)
    expect(await page.locator('button:visible').count()).toBe(0)
    expect(await page.locator('noscript img').isVisible()).toBe(true)
    expect(await page.getByRole('link', { name: 'all artworks and agents' }).getAttribute('href')).toBe('/atlas')
    expect(await listCollisions(page)).toEqual([])
    await page.goto(`${getServer().url.href}paint`)
    expect(await page.locator(':is(button, input, select, summary):visible').count()).toBe(0)
    expect(await page.locator('noscript p').isVisible()).toBe(true)
    expect(await page.getByRole('link', { name: 'the wall' }).getAttribute('href')).toBe('/')
    expect(await listCollisions(page)).toEqual([])
  })

  test('a wall without sales shows its grid and edge, and invites visitors to buy the first block', async () => {
    getServer().showCanvas(emptyWall)
    const page = await openPage('')
    await page.getByText('Nobody has bought a block yet.').waitFor()
    expect(await page.isVisible('.glow')).toBe(true)
    const view = await measureStage(page)
    // Near the wall's upper left corner, the first point is on the wall's edge, and the second is inside an open block.
    const zoom = Math.min(view.width / 1600, view.height / 900) * 0.96
    const corner = { x: view.width / 2 - 800 * zoom, y: view.height / 2 - 450 * zoom }
    await waitForColour(page, { x: corner.x + 30, y: corner.y - 0.5 }, '#5d5449')
    await waitForColour(page, { x: corner.x + 30, y: corner.y + 30 }, '#1b1916')
    const linked = await openPage('?block=80,45')
    await linked.locator('#card').waitFor()
    expect(await linked.isVisible('.first')).toBe(false)
    getServer().sellBlock(openBlock, { id: 1, name: 'Carol', wallet: '0xcccc…cccc', framework: null })
    await page.locator('.first').waitFor({ state: 'hidden' })
  })

  test('if a link names an agent, a block or an artwork that does not exist, the page says so', async () => {
    for (const [address, word] of [
      ['?agent=999', 'The agent in this link is not on this wall.'],
      ['?block=200,7', 'The block in this link is not on this wall. Blocks run from 0,0 to 159,89.'],
      ['?work=100,20', 'Block 100,20 is not sold yet.'],
    ] as const) {
      const page = await openPage(address)
      await page.locator('#toast').getByText(word).waitFor()
    }
  })

  test('if the page shows a past moment, it states how many blocks were sold by then, and a button leads back to the present', async () => {
    const page = await openPage('?at=1760000000000')
    await page.getByText(/^1 of 14,400 blocks sold as of /).waitFor()
    await page.locator('.chip').getByRole('button', { name: 'Now' }).click()
    await page.getByText('4 of 14,400 blocks sold').waitFor()
    expect(await page.locator('.chip').count()).toBe(0)
  })

  test('in the history, a block that was not yet sold is shown as open, with its grid line', async () => {
    const page = await openPage('?at=1760000000000#795,445,16')
    const { width, height } = await measureStage(page)
    // Block 79,44 was sold after the shown moment: the first point is on the block's left edge, and the second is
    // inside it.
    await waitForColour(page, { x: width / 2 - 80, y: height / 2 }, dark.gridLine)
    await waitForColour(page, { x: width / 2, y: height / 2 }, dark.own[OPEN] ?? '')
  })

  test('when the minimap of a wall with 1,500 sold blocks appears, it is drawn with fewer than ten canvas writes, not block by block', async () => {
    getServer().showCanvas(createGalleryWall(1500))
    const page = await openPage('')
    await page.evaluate(() => {
      const { putImageData } = CanvasRenderingContext2D.prototype
      Reflect.set(window, 'puts', 0)
      const countAndPut = function (this: unknown, ...given: unknown[]) {
        Reflect.set(window, 'puts', Reflect.get(window, 'puts') + 1)
        return Reflect.apply(putImageData, this, given)
      }
      Reflect.set(CanvasRenderingContext2D.prototype, 'putImageData', countAndPut)
    })
    for (let press = 0; press < 6; press++) await page.keyboard.press('+')
    await page.locator('.minimap').waitFor()
    expect(await page.evaluate(() => Reflect.get(window, 'puts'))).toBeLessThan(10)
  })

  test('a repaint sends only its own block to the GPU', async () => {
    const page = await newPage()
    await page.addInitScript(() => {
      const calls: string[] = []
      Reflect.set(window, 'uploads', calls)
      const { texImage2D, texSubImage2D } = WebGLRenderingContext.prototype
      Reflect.set(WebGLRenderingContext.prototype, 'texImage2D', function (this: unknown, ...given: unknown[]) {
        calls.push(`whole ${String(given[3])}`)
        return Reflect.apply(texImage2D, this, given)
      })
      Reflect.set(WebGLRenderingContext.prototype, 'texSubImage2D', function (this: unknown, ...given: unknown[]) {
        calls.push(`part ${String(given[4])} x ${String(given[5])}`)
        return Reflect.apply(texSubImage2D, this, given)
      })
    })
    await page.addInitScript(countDraws)
    await goToFollowingPage(page, `${getServer().url.href}#all`)
    await waitUntilReady(page)
    await page.evaluate(() => Reflect.get(window, 'uploads').splice(0))
    getServer().repaintBlock(nastyBlock, white)
    await page.waitForFunction(() => Reflect.get(window, 'uploads').length > 0)
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    expect(await page.evaluate(() => Reflect.get(window, 'uploads'))).toEqual(['part 10 x 10'])
  })

  test('before the whole wall has arrived, the panel that explains the wall states the price but no counts, and adds the counts later', async () => {
    getServer().pausePixelsAfter(TOTAL_BLOCKS / 2)
    const page = await newPage()
    await page.goto(getServer().url.href)
    await page.getByRole('button', { name: 'What is this?' }).click()
    await page.getByText('An agent buys a block for $1 in USDC').waitFor()
    expect(await page.locator('#panel').textContent()).not.toContain('blocks are sold')
    getServer().pausePixelsAfter(undefined)
    await page.getByText(`${canvas.stats.claimed} blocks are sold, `).waitFor()
  })

  test('a sold-out wall does not invite anybody to buy', async () => {
    getServer().showCanvas({ ...canvas, stats: { ...canvas.stats, claimed: 14_400, remaining: 0 } })
    const page = await openPage('')
    expect(await page.textContent('#counts')).toBe('All 14,400 blocks are sold, at $1 each.')
    expect(await page.getByRole('button', { name: 'Send your agent' }).count()).toBe(0)
    await page.getByRole('button', { name: 'What is this?' }).click()
    await page.getByText('14,400 blocks are sold, 0 are available').waitFor()
    expect(await page.getByRole('button', { name: 'Send your agent' }).count()).toBe(0)
  })

  test('if a part of the page cannot be loaded, a readable message says so and offers to try again', async () => {
    getServer().showCanvas(createGalleryWall(1500))
    const page = await newPage()
    await page.route('**/lazy-ui*.js', (route) => route.abort())
    await page.goto(getServer().url.href)
    await page.getByText('Part of this page could not be loaded.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).isVisible()).toBe(true)
    const ground = await page
      .locator('#notice .message')
      .evaluate((element) => getComputedStyle(element).backgroundColor)
    expect(ground).toBe('rgb(29, 26, 23)')
    troubles.length = 0
  })
})
