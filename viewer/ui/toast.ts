/** A short message over the stage, which disappears by itself. */

import { find, make } from './dom.ts'

const SHOWN_MS = 6000

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for some seconds. */
export function toast(text: string) {
  const element = find('toast', HTMLElement)
  element.replaceChildren(make('span', '', text))
  clearTimeout(timer)
  timer = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}
