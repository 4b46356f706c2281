import { describe, expect, test } from 'bun:test'
import { formatCoord } from '../../shared/wall.ts'
import { rainbowBlock } from '../support/page/sample-wall.ts'
import { openTestBrowser, setUpTestPages } from '../support/page/test-page.ts'

// Goal: a visitor can report an artwork from its card, and sees whether the report was received. Method: the built
// page, with responses to the report that the test chooses.

const browser = await openTestBrowser()

describe.skipIf('reason' in browser)('the form for reports, in Chromium', () => {
  const { getServer, openPage, troubles } = setUpTestPages(browser, { width: 960, height: 700 })

  test('a report is sent with its reason and note, can be retried after an error, and is confirmed in the details of the artwork', async () => {
    const page = await openPage(`?block=${formatCoord(rainbowBlock)}`)
    const sent: unknown[] = []
    let status = 429
    await page.route('**/api/reports', async (route) => {
      sent.push(route.request().postDataJSON())
      const json = status === 200 ? { received: true } : { error: 'too_many_requests', message: 'Wait a minute.' }
      await route.fulfill({ status, json })
    })
    await page.getByRole('button', { name: 'Report this artwork' }).click()
    await page.locator('#card select').selectOption('scam')
    await page.locator('#card .report input').fill(' The link leads to a copy of a bank’s page. ')
    await page.getByRole('button', { name: 'Send report' }).click()
    await page.getByText('Wait a minute.').waitFor()
    // The form still contains the typed text, so Enter sends the same report.
    status = 200
    await page.locator('#card .report input').press('Enter')
    await page.getByText('Thank you. Only the operator sees your report').waitFor()
    const note = 'The link leads to a copy of a bank’s page.'
    expect(sent).toEqual(Array.from({ length: 2 }, () => ({ block: formatCoord(rainbowBlock), reason: 'scam', note })))
    expect(await page.locator('#card .report button').count()).toBe(0)
    // Chromium itself reports the refused request.
    expect(troubles.splice(0).filter((text) => !text.includes('429'))).toEqual([])
    expect(getServer().asked.some((path) => path.startsWith('/api/reports'))).toBe(false)
  })
})
