/** Hands texts to the clipboard and files to the downloads. */

import { button } from './dom.ts'

/** A button that copies a text and says so for a moment. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const element = button('copy', [label], () => {
    const show = (copied: boolean) => {
      element.textContent = copied ? 'Copied' : 'Could not copy'
      setTimeout(() => element.replaceChildren(label), 1500)
    }
    void copyText(text()).then(show)
  })
  return element
}

/** Hands a text to the clipboard; answers whether it could. Browsers offer none to pages that came over plain http. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
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
