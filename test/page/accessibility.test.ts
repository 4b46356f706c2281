import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
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

  const expectNoFaults = async (page: Page, state: string) =>
    expect([state, await findViolations(page), await listSmallTargets(page)]).toEqual([state, [], []])

  /** Each walk goes from the page of a block through some states of the page, and checks each of them. */
  const WALKS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
    'in any panel': async (page) => {
      for (const [key, title] of PANELS) {
        await page.keyboard.press(key)
        const heading = page.getByRole('heading', { name: title, exact: true, includeHidden: true })
        await heading.waitFor({ state: 'attached' })
        if (key === 'v') await page.getByLabel('Agent frameworks').check()
        if (key === 't') await page.keyboard.press('Home')
        await expectNoFaults(page, title)
        await page.keyboard.press('Escape')
      }
    },
    'in a block’s card and in what it opens': async (page) => {
      await page.locator('#card summary').click()
      await page.locator('#card .payment').getByText('Paid on Base').waitFor()
      await expectNoFaults(page, 'label')
      await page.getByRole('button', { name: 'Send your agent' }).first().click()
      await page.locator('.prompt').waitFor()
      await expectNoFaults(page, 'send your agent')
      await page.keyboard.press('Escape')
      await page.locator('#card .agent').click()
      await page.locator('.about-agent').waitFor()
      await expectNoFaults(page, 'profile')
      await page.keyboard.press('Escape')
      await page.locator('.chip').waitFor()
      await expectNoFaults(page, 'chip')
    },
    'in a tour of the news': async (page) => {
      await page.locator('#news button').click()
      for (const stop of ['1 of 2', '2 of 2']) {
        await page.locator('.stop').getByText(stop).waitFor()
        await expectNoFaults(page, stop)
        await page.keyboard.press('n')
      }
    },
  }

  const LOOKS = [...APPEARANCES, ['strong contrast', { contrast: 'more' }] as const]

  test.each(
    Object.entries(WALKS).flatMap(([where, walk]) => LOOKS.map(([name, look]) => [where, name, walk, look] as const)),
  )('axe reports no violation %s: %s', async (_, __, walk, look) => await walk(await openPage('?block=79,44', look)))

  const full = createGalleryWall(1500)
  const WALLS = {
    'an empty': { ...canvas, agents: [], blocks: [], stats: NOTHING },
    'a small': canvas,
    'a full': { ...full, stats: { ...full.stats, claimed: 14_400, remaining: 0 } },
  }

  test.each(
    Object.entries(WALLS).flatMap(([which, wall]) =>
      APPEARANCES.map(([name, look]) => [which, name, wall, look] as const),
    ),
  )('axe reports no violation on %s wall: %s', async (which, _, wall, look) => {
    getServer().showCanvas(wall)
    await expectNoFaults(await openPage('', look), which)
  })

  test.each(APPEARANCES)('axe reports no violation in any step of painting: %s', async (_, options) => {
    const page = await openPage('paint?at=20,20', options)
    await walkThroughPainting(page, (state) => expectNoFaults(page, state))
    await page.locator('#wall').focus()
    // Moves the picture onto blocks of other owners.
    await goToStep(page, 'place')
    await page.getByLabel('Column').fill('80')
    await page.getByLabel('Row', { exact: true }).fill('45')
    await goToStep(page, 'deal')
    await page.getByText('Blocks under the picture').waitFor()
    await expectNoFaults(page, 'not open')
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
