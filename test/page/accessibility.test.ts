import { describe, expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { APPEARANCES, listSmallTargets, findViolations } from '../support/page/axe.ts'
import { createGalleryWall } from '../support/page/gallery.ts'
import { canvas } from '../support/page/sample-wall.ts'
import { goToStep, walkThroughPainting } from '../support/page/studio-driver.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: everyone can use the page. Method: axe checks each state in each theme, no target is smaller than 44 pixels,
// and the focus moves where keyboard users expect it.

const browser = await openTestBrowser()
const NOTHING = { claimed: 0, remaining: 14_400, agents: 0, lastClaimedAt: null, lastSaleId: 0 }

describe.skipIf('reason' in browser)('accessibility of the page, in Chromium', () => {
  const { getServer, openPage } = setUpTestPages(browser, { width: 960, height: 600 })

  const PANELS = [
    ['/', 'Find'],
    ['v', 'View'],
    ['t', 'History'],
    ['l', 'Share'],
    ['?', 'What is this?'],
  ] as const

  /** Returns the name of a state of the page, and the accessibility faults found in it. */
  const listFaults = async (page: Page, state: string) => [
    state,
    await findViolations(page),
    await listSmallTargets(page),
  ]
  const createCleanReport = (state: string) => [state, [], []]

  const auditPage = async (options: BrowserContextOptions) => {
    const page = await openPage('?block=79,44', options)
    await page.locator('#card summary').click()
    await page.locator('#card .payment').getByText('Paid on Base').waitFor()
    expect(await listFaults(page, 'label')).toEqual(createCleanReport('label'))
    for (const [key, title] of PANELS) {
      await page.keyboard.press(key)
      await page.getByRole('heading', { name: title, exact: true, includeHidden: true }).waitFor({ state: 'attached' })
      if (key === 'v') await page.getByLabel('Agent frameworks').check()
      if (key === 't') await page.keyboard.press('Home')
      expect(await listFaults(page, title)).toEqual(createCleanReport(title))
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'Send your agent' }).first().click()
    await page.locator('.prompt').waitFor()
    expect(await listFaults(page, 'send your agent')).toEqual(createCleanReport('send your agent'))
    await page.keyboard.press('Escape')
    await page.locator('#card .agent').click()
    await page.locator('.about-agent').waitFor()
    expect(await listFaults(page, 'profile')).toEqual(createCleanReport('profile'))
    await page.keyboard.press('Escape')
    await page.locator('.chip').waitFor()
    expect(await listFaults(page, 'chip')).toEqual(createCleanReport('chip'))
    await page.locator('#news button').click()
    for (const stop of ['1 of 2', '2 of 2']) {
      await page.locator('.stop').getByText(stop).waitFor()
      expect(await listFaults(page, stop)).toEqual(createCleanReport(stop))
      await page.keyboard.press('n')
    }
  }

  test.each([...APPEARANCES, ['strong contrast', { contrast: 'more' }] as const])(
    'axe reports no violation in any state of the page: %s',
    async (_, options) => await auditPage(options),
  )

  test.each(APPEARANCES)('axe reports no violation on an empty, a small and a full wall: %s', async (_, options) => {
    const full = createGalleryWall(1500)
    const walls = {
      empty: { ...canvas, agents: [], blocks: [], stats: NOTHING },
      small: canvas,
      full: { ...full, stats: { ...full.stats, claimed: 14_400, remaining: 0 } },
    }
    for (const [name, wall] of Object.entries(walls)) {
      getServer().showCanvas(wall)
      const page = await openPage('', options)
      expect(await listFaults(page, name)).toEqual(createCleanReport(name))
      await page.context().close()
    }
  })

  test.each(APPEARANCES)('axe reports no violation in any step of painting: %s', async (_, options) => {
    const page = await openPage('paint?at=20,20', options)
    await walkThroughPainting(page, async (state) =>
      expect(await listFaults(page, state)).toEqual(createCleanReport(state)),
    )
    await page.locator('#wall').focus()
    // Moves the picture onto blocks of other owners.
    await goToStep(page, 'place')
    await page.getByLabel('Column').fill('80')
    await page.getByLabel('Row', { exact: true }).fill('45')
    await goToStep(page, 'deal')
    await page.getByText('Blocks under the picture').waitFor()
    expect(await listFaults(page, 'not open')).toEqual(createCleanReport('not open'))
  })

  test('every panel opens with its key, takes the focus, and returns the focus to its button when it is closed', async () => {
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
})
