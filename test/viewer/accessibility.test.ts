import { describe, expect, test } from 'bun:test'
import { smallTargets, violationsOf } from './stage/axe.ts'
import { canvas, openBlock } from './stage/sample-wall.ts'
import { browserForTests, visits } from './stage/visit.ts'

// Goal: the page is for everyone. Method: axe looks at each state in each theme, no target is smaller than 44 pixels, and
// the focus goes where a keyboard's user expects it.

const browser = await browserForTests()
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }
const carol = { id: 1, name: 'Carol', wallet: '0xcccc…cccc', framework: null }

describe.skipIf('reason' in browser)('the page for everyone, in Chromium', () => {
  const { server, openPage } = visits(browser, { width: 960, height: 600 })

  const PANELS = [
    ['/', 'Find'],
    ['v', 'View'],
    ['t', 'Time'],
    ['l', 'Share'],
    ['?', 'What is this?'],
  ] as const

  test.each([
    ['dark', {}],
    ['light', { colorScheme: 'light' }],
    ['strong contrast', { contrast: 'more' }],
    ['a phone', { ...phone, colorScheme: 'light' }],
  ] as const)('axe finds nothing to complain about in any state: %s', async (_, options) => {
    const page = await openPage('?block=79,44', options)
    await page.locator('#card summary').click()
    await page.locator('#card .payment').getByText('settled').waitFor()
    expect(await violationsOf(page)).toEqual([])
    expect(await smallTargets(page)).toEqual([])
    for (const [key, title] of PANELS) {
      await page.keyboard.press(key)
      await page.getByRole('heading', { name: title, exact: true, includeHidden: true }).waitFor({ state: 'attached' })
      if (key === 'v') await page.getByLabel('Framework of each agent').check()
      expect([title, await violationsOf(page)]).toEqual([title, []])
      expect([title, await smallTargets(page)]).toEqual([title, []])
      await page.keyboard.press('Escape')
    }
    await page.getByRole('button', { name: 'Send your agent' }).first().click()
    await page.locator('.prompt').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.locator('#card .agent').click()
    await page.locator('.about-agent').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.locator('.chip').waitFor()
    expect(await violationsOf(page)).toEqual([])
  })

  test('every panel opens by its key, takes the focus, and gives it back', async () => {
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

  test('axe does see a fault', async () => {
    const page = await openPage()
    await page.evaluate(() => document.getElementById('fit')?.removeAttribute('aria-label'))
    expect(JSON.stringify(await violationsOf(page))).toContain('button-name')
  })

  test('a wall nobody has bought of says how to be the first', async () => {
    const stats = { claimed: 0, remaining: 14_400, agents: 0, lastClaimedAt: null, lastSaleId: 0 }
    server().show({ ...canvas, agents: [], blocks: [], stats })
    const page = await openPage()
    await page.getByText('Nobody has bought a block yet.').waitFor()
    expect(await violationsOf(page)).toEqual([])
    server().sell(openBlock, carol)
    await page.evaluate(() => window.dispatchEvent(new Event('online')))
    await page.locator('.first').waitFor({ state: 'hidden' })
  })
})
