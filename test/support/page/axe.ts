/** Checks of a page's accessibility: axe's rules, small targets, and controls or texts that are cut off. */

import type { Frame, Page } from 'playwright-core'
import { IS_LONG_RUN } from '../long-run.ts'

const DESKTOP = { viewport: { width: 1280, height: 720 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

// Two desktops, one of them also enlarged to 200 %, and a phone, each in both themes.
const EVERY_APPEARANCE = [
  DESKTOP,
  { viewport: { width: 1440, height: 900 } },
  { viewport: { width: 640, height: 360 } },
  PHONE,
].flatMap((size) => (['dark', 'light'] as const).map((colorScheme) => ({ ...size, colorScheme })))

/** The named appearances to test: each theme once, or in a long run every window size in both themes. */
export const APPEARANCES = (
  IS_LONG_RUN
    ? EVERY_APPEARANCE
    : ([
        { ...DESKTOP, colorScheme: 'dark' },
        { ...PHONE, colorScheme: 'light' },
      ] as const)
).map((options) => [`${options.viewport.width} x ${options.viewport.height}, ${options.colorScheme}`, options] as const)

const axe = await Bun.file(new URL(import.meta.resolve('axe-core/axe.min.js'))).text()

/** Each rule that axe reports as broken, with the elements that break it. */
export async function findViolations(page: Page | Frame): Promise<unknown> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(window, 'axe').run(document, { resultTypes: ['violations'] })
    return violations.map((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) => [
      violation.id,
      violation.nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
    ])
  })
}

/** The HTML of controls less than 44 CSS pixels wide or high, which are too small for a finger. */
export const listSmallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, input, select')].flatMap((element) => {
      const { width, height } = (element.closest('label') ?? element).getBoundingClientRect()
      return width === 0 || (width >= 44 && height >= 44) ? [] : [element.outerHTML]
    }),
  )

/** The HTML of controls that cannot be scrolled completely into the window, or are covered there. */
export const listUnreachableControls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isScrolled = (element: Element | null): boolean =>
      element !== null &&
      (isScrolled(element.parentElement) ||
        (element.scrollTop + element.scrollLeft !== 0 && getComputedStyle(element).overflow.includes('hidden')))
    const isReachable = (element: Element) => {
      element.scrollIntoView({ block: 'center' })
      const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
      const isIn =
        left >= -0.5 &&
        right <= innerWidth + 0.5 &&
        (height > innerHeight || (top >= -0.5 && bottom <= innerHeight + 0.5))
      const hit = document.elementFromPoint(left + width / 2, Math.max(1, top + Math.min(height, innerHeight) / 2))
      return (
        isIn && !isScrolled(element.parentElement) && hit !== null && (element.contains(hit) || hit.contains(element))
      )
    }
    return [
      ...document.querySelectorAll('button, a[href], input, select, summary, [tabindex="0"]:not(canvas)'),
    ].flatMap((element) =>
      element.checkVisibility() && element.getBoundingClientRect().width > 0 && !isReachable(element)
        ? [element.outerHTML]
        : [],
    )
  })

/**
 * Texts that their own box cuts off. Names over the wall are exempt, because the panel next to the wall shows them in
 * full.
 */
export const listCutOffTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [
      ...document.body.querySelectorAll<HTMLElement>('h1, h2, p, span, button, a, label, summary, output, dd, dt, li'),
    ].flatMap((element) => {
      const { overflowX, overflowY, clipPath } = getComputedStyle(element)
      const isCut =
        clipPath === 'none' &&
        ((overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) ||
          (overflowY === 'hidden' && element.scrollHeight > element.clientHeight + 1))
      return element.checkVisibility() && isCut && element.closest('.labels') === null ? [element.textContent] : []
    }),
  )
