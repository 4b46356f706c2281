/** Copies text to the clipboard and saves files as downloads. */

import { createButton } from './dom.ts'

/** A button that copies text, and then shows for a moment whether that succeeded. */
export function createCopyButton(label: string, text: () => string): HTMLButtonElement {
  const element = createButton('copy', [label], () => {
    const showResult = (copied: boolean) => {
      element.textContent = copied ? 'Copied' : 'Could not copy'
      setTimeout(() => element.replaceChildren(label), 1500)
    }
    void copyText(text()).then(showResult)
  })
  return element
}

/**
 * Copies text to the clipboard; returns whether that succeeded. Browsers offer no clipboard to pages served over plain
 * HTTP.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** Saves a file as a download; does nothing if the file is null. */
export function saveFile(file: Blob | null, name: string) {
  if (file === null) return
  const anchor = document.createElement('a')
  anchor.href = URL.createObjectURL(file)
  anchor.download = name
  anchor.click()
  // The browser has read the address by the next turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(anchor.href), 0)
}
