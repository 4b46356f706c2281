/** What the page says when it cannot show the wall. */

import { button, find, make } from './dom.ts'

const element = () => find('notice', HTMLElement)

/** Shows a text in the middle of the stage, with a button to try again. */
export function showNotice(text: string, retry: () => void) {
  element().replaceChildren(make('p', '', text), button('', ['Try again'], retry))
  element().hidden = false
}

/** Takes the text away. */
export const hideNotice = () => void (element().hidden = true)
