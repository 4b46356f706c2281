import { describe, expect, test } from 'bun:test'
import { listAreaBlocks } from '../../shared/area.ts'
import { computeBlockBox, fitWall } from '../../viewer/camera/camera.ts'
import { dark } from '../../viewer/theme.ts'
import { OPEN } from '../../viewer/wall/pixel-buffer.ts'
import {
  actAndWaitForDraw,
  readColour,
  computeMiddle,
  waitUntilReady,
  waitForColour,
  waitForBlockColour,
  measureStageTop,
  measureStage,
} from '../support/page/driver.ts'
import { requireBlockAt, nastyBlock, openBlock, rainbowBlock } from '../support/page/sample-wall.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: every panel next to the wall, and the details, work by keyboard and by touch. Method: the built page, and a
// sample server whose wall the test changes.

const browser = await openTestBrowser()
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
const red = new Uint8Array(100).fill(180).toBase64()
const white = new Uint8Array(100).fill(215).toBase64()
const carol = { id: 3, name: 'Carol', wallet: '0xcccc…cccc', framework: null }

describe.skipIf('reason' in browser)('panels and details next to the wall, in Chromium', () => {
  const { getServer, newPage, openPage, troubles } = setUpTestPages(browser, { width: 960, height: 600 })

  test('a search finds an agent, and selecting the agent labels its artworks and dims all other blocks', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    await page.keyboard.type('ada')
    await page.getByRole('button', { name: /Ada.*3 blocks/ }).waitFor()
    await actAndWaitForDraw(page, () => page.keyboard.press('Enter'))
    expect(await page.locator('.about-agent > .name').textContent()).toContain('Ada')
    expect(await page.locator('.labels span:not([hidden])').allTextContents()).toContain('Ada · 2 × 1')
    const view = await measureStage(page)
    // The agent's blocks are in the middle of the stage; the corner of the stage shows an open block, dimmed.
    const corner = await readColour(page, { x: 2, y: view.height - 2 })
    await page.getByRole('button', { name: 'Deselect' }).click()
    await waitForColour(page, { x: 2, y: view.height - 2 }, (colour) => colour !== corner)
  })

  test('the help says where to report content, but only if the wall has a contact', async () => {
    const page = await newPage()
    const contact = '<meta name="contact" content="mailto:ops@wall.test"></head>'
    await page.route(getServer().url.href, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replace('</head>', contact) })
    })
    await page.goto(getServer().url.href)
    await waitUntilReady(page)
    await page.keyboard.press('?')
    const link = page.locator('#panel a[href^="mailto"]')
    expect([await link.textContent(), await link.getAttribute('href')]).toEqual([
      'ops@wall.test',
      'mailto:ops@wall.test',
    ])
    const unnamed = await openPage()
    await unnamed.keyboard.press('?')
    await unnamed.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await unnamed.getByText('Report content').count()).toBe(0)
  })

  test('the panel for sending an agent shows the MCP address inline, within a sentence', async () => {
    const page = await openPage()
    await page.getByRole('button', { name: 'Send your agent' }).click()
    const address = page.locator('#panel .facts code')
    expect(await address.evaluate((element) => getComputedStyle(element).display)).toBe('inline')
  })

  test('text from other users is inert in the lists of artworks and agents', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    expect(await page.locator('.works .name').allTextContents()).toEqual([
      '<script>window.hurt = true</script><img src=x…',
      'Hello from a machine.',
      'Untitled',
    ])
    await page.locator('#panel select').selectOption('blocks')
    expect(await page.locator('.works .name').allTextContents()).toEqual([
      'Ada',
      '<b onclick="window.hurt = true">Mallory</b>',
    ])
    expect(await page.locator('.works :is(b, script, img)').count()).toBe(0)
  })

  test('the scrubber shows the wall as it was at the selected moment, and a link to a moment opens the wall at that moment', async () => {
    const page = await openPage('?at=1760000000000#all')
    await waitForBlockColour(page, nastyBlock, dark.own[OPEN] ?? '')
    await page.keyboard.press('t')
    const scrubber = page.getByRole('slider')
    expect(await scrubber.inputValue()).toBe('1')
    expect(await page.locator('#panel output').textContent()).toMatch(/ · 1 block$/)
    await scrubber.focus()
    await page.keyboard.press('End')
    await page.locator('#panel output').getByText('Now · 4 blocks').waitFor()
    await waitForBlockColour(page, nastyBlock, '#ff0000')
    await page.keyboard.press('Home')
    await page.waitForURL(/at=1759999999999/)
  })

  test('the scrubber can show the wall before a repaint, and gets one more step if another repaint arrives while it shows that moment', async () => {
    getServer().repaintBlock(rainbowBlock, red)
    const page = await openPage()
    await waitForBlockColour(page, rainbowBlock, '#ff0000')
    await page.keyboard.press('t')
    await page.locator('#panel input[max="5"]').waitFor()
    await page.getByRole('slider').focus()
    await page.keyboard.press('ArrowLeft')
    const isMixed = (colour: string) => colour !== '#ff0000' && colour !== '#ffffff'
    await waitForBlockColour(page, rainbowBlock, isMixed)
    expect(await page.locator('#panel output').textContent()).toMatch(/ · 4 blocks$/)
    getServer().repaintBlock(rainbowBlock, white)
    await page.locator('#panel input[max="6"]').waitFor()
    await waitForBlockColour(page, rainbowBlock, isMixed)
    await page.keyboard.press('End')
    await waitForBlockColour(page, rainbowBlock, '#ffffff')
  })

  test('playing the history runs through every sale to the present', async () => {
    const page = await openPage()
    await page.keyboard.press('t')
    await page.evaluate(() => {
      const output = document.querySelector('#panel output')
      const words: string[] = []
      Reflect.set(window, 'words', words)
      if (output) new MutationObserver(() => words.push(output.textContent)).observe(output, { childList: true })
    })
    await page.getByRole('button', { name: 'Play' }).click()
    await page.waitForFunction(() => Reflect.get(window, 'words').at(-1) === 'Now · 4 blocks')
    const heard: string[] = await page.evaluate(() => Reflect.get(window, 'words'))
    const counts = heard.map((text) => text.split(' · ')[1])
    expect([...new Set(counts)]).toEqual(['0 blocks', '1 block', '2 blocks', '3 blocks', '4 blocks'])
    expect(await page.getByRole('button', { name: 'Play' }).count()).toBe(1)
  })

  test('a sale and a repaint appear without a reload, and the sale is announced', async () => {
    const page = await openPage()
    getServer().sellBlock(openBlock, carol, red)
    getServer().repaintBlock(rainbowBlock, red)
    await page.locator('#news').getByText('Carol just bought a block').waitFor()
    expect(await page.textContent('#counts')).toBe('5 of 14,400 blocks sold, $1 each.')
    await page.getByRole('button', { name: /just bought/ }).click()
    expect(await page.locator('#card .title').textContent()).toBe('Untitled')
    await page.keyboard.press('Escape')
    await page.keyboard.press('0')
    await page.mouse.move(2, 2)
    await waitForBlockColour(page, openBlock, '#ff0000')
    await waitForBlockColour(page, rainbowBlock, '#ff0000')
  })

  test('a purchase of an area is shown as one event, even if its blocks arrive in two parts', async () => {
    const page = await openPage('#all', { reducedMotion: 'no-preference' })
    await page.evaluate(() => {
      const layer = document.querySelector('.pulses')
      Reflect.set(window, 'pulses', 0)
      const countPulses = (records: MutationRecord[]) =>
        Reflect.set(
          window,
          'pulses',
          records.reduce((sum, record) => sum + record.addedNodes.length, Reflect.get(window, 'pulses')),
        )
      if (layer) new MutationObserver(countPulses).observe(layer, { childList: true })
    })
    // Animations are so slow that the highlight of the first part is still visible when the second part arrives.
    const session = await page.context().newCDPSession(page)
    await session.send('Animation.enable')
    await session.send('Animation.setPlaybackRate', { playbackRate: 0.02 })
    const area = { col: 20, row: 60, w: 4, h: 3 }
    const t = getServer().sellArea(listAreaBlocks(area).slice(0, 5), carol)
    await page.locator('#news').getByText('Carol just bought').waitFor()
    getServer().sellArea(listAreaBlocks(area).slice(5), carol, t)
    await page.locator('#news').getByText('Carol just bought 12 blocks').waitFor()
    expect(await page.locator('#news button').count()).toBe(1)
    expect(await page.evaluate(() => Reflect.get(window, 'pulses'))).toBe(1)
    const { zoom } = fitWall(await measureStage(page))
    await page.waitForFunction((scale) => {
      const { width = 0, height = 0 } = document.querySelector('.pulse')?.getBoundingClientRect() ?? {}
      return Math.round(width / scale) === 40 && Math.round(height / scale) === 30
    }, zoom)
    await page.getByRole('button', { name: /just bought/ }).click()
    await page.locator('#card .facts').getByText('4 × 3 blocks').waitFor()
  })

  test('if no live stream can be kept open, the page polls for sales', async () => {
    const page = await newPage()
    await page.clock.install()
    await page.route('**/api/live*', (route) => route.fulfill({ status: 503 }))
    await page.goto(getServer().url.href)
    const stale = page.locator('#stale').getByText('Out of date. Last updated')
    while (!(await stale.isVisible())) await page.clock.runFor(500)
    getServer().sellBlock(openBlock, carol)
    const news = page.locator('#news').getByText('Carol just bought a block')
    while (!(await news.isVisible())) await page.clock.runFor(500)
    expect(getServer().asked).toContain('/api/tail')
    await page.waitForFunction(() => document.getElementById('stale')?.textContent === '')
    // Chromium itself reports the refused streams.
    expect(troubles.splice(0)).toHaveLength(3)
  })

  test('between two shared streams, a page reads the tail of the log to get the changes that it missed', async () => {
    getServer().shareStream(true)
    const page = await newPage()
    const following = page.waitForResponse((response) => response.url().endsWith('/api/live/shared'))
    await page.goto(getServer().url.href)
    await following
    getServer().endStreams()
    getServer().sellBlock(openBlock, carol)
    await page.getByText('5 of 14,400 blocks sold').waitFor()
    expect(getServer().asked).toContain('/api/tail')
    getServer().sellBlock(requireBlockAt(150, 80), carol)
    await page.getByText('6 of 14,400 blocks sold').waitFor()
  })

  test('after the device was asleep, the page catches up with every sale', async () => {
    const page = await openPage()
    const sold = Array.from({ length: 450 }, (_, i) => requireBlockAt(i % 150, Math.floor(i / 150)))
    for (const block of sold) getServer().sellBlock(block, carol)
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    await page.getByText('454 of 14,400 blocks sold').waitFor()
    await page.locator('#news').waitFor()
  })

  test.each([320, 390, 820, 960])(
    'a page without a connection says that it is out of date, in a window that is %d pixels wide, and does not move the wall',
    async (width) => {
      const page = await newPage({ viewport: { width, height: 740 } })
      await page.goto(getServer().url.href)
      await waitUntilReady(page)
      await page.locator('#news button').waitFor()
      const before = await measureStage(page)
      await page.route('**/api/live*', (route) => route.abort())
      const wakePage = () => page.evaluate(() => window.dispatchEvent(new Event('online')))
      await wakePage()
      await page.getByText('Out of date. Last updated').waitFor()
      expect(await measureStage(page)).toEqual(before)
      await page.unroute('**/api/live*')
      await wakePage()
      await page.waitForFunction(() => document.getElementById('stale')?.textContent === '')
      // Chromium itself reports the lost requests.
      troubles.length = 0
    },
  )

  test('the rows of the wall are drawn as they arrive', async () => {
    // The row of `nastyBlock` arrives, and the row below it does not.
    getServer().pausePixelsAfter(rainbowBlock - 10)
    const page = await newPage()
    await page.goto(`${getServer().url.href}#all`)
    await waitForBlockColour(page, nastyBlock, '#ff0000')
    const view = await measureStage(page)
    const below = await readColour(page, computeMiddle(computeBlockBox(fitWall(view), view, rainbowBlock)))
    getServer().pausePixelsAfter(undefined)
    await waitForBlockColour(page, rainbowBlock, (colour) => colour !== below)
  })

  test('a link to an artwork shows the whole artwork, even if its pixels arrive before its deed', async () => {
    getServer().pausePixelsAfter(rainbowBlock + 10)
    const page = await newPage()
    await page.goto(`${getServer().url}?work=80,45`)
    await page.waitForFunction(() => Reflect.get(window, 'draws') > 0)
    getServer().pausePixelsAfter(undefined)
    await page.locator('#card .title').getByText('Hello from a machine.').waitFor()
    const { width, height } = await measureStage(page)
    // The middle of the stage is between the two blocks of the artwork, each 160 pixels wide.
    await waitForColour(page, { x: width / 2 - 140, y: height / 2 }, (colour) => colour !== dark.own[OPEN])
  })

  test('when the page is embedded in another page, it shows only the wall and a link to the full page', async () => {
    const page = await openPage('?embed=1')
    expect(await page.isVisible('header')).toBe(false)
    expect(await page.isVisible('#tools')).toBe(false)
    expect(await page.getByRole('link', { name: 'Pixel Wall' }).getAttribute('href')).toBe('/')
    expect(await measureStageTop(page)).toBe(0)
  })

  test('the minimap appears once a visitor has changed the view of the zoomed wall, and disappears when the whole wall is shown', async () => {
    const page = await openPage('#200,200,8')
    expect(await page.isVisible('.minimap')).toBe(false)
    await page.keyboard.press('-')
    await page.locator('.minimap').waitFor()
    const box = await page.locator('.minimap').boundingBox()
    if (box === null) throw new Error('there is no minimap')
    await page.mouse.click(box.x + box.width * 0.75, box.y + box.height / 2)
    await page.waitForURL(/#1[12]\d\d/)
    await page.keyboard.press('0')
    await page.locator('.minimap').waitFor({ state: 'hidden' })
  })

  test('a selected theme is kept after a reload', async () => {
    const page = await openPage()
    await page.keyboard.press('v')
    await page.getByLabel('High contrast').check()
    await page.reload()
    await page.waitForFunction(() => document.documentElement.dataset['theme'] === 'contrast')
  })

  test('on a phone, an agent can be found and selected by touch', async () => {
    const page = await openPage('#all', phone)
    await page.getByRole('button', { name: 'Find' }).tap()
    // Focusing the search field would open the phone's keyboard over the list.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BUTTON')
    await page.locator('#panel select').selectOption('blocks')
    await page.getByRole('button', { name: /Ada.*3 blocks/ }).tap()
    await page.locator('.about-agent').getByText('Ada').waitFor()
    const panel = await page.locator('#panel').boundingBox()
    expect(panel?.width).toBe(360)
    expect(panel && panel.height < 420).toBe(true)
  })

  test('no script of the page uses eval or Function, because the page’s content security policy forbids both', async () => {
    const made = /\bFunction\s*[.(]|\beval\s*\(/
    for await (const name of new Bun.Glob('**/*.js').scan(getServer().dist))
      expect([name, made.exec(await Bun.file(`${getServer().dist}/${name}`).text())?.[0]]).toEqual([name, undefined])
  })

  test('the gzipped files of the page stay within their size limits', async () => {
    const sizes: Record<string, number> = {}
    for await (const name of new Bun.Glob('**/*').scan(getServer().dist)) {
      sizes[name] = Bun.gzipSync(await Bun.file(`${getServer().dist}/${name}`).bytes(), { level: 9 }).length
    }
    const sumSizes = (pattern: RegExp) =>
      Object.entries(sizes).reduce((total, [name, size]) => total + (pattern.test(name) ? size : 0), 0)
    const first = /^(?:index\.html|assets\/(?:index|pixel-buffer)-.*)$/
    // Only the page for painting loads these files, and none of the files blocks its first view.
    const painting = /(?:paint|image-worker)[-.]/
    const wall = /^(?!.*(?:paint|chat|image-worker|timelapse-worker|offline-worker|icon|manifest)[-.])/
    console.info(`gzip bytes: first ${sumSizes(first)}, wall ${sumSizes(wall)}, paint ${sumSizes(painting)}`, sizes)
    expect(sumSizes(first)).toBeLessThanOrEqual(40_000)
    // The sum includes the form for reports, the tour, the stored wall and its last view, and the steps and links of
    // /paint.
    expect(sumSizes(wall)).toBeLessThanOrEqual(62_000)
    expect(sumSizes(painting)).toBeLessThanOrEqual(38_500)
  })

  test('a change of the wall does not move the focus in the list of artworks', async () => {
    const page = await openPage()
    await page.keyboard.press('/')
    const work = page.getByRole('button', { name: /^Hello from a machine/ })
    await work.focus()
    getServer().sellBlock(openBlock, carol)
    await page.getByText('Carol').first().waitFor()
    expect(await work.evaluate((element) => element === document.activeElement)).toBe(true)
  })
})
