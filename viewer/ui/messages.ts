/** Messages over the stage: a notice that stays, and a toast that disappears automatically. */

import { createButton, createElement, queryElement } from './dom.ts'

const findNotice = () => queryElement('notice', HTMLElement)

/** Shows a message in the middle of the stage, with a button to retry. */
export function showNotice(text: string, retry: () => void) {
  findNotice().replaceChildren(
    createElement('div.message', createElement('p', text), createButton('', ['Try again'], retry)),
  )
  findNotice().hidden = false
}

/** Hides the notice, including the one that the page shows when no script has loaded. */
export function hideNotice() {
  findNotice().hidden = true
  findNotice().classList.remove('late')
}

const SHOWN_MS = 6000

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for a few seconds. */
export function showToast(text: string) {
  const element = queryElement('toast', HTMLElement)
  element.replaceChildren(createElement('span', text))
  clearTimeout(timer)
  timer = setTimeout(() => element.replaceChildren(), SHOWN_MS)
}
