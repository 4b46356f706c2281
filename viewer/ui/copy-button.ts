/** A button for the clipboard. */

import { button } from './dom.ts'

/** A button that copies a text and says so for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const element = button('copy', [label], () => {
    const show = (copied: boolean) => {
      element.textContent = copied ? 'Copied' : 'Could not copy'
      setTimeout(() => element.replaceChildren(label), 1500)
    }
    // Browsers offer no clipboard to pages that came over plain http.
    if (!('clipboard' in navigator)) return show(false)
    void navigator.clipboard.writeText(text()).then(
      () => show(true),
      () => show(false),
    )
  })
  return element
}
