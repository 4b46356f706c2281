import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { IS_LONG_RUN } from '../support/long-run.ts'
import { listCutOffTexts, listUnreachableControls } from '../support/page/axe.ts'
import { walkThroughPainting } from '../support/page/studio-driver.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: the page loses nothing when it is enlarged to 200 % and 400 %. Method: windows of 1,280 x 720 and 1,280 x 1,024
// then have room for 640 x 360 and 320 x 256 CSS pixels. In every state, every control can be scrolled into the window,
// and no text is cut off.

const browser = await openTestBrowser()

describe.skipIf('reason' in browser)('an enlarged page, in Chromium', () => {
  const { openPage } = setUpTestPages(browser, { width: 320, height: 256 })

  const listHiddenParts = async (page: Page, state: string) => [
    state,
    await listUnreachableControls(page),
    await listCutOffTexts(page),
    await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
  ]
  const createEmptyReport = (state: string) => [state, [], [], 0]

  // Anything that is reachable in the smaller window usually is in the larger one too, so only a long run tests both.
  const ENLARGED = [[320, 256], ...(IS_LONG_RUN ? [[640, 360] as const] : [])] as const

  test.each(ENLARGED)(
    'in a window of %i x %i pixels, everything on the wall’s page can be reached and read',
    async (width, height) => {
      const page = await openPage('', { viewport: { width, height } })
      expect(await listHiddenParts(page, 'home')).toEqual(createEmptyReport('home'))
      for (const panel of ['find', 'view', 'time', 'share', 'about', 'agent']) {
        await page.locator(`button[data-panel=${panel}]`).first().click()
        await page.locator('#panel').waitFor()
        expect(await listHiddenParts(page, panel)).toEqual(createEmptyReport(panel))
        await page.keyboard.press('Escape')
      }
      const label = await openPage('?work=79,44', { viewport: { width, height } })
      await label.locator('#card summary').click()
      await label.locator('#card .payment').getByText('Paid on Base').waitFor()
      expect(await listHiddenParts(label, 'label')).toEqual(createEmptyReport('label'))
      await label.locator('#card .agent').click()
      await label.locator('.about-agent').waitFor()
      expect(await listHiddenParts(label, 'profile')).toEqual(createEmptyReport('profile'))
    },
  )

  test.each(ENLARGED)(
    'in a window of %i x %i pixels, everything in each step of painting can be reached and read',
    async (width, height) => {
      const page = await openPage('paint?at=20,20', { viewport: { width, height } })
      await walkThroughPainting(page, async (state) =>
        expect(await listHiddenParts(page, state)).toEqual(createEmptyReport(state)),
      )
    },
  )
})
