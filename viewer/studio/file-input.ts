/** How a picture comes in: chosen, dropped or pasted. */

import { find, make } from '../ui/dom.ts'
import type { Flaw } from './image-worker.ts'
import type { Opened } from './sketch.ts'

const flaws: Readonly<Record<Flaw, string>> = {
  unreadable: 'This is no picture that your browser can read.',
  'too-many-pixels': 'The picture has over 16 million pixels. Take a smaller one.',
}

/** Hands over each picture that comes in. */
export function listenForPictures(onFile: (file: File) => void) {
  const chooser = find('file', HTMLInputElement)
  const take = (files: FileList | undefined | null) => {
    const [file] = files ?? []
    if (file) onFile(file)
    return file !== undefined
  }
  chooser.addEventListener('change', () => {
    take(chooser.files)
    // So that the same file, drawn on meanwhile, can be chosen again.
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

/** Says what became of a picture. */
export function tellOpened(opened: Opened | Flaw) {
  const isFlawed = typeof opened === 'string'
  find('flaw', HTMLElement).textContent = isFlawed ? flaws[opened] : ''
  if (isFlawed) return
  const size = `, ${opened.width} × ${opened.height} pixels`
  find('opened', HTMLElement).replaceChildren(make('bdi', '', opened.name), size)
}
