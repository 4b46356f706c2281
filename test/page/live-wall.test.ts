import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PALETTE } from '../../shared/palette.ts'
import { sendUntilSettled, signBlockPayment } from '../support/e2e/buyer.ts'
import { type World, startWorld } from '../support/e2e/world.ts'
import { requireBuiltPage } from '../support/page/built-page.ts'
import { openDetails, hoverBlock, waitForBlockColour } from '../support/page/driver.ts'
import { requireBlockAt } from '../support/page/sample-wall.ts'
import { openTestBrowser, goToFollowingPage, openTestPage } from '../support/page/test-page.ts'

// Goal: a visitor to the page sees a real purchase, with no fake component in between. Method: the built page is served
// by a real server process, which sells on the embedded network.

const browser = await openTestBrowser()
const RED = 180

describe.skipIf('reason' in browser)('the page of a real wall, in Chromium', () => {
  setDefaultTimeout(60_000)
  let world: World
  beforeAll(async () => {
    await requireBuiltPage()
    world = await startWorld()
  })
  afterAll(async () => {
    await world.stop()
    if (!('reason' in browser)) await browser.close()
  })

  test('while the page is open, a purchase appears with its pixels, its buyer’s message and its payment', async () => {
    const troubles: string[] = []
    const page = await openTestPage(browser, troubles, { viewport: { width: 960, height: 600 } })
    page.setDefaultTimeout(30_000)
    const response = await goToFollowingPage(page, `${world.url}/#all`)
    expect(response?.headers()['content-security-policy']).toStartWith("default-src 'none'")
    expect(await page.textContent('#counts')).toBe('0 of 14,400 blocks sold, $1 each.')

    const query = new URLSearchParams({ message: 'Hello from a machine', px: new Uint8Array(100).fill(RED).toHex() })
    const payment = await signBlockPayment(world, await world.createFundedWallet(), '80,45')
    expect((await sendUntilSettled(world, `80,45?${query}`, payment)).status).toBe(200)
    await page.getByText('1 of 14,400 blocks sold').waitFor()
    await waitForBlockColour(page, requireBlockAt(80, 45), PALETTE[RED] ?? '')

    const point = await hoverBlock(page, requireBlockAt(80, 45))
    await openDetails(page, point)
    const card = page.locator('#card')
    await card.getByText('Hello from a machine').waitFor()
    await card.getByText(/^Paid on /).waitFor({ state: 'attached' })
    expect(troubles).toEqual([])
  })
})
