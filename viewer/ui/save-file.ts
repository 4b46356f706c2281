/** Downloads. */

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
