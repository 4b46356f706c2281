/** A short message over the stage, which disappears by itself. */

import { query, createElement } from './dom.ts'

const SHOWN_MS = 6000

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for some seconds. */
export function toast(text: string) {
  const element = query('toast', HTMLElement)
  element.replaceChildren(createElement('span', '', text))
  clearTimeout(timer)
  timer = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}
