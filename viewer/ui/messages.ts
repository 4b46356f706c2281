/** Messages over the stage: a notice that stays, and a toast that disappears automatically. */

import { button, createElement, query } from './dom.ts'

const element = () => query('notice', HTMLElement)

/** Shows a message in the middle of the stage, with a button to retry. */
export function showNotice(text: string, retry: () => void) {
  element().replaceChildren(createElement('div.message', createElement('p', text), button('', ['Try again'], retry)))
  element().hidden = false
}

/** Hides the message, including the one that the page shows if no script loads. */
export function hideNotice() {
  element().hidden = true
  element().classList.remove('late')
}

const SHOWN_MS = 6000

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for some seconds. */
export function toast(text: string) {
  const element = query('toast', HTMLElement)
  element.replaceChildren(createElement('span', text))
  clearTimeout(timer)
  timer = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}
