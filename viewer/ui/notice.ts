/** What the page says when it cannot show the wall. */

import { make } from './dom.ts'

/** Says something in the middle of the stage, with a button where there is something to try. */
export function say(notice: HTMLElement, text: string, retry?: () => void) {
  notice.replaceChildren(make('p', '', text))
  if (retry) {
    const button = make('button', '', 'Try again')
    button.setAttribute('type', 'button')
    button.addEventListener('click', retry)
    notice.append(button)
  }
  notice.hidden = false
}

/** Falls silent. */
export function hush(notice: HTMLElement) {
  notice.hidden = true
}
