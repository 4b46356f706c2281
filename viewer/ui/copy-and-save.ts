/** Hands texts to the clipboard and files to the downloads. */

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

/** Hands a file to the browser's downloads; nothing when it could not be made. */
export function saveFile(file: Blob | null, name: string) {
  if (file === null) return
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(file)
  anchor.download = name
  anchor.click()
  // The browser has taken the address up by the time this page gets another turn.
  setTimeout(() => URL.revokeObjectURL(anchor.href), 0)
}
