/** The message when the page cannot show the wall. */

import { button, query, createElement } from './dom.ts'

const element = () => query('notice', HTMLElement)

/** Shows a message in the middle of the stage, with a button to try again. */
export function showNotice(text: string, retry: () => void) {
  element().replaceChildren(
    createElement('div', 'message', createElement('p', '', text), button('', ['Try again'], retry)),
  )
  element().hidden = false
}

/** Hides the message, also the one that the page has for when no script arrives. */
export function hideNotice() {
  element().hidden = true
  element().classList.remove('late')
}
