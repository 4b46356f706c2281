/** Opens pictures: chosen, dropped or pasted. */

import { query, createElement } from '../ui/dom.ts'
import type { PictureError } from './image-worker.ts'
import type { OpenedPicture } from './sketch.ts'

const flaws: Readonly<Record<PictureError, string>> = {
  unreadable: 'This is no picture that your browser can read.',
  'too-many-pixels': 'The picture has over 16 million pixels. Take a smaller one.',
}

/** Calls `onFile` with each picture. */
export function listenForPictures(onFile: (file: File) => void) {
  const chooser = query('file', HTMLInputElement)
  const take = (files: FileList | undefined | null) => {
    const [file] = files ?? []
    if (file) onFile(file)
    return file !== undefined
  }
  chooser.addEventListener('change', () => {
    take(chooser.files)
    // So that the same file can be chosen again after it was edited.
    chooser.value = ''
  })
  window.addEventListener('paste', (event) => take(event.clipboardData?.files) && event.preventDefault())
  const dragging = (is: boolean) => document.body.classList.toggle('dropping', is)
  window.addEventListener('dragover', (event) => {
    event.preventDefault()
    dragging(true)
  })
  window.addEventListener('dragleave', (event) => event.relatedTarget === null && dragging(false))
  window.addEventListener('drop', (event) => {
    event.preventDefault()
    dragging(false)
    take(event.dataTransfer?.files)
  })
}

/** Shows which picture is open, or why it could not be opened. */
export function showOpened(opened: OpenedPicture | PictureError) {
  const isFlawed = typeof opened === 'string'
  query('flaw', HTMLElement).textContent = isFlawed ? flaws[opened] : ''
  if (isFlawed) return
  const size = `, ${opened.width} × ${opened.height} pixels`
  query('opened', HTMLElement).replaceChildren(createElement('bdi', '', opened.name), size)
}
