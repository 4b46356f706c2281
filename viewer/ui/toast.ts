/** A word that goes by itself, told over the stage. */

import { find, make } from './dom.ts'

const SHOWN_MS = 6000

let timer: ReturnType<typeof setTimeout> | undefined

/** Says something for a while. */
export function toast(text: string) {
  const element = find('toast', HTMLElement)
  element.replaceChildren(make('span', '', text))
  clearTimeout(timer)
  timer = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}
