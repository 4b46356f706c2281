/** What is wrong with a page for those who see it, press it or hear it badly. */

import type { Page } from 'playwright-core'

const axe = await Bun.file(new URL(import.meta.resolve('axe-core/axe.min.js'))).text()

/** Each rule that axe finds broken, with the elements that break it. */
export async function violationsOf(page: Page): Promise<unknown> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
    return violations.map((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) => [
      violation.id,
      violation.nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
    ])
  })
}

/** What can be pressed and is smaller than a finger, 44 CSS pixels. */
export const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, input, select')].flatMap((element) => {
      const { width, height } = (element.closest('label') ?? element).getBoundingClientRect()
      return width === 0 || (width >= 44 && height >= 44) ? [] : [element.outerHTML]
    }),
  )
