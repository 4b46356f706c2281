import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Wallet } from '../../../server/local/wallets.ts'
import type { Deed } from '../../../shared/contract/block.ts'
import type { PaintedBlocks } from '../../../shared/contract/picture.ts'
import { toBlockOrder } from '../../../shared/pixels.ts'
import { lookAt } from '../../../viewer/camera/camera.ts'
import { sendUntilSettled, signBlockPayment } from '../../support/e2e/buyer.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { listSmallTargets, findViolations } from '../../support/page/axe.ts'
import { requireBuiltPage } from '../../support/page/built-page.ts'
import { waitUntilReady, measureStageTop, measureStage } from '../../support/page/driver.ts'
import {
  readOrder,
  downloadOrder,
  dropFile,
  installWallet,
  createNoisePng,
  Refusal,
  createGradientRows,
  goToStep,
} from '../../support/page/studio-driver.ts'
import { openTestBrowser, openTestPage } from '../../support/page/test-page.ts'
import { createFlatPng, buildPng, RGB, RGBA } from '../../support/picture-files.ts'
import { createPrng } from '../../support/prng.ts'

// Goal: the page for painting shows, prices and offers exactly what the service sells and accepts. Method: the built
// page is served by a real server process on the embedded network. The requests that the page offers are sent, and the
// signatures are real.

const browser = await openTestBrowser()
const root = `${import.meta.dir}/../../..`
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
const RED = 180

describe.skipIf('reason' in browser)('the page for painting, in Chromium, over a real wall', () => {
  setDefaultTimeout(60_000)
  let world: World
  let ada: Wallet // owns 82,45 and 83,45
  let bob: Wallet // owns 84,46
  let unfinished: Promise<Response> | undefined // a purchase that takes longer than its test
  const troubles: string[] = []

  const sellBlock = async (wallet: Wallet, coord: string) => {
    const px = new Uint8Array(100).fill(RED).toHex()
    const bought = await sendUntilSettled(world, `${coord}?px=${px}`, await signBlockPayment(world, wallet, coord))
    expect(bought.status).toBe(200)
  }

  const fetchDeed = async (coord: string): Promise<Deed> => {
    const deed: Deed = await (await fetch(`${world.url}/blocks/${coord}`)).json()
    return deed
  }

  const newPage = (options: BrowserContextOptions = {}) =>
    openTestPage(browser, troubles, { viewport: { width: 1100, height: 700 }, ...options })

  const goToPaint = async (page: Page, address: string) => {
    await page.goto(`${world.url}/paint${address}`)
    await waitUntilReady(page)
  }

  const openPage = async (address: string, options?: BrowserContextOptions) => {
    const page = await newPage(options)
    await goToPaint(page, address)
    return page
  }

  const locateCost = (page: Page) => page.locator('#cost')

  beforeAll(async () => {
    await requireBuiltPage()
    world = await startWorld()
    ada = await world.createFundedWallet(10)
    bob = await world.createFundedWallet(10)
    await sellBlock(ada, '82,45')
    await sellBlock(ada, '83,45')
    await sellBlock(bob, '84,46')
  })

  afterEach(async () => {
    if ('reason' in browser) return
    for (const context of browser.contexts()) await context.close()
    expect(troubles.splice(0)).toEqual([])
  })

  afterAll(async () => {
    if (unfinished) expect((await unfinished).status).toBe(200)
    await world.stop()
    if (!('reason' in browser)) await browser.close()
  })

  test('the wall and the page for painting link to each other, and the page for painting may load files only from its own origin', async () => {
    const page = await newPage()
    await page.goto(world.url)
    const [response] = await Promise.all([
      page.waitForResponse(`${world.url}/paint`),
      page.getByRole('link', { name: 'Paint' }).click(),
    ])
    expect(response.headers()['content-security-policy']).toEqual(
      expect.stringMatching(
        /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[^']+'; img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      ),
    )
    await page.getByRole('link', { name: 'The wall' }).click()
    await page.waitForURL(`${world.url}/`)
  })

  test('the page converts a dropped picture to exactly the same pixels as the service does, whatever the dithering, fit and file format', async () => {
    const page = await openPage('?at=20,20')
    const convertByService = async (picture: Uint8Array<ArrayBuffer>, query: string, type = 'image/png') => {
      const headers = { 'content-type': type }
      const response = await fetch(`${world.url}/api/pixels?${query}`, { method: 'POST', headers, body: picture })
      const { blocks }: PaintedBlocks = await response.json()
      return blocks.map(({ px }) => px).join('')
    }
    const convertByPage = async () => {
      const { w, pixels } = await readOrder(page)
      await goToStep(page, 'picture')
      return toBlockOrder(Uint8Array.fromBase64(pixels ?? ''), w).toHex()
    }

    const exact = createNoisePng(30, 20)
    await dropFile(page, 'exact.png', exact)
    await page.getByText('exact.png, 30 × 20 pixels').waitFor()
    expect(await convertByPage()).toBe(await convertByService(exact, 'w=3&h=2'))
    await page.getByLabel('Colours').selectOption('floyd-steinberg')
    expect(await convertByPage()).toBe(await convertByService(exact, 'w=3&h=2&dither=floyd-steinberg'))

    const odd = createNoisePng(57, 31)
    await dropFile(page, 'odd.png', odd)
    await page.getByText('odd.png, 57 × 31 pixels').waitFor()
    await goToStep(page, 'place')
    await page.getByLabel('Keep aspect ratio').uncheck()
    await page.getByLabel('Width in blocks').fill('4')
    await page.getByLabel('Height in blocks').fill('3')
    expect(await convertByPage()).toBe(await convertByService(odd, 'w=4&h=3&dither=floyd-steinberg'))
    await page.getByLabel('Fit').selectOption('contain')
    await page.getByLabel('Background colour').fill('#d75f00')
    expect(await convertByPage()).toBe(
      await convertByService(odd, 'w=4&h=3&dither=floyd-steinberg&fit=contain&background=d75f00'),
    )

    await page.getByLabel('Colours').selectOption('none')
    const clear = createNoisePng(40, 30, RGBA)
    await dropFile(page, 'clear.png', clear)
    await page.getByText('clear.png, 40 × 30 pixels').waitFor()
    expect(await convertByPage()).toBe(await convertByService(clear, 'w=4&h=3&fit=contain&background=d75f00'))
    const photo = Uint8Array.from(await new Bun.Image(createNoisePng(90, 60)).jpeg({ quality: 80 }).bytes())
    await dropFile(page, 'photo.jpg', photo)
    await page.getByText('photo.jpg, 90 × 60 pixels').waitFor()
    expect(await convertByPage()).toBe(await convertByService(photo, 'w=9&h=6&fit=contain', 'image/jpeg'))
  })

  test('a photograph is dithered and a logo is not, even if both are JPEG files, and the page says why', async () => {
    const page = await openPage('?at=20,20')
    const slope = buildPng(120, 80, RGB, createGradientRows(120, 80))
    await dropFile(page, 'slope.jpg', Uint8Array.from(await new Bun.Image(slope).jpeg({ quality: 80 }).bytes()))
    await page.getByText('This looks like a photo.').waitFor()
    expect(await page.getByLabel('Colours').inputValue()).toBe('floyd-steinberg')
    await dropFile(
      page,
      'logo.jpg',
      Uint8Array.from(await new Bun.Image(createFlatPng(120, 80, '#c03028')).jpeg().bytes()),
    )
    await page.getByText('This looks like a drawing.').waitFor()
    expect(await page.getByLabel('Colours').inputValue()).toBe('none')
  })

  test('when a picture is moved with keys, numbers or the pointer, the page shows how many blocks under it are available and what they cost', async () => {
    const page = await openPage('?at=81,45')
    await page.setInputFiles('#file', {
      name: 'a.png',
      mimeType: 'image/png',
      buffer: Buffer.from(createNoisePng(40, 20)),
    })
    await locateCost(page).getByText('Not available').waitFor()
    expect(await page.locator('#covered').allInnerTexts()).toEqual(['5 available\n3 owned by others'])
    await page.locator('#wall').focus()
    await page.keyboard.press('Shift+ArrowLeft')
    await locateCost(page).getByText('8.00 USDC for 8 blocks, at 1.00 USDC each, in one payment').waitFor()
    await goToStep(page, 'place')
    await page.getByLabel('Column').fill('82')
    // The highlighted button is the one that solves the problem, not the one that opens the next step.
    expect(await page.locator('#place .loud:visible, #ways .loud:visible').allTextContents()).toEqual([
      'Find available space',
    ])
    await goToStep(page, 'deal')
    await page.getByText('Blocks under the picture: 5 available, 3 owned by others.').waitFor()
    expect(await page.locator('#deal').getByRole('button', { name: 'Find available space' }).isVisible()).toBe(true)
    await page.getByLabel('Wallet address').fill(ada.address)
    await page.getByText('This wallet owns 2 blocks.').waitFor()
    expect(await page.locator('#covered').allInnerTexts()).toEqual(['5 available\n2 yours\n1 owned by others'])

    // Drags the picture three blocks to the left and one down.
    await goToStep(page, 'place')
    await page.getByRole('button', { name: 'Zoom to picture' }).click()
    const stage = await measureStage(page)
    const side = 10 * lookAt({ left: 790, top: 420, right: 890, bottom: 500 }, stage, 8).zoom
    const [x, y] = [stage.width / 2 + 20, stage.height / 2 + 20 + (await measureStageTop(page))]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x - 3 * side, y + side, { steps: 5 })
    await page.mouse.up()
    expect([
      await page.getByLabel('Column').inputValue(),
      await page.getByLabel('Row', { exact: true }).inputValue(),
    ]).toEqual(['79', '46'])

    await page.getByRole('button', { name: 'Find available space' }).click()
    await locateCost(page).getByText('8.00 USDC').waitFor()
  })

  test('if others have bought or are paying for blocks under the picture, the page shows that immediately, and does not offer the remaining blocks', async () => {
    const page = await openPage('?at=30,30')
    await dropFile(page, 'a.png', createNoisePng(30, 10))
    await locateCost(page).getByText('3.00 USDC').waitFor()
    await goToStep(page, 'deal')
    await page.locator('#take').waitFor()
    await sellBlock(bob, '31,30')
    await locateCost(page).getByText('1 owned by others').waitFor()
    expect(await page.isVisible('#take')).toBe(false)
    // The payment stays in progress until the page has shown that the block is being bought.
    world.facilitator.settle.setDefault('hang-before')
    const calls = world.facilitator.settle.countCalls()
    const payment = await signBlockPayment(world, bob, '32,31')
    unfinished = sendUntilSettled(world, '32,31', payment)
    await world.facilitator.settle.waitForCall(calls + 1)
    await goToStep(page, 'place')
    await page.getByLabel('Row', { exact: true }).fill('31')
    await locateCost(page).getByText('1 being bought by others').waitFor()
    await locateCost(page).getByText('Not available').waitFor()
    world.facilitator.settle.setDefault('honest')
  })

  test('a script downloaded from the page buys an area with one payment, and another script repaints the area', async () => {
    const page = await openPage('?at=10,44')
    const runScript = async () => {
      const file = `${root}/node_modules/.cache/pixel-wall-order-${process.pid}.mjs`
      await Bun.write(file, await downloadOrder(page, 'script'))
      const env = { PATH: Bun.env['PATH'] ?? '', PRIVATE_KEY: ada.privateKey }
      const said = await Bun.$`${process.execPath} ${file}`.env(env).text()
      await rm(file)
      return said
    }
    const comparePurchase = async () => {
      const { pixels } = await readOrder(page)
      const wanted = toBlockOrder(Uint8Array.fromBase64(pixels ?? ''), 2).toHex()
      const deeds = await Promise.all(['10,44', '11,44', '10,45', '11,45'].map(fetchDeed))
      const there = deeds.map((deed) => Uint8Array.fromBase64(deed.pixels ?? '').toHex()).join('')
      return [there === wanted, new Set(deeds.map(({ tx }) => tx)).size, deeds[3]?.message]
    }
    await dropFile(page, 'a.png', createNoisePng(20, 20))
    await page.getByText('a.png, 20 × 20 pixels').waitFor()
    await goToStep(page, 'words')
    await page.getByLabel('Message').fill('from a script & a page')
    await page.getByLabel('Message').blur()
    await locateCost(page).getByText('4.00 USDC').waitFor()
    const body = await readOrder(page)
    expect(await runScript()).toMatch(/^10,44,2x2 bought in 0x\w+\n$/)
    await locateCost(page).getByText('4 owned by others').waitFor()
    await page.getByLabel('Wallet address').fill(ada.address)
    await locateCost(page).getByText('Free to repaint 4 blocks, with one signature').waitFor()
    expect(body).toMatchObject({ at: '10,44', w: 2, h: 2, message: 'from a script & a page' })
    expect(await comparePurchase()).toEqual([true, 1, 'from a script & a page'])

    await dropFile(page, 'b.png', createNoisePng(20, 20, RGBA))
    await page.getByText('b.png, 20 × 20 pixels').waitFor()
    await goToStep(page, 'deal')
    expect(await runScript()).toBe('10,44,2x2 repainted\n')
    expect(await comparePurchase()).toEqual([true, 1, 'from a script & a page'])
  })

  test('an owner can repaint with a wallet in the browser, and after an error the page explains it and offers a retry', async () => {
    const page = await newPage()
    const asked: string[] = []
    const moods = ['declines', 'lies', 'honest']
    await installWallet(page, 'Testmask', async (method, [text = '', address]) => {
      if (method === 'eth_requestAccounts') return [ada.address]
      asked.push(method)
      expect(address).toBe(ada.address)
      const mood = moods.shift()
      if (mood === 'declines') throw new Refusal(4001, 'User rejected the request.')
      const raw = `0x${text.slice(2)}` as const
      return await (mood === 'lies' ? bob : ada).signMessage({ message: { raw } })
    })
    await goToPaint(page, '?at=82,45')
    await dropFile(page, 'a.png', createNoisePng(20, 10))
    await page.getByText('a.png, 20 × 10 pixels').waitFor()
    await goToStep(page, 'deal')
    await page.getByRole('button', { name: 'Connect Testmask' }).click()
    await page.getByRole('button', { name: 'Repaint 2 blocks' }).waitFor()
    expect([await findViolations(page), await listSmallTargets(page)]).toEqual([[], []])
    await page.getByRole('button', { name: 'Repaint 2 blocks' }).click()
    await page.getByText('You declined to sign.').waitFor()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.click()
    await page.getByText('The signature is not from').waitFor()

    // The request never arrives.
    await page.route('**/areas/82,45,2x1', (route) => route.abort(), { times: 1 })
    await again.click()
    await page.getByText('Could not reach the wall.').waitFor()
    await again.click()
    await page.getByText('Done. Your picture is on the wall.').waitFor()
    // The lost request was sent again with the same signature.
    expect(asked).toHaveLength(3)
    const { pixels } = await readOrder(page)
    const wanted = toBlockOrder(Uint8Array.fromBase64(pixels ?? ''), 2).toHex()
    const deeds = await Promise.all(['82,45', '83,45'].map(fetchDeed))
    expect(deeds.map((deed) => Uint8Array.fromBase64(deed.pixels ?? '').toHex()).join('')).toBe(wanted)
    // Chromium itself reports the 401 and the aborted request.
    expect(troubles.splice(0)).toHaveLength(2)
  })

  test('the page explains why it rejects a file, a wallet address or a link, says if a wallet owns no blocks, and says if it cannot reach the wall', async () => {
    const page = await openPage('?at=82,45')
    await dropFile(page, 'a.png', new TextEncoder().encode('no picture'))
    await page.getByText('Your browser cannot read this file as a picture.').waitFor()
    await dropFile(page, 'b.png', createNoisePng(20, 20))
    await page.getByText('b.png, 20 × 20 pixels').waitFor()
    expect(await page.locator('#flaw').textContent()).toBe('')
    await goToStep(page, 'deal')
    await page.getByLabel('Wallet address').fill(`0x${'1'.repeat(40)}`)
    await page.getByText('This wallet owns no blocks yet.').waitFor()
    await page.route('**/api/agents/*', (route) => route.abort(), { times: 1 })
    await page.getByLabel('Wallet address').fill(`0x${'2'.repeat(40)}`)
    await page.getByText('Could not reach the wall.').waitFor()
    await page.getByLabel('Wallet address').fill('0x12')
    await page.getByText('Enter an address: 0x followed by 40 hex digits.').waitFor()
    await goToStep(page, 'words')
    await page.getByLabel('Link').fill('http://example.org')
    await page.getByLabel('Link').blur()
    await page.getByText('The link must be an https URL').waitFor()
    // Chromium itself reports the 404 and the lost request.
    expect(troubles.splice(0)).toHaveLength(2)
  })

  test('the last step shows one primary button, which copies the order, or downloads it if it is too long to paste', async () => {
    const page = await openPage('?at=50,50', { ...phone, permissions: ['clipboard-read', 'clipboard-write'] })
    const chooseFile = (name: string, picture: Uint8Array) =>
      page.setInputFiles('#file', { name, mimeType: 'image/png', buffer: Buffer.from(picture) })
    const prng = createPrng(402)
    const noise = Uint8Array.from({ length: 160 * 481 }, (_, at) => (at % 481 === 0 ? 0 : prng.nextInt(256)))
    const loud = page.locator('#panel .loud:visible')
    await chooseFile('small.png', createNoisePng(20, 20))
    await goToStep(page, 'deal')
    await page.getByText('paste it into a message to your agent').waitFor()
    expect([await loud.allTextContents(), await loud.isEnabled()]).toEqual([['Copy the order'], true])
    expect(await loud.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    await loud.tap()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('"pixels": "')

    await goToStep(page, 'picture')
    await chooseFile('large.png', buildPng(160, 160, RGB, noise))
    await page.getByText('large.png, 160 × 160 pixels').waitFor()
    await goToStep(page, 'deal')
    await page.getByText('attach the file to a message to your agent').waitFor()
    expect(await loud.allTextContents()).toEqual(['Download the order'])
    const [file] = await Promise.all([page.waitForEvent('download'), loud.tap()])
    expect(await Bun.file(await file.path()).text()).toContain('"pixels": "')
    await page.getByText('too large for a link').waitFor()
  })

  test('the link to a plan opens the same plan in another page, and the page shows an error if the link is truncated', async () => {
    const page = await openPage('?at=20,60', { permissions: ['clipboard-read', 'clipboard-write'] })
    await dropFile(page, 'a.png', createNoisePng(50, 30))
    await page.getByText('a.png, 50 × 30 pixels').waitFor()
    await goToStep(page, 'words')
    await page.getByLabel('Message').fill('Look & see')
    await page.getByLabel('Message').blur()
    const body = await readOrder(page)
    await page.getByRole('button', { name: 'Copy link to this plan' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const asked: string[] = []
    const other = await newPage()
    other.on('request', (request) => asked.push(request.url()))
    await other.goto(link)
    await other.getByRole('heading', { name: 'Hand over' }).waitFor()
    expect(await readOrder(other)).toEqual(body)
    expect(body).toMatchObject({ at: '20,60', w: 5, h: 3, message: 'Look & see' })
    expect(asked.filter((url) => url.includes('plan='))).toEqual([])
    const cut = await newPage()
    await cut.goto(link.slice(0, -100))
    await cut.getByText('The plan in this link cannot be opened.').waitFor()
  })

  test('the page for painting can be used with the keyboard alone', async () => {
    const page = await openPage('?at=50,50')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const tabTo = async (isThere: string, key = 'Tab') => {
      for (let presses = 0; presses < 40; presses++) {
        await page.keyboard.press(key)
        if (await page.evaluate((selector) => document.activeElement?.matches(selector), isThere)) return
      }
      throw new Error(`no ${key} leads to ${isThere}`)
    }
    const chooser = page.waitForEvent('filechooser')
    await tabTo('#file')
    await page.keyboard.press('Enter')
    await (
      await chooser
    ).setFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(createNoisePng(20, 20)) })
    await locateCost(page).getByText('4.00 USDC').waitFor()
    await tabTo('#next')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Place')
    await tabTo('#w')
    await page.keyboard.press('ArrowUp')
    await locateCost(page).getByText('9.00 USDC for 9 blocks').waitFor()
    await tabTo('#wall', 'Shift+Tab')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowDown')
    await page
      .locator('#spoken')
      .getByText('Column 51, row 60. 9 available. 9.00 USDC for 9 blocks, at 1.00 USDC each, in one payment.')
      .waitFor({ state: 'attached' })
    for (const title of ['Words', 'Hand over']) {
      await tabTo('#next')
      await page.keyboard.press('Enter')
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(title)
    }
    await tabTo('#hand-over button')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toStartWith('Buy the area 51,60,3x3 of')
  })

  test('on a phone, a tap or a drag with one finger moves the picture', async () => {
    const page = await openPage('?at=50,50', phone)
    await page.setInputFiles('#file', {
      name: 'a.png',
      mimeType: 'image/png',
      buffer: Buffer.from(createNoisePng(20, 20)),
    })
    await locateCost(page).getByText('4.00 USDC').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
    await goToStep(page, 'place')
    const stage = await measureStage(page)
    const side = 10 * lookAt({ left: 470, top: 470, right: 550, bottom: 550 }, stage, 8).zoom
    const middle = { x: stage.width / 2, y: stage.height / 2 + (await measureStageTop(page)) }
    // The middle of the stage is also the middle of the picture.
    await page.touchscreen.tap(middle.x + 1.5 * side, middle.y + side / 8)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#col')?.value === '51')
    const session = await page.context().newCDPSession(page)
    const moveFinger = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: middle.y }] })
    await page.getByRole('button', { name: 'Zoom to picture' }).tap()
    await moveFinger('touchStart', middle.x)
    for (const share of [0.25, 0.5, 0.75, 1]) await moveFinger('touchMove', middle.x - share * 2 * side)
    await moveFinger('touchEnd', 0)
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>('#col')?.value === '49')
  })
})
