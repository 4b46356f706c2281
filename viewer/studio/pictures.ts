/** Opens pictures that are chosen, dropped or pasted, and has the image worker paint them. */

import { createElement, query } from '../ui/dom.ts'
import type { Job, JobResult, PictureError } from './image-worker.ts'
import type { OpenedPicture, PaintOptions, PaintedPicture } from './sketch.ts'

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

export type ImageClient = {
  /** Opens a picture in place of the one before. A later call replaces an earlier one, which then never resolves. */
  open(file: File): Promise<OpenedPicture | PictureError>
  /** Paints the open picture and calls `onPainted`; of several calls only the last one is painted. */
  paint(options: PaintOptions): void
}

/** Starts the worker. */
export function createImageClient(onPainted: (painted: PaintedPicture) => void): ImageClient {
  const worker = new Worker(new URL('./image-worker.ts', import.meta.url), { type: 'module', name: 'image-worker' })
  let number = 0
  let opening:
    | { readonly number: number; readonly file: File; resolve(opened: OpenedPicture | PictureError): void }
    | undefined
  let painting: { readonly number: number; readonly options: PaintOptions } | undefined // the job that runs
  let waiting: PaintOptions | undefined

  const send = (job: Job) => worker.postMessage(job)
  const begin = (options: PaintOptions) => {
    painting = { number: ++number, options }
    send({ number, paint: options })
  }
  const receive = (done: JobResult) => {
    if (done.number === opening?.number) {
      const { file, resolve } = opening
      opening = undefined
      if ('opened' in done) resolve({ name: file.name, ...done.opened })
      else if ('flaw' in done) resolve(done.flaw)
      return
    }
    if (painting === undefined || done.number !== painting.number) return
    const { options } = painting
    painting = undefined
    const next = waiting
    waiting = undefined
    if (next) begin(next)
    else if ('indices' in done) onPainted({ ...options, indices: done.indices })
  }
  worker.addEventListener('message', ({ data }: MessageEvent<JobResult>) => receive(data))
  worker.addEventListener('error', () => opening?.resolve('unreadable'))

  return {
    open(file) {
      const { promise, resolve } = Promise.withResolvers<OpenedPicture | PictureError>()
      // A result for the picture before must not be taken for this one's.
      painting = undefined
      waiting = undefined
      opening = { number: ++number, file, resolve }
      send({ number, open: file })
      return promise
    },
    paint(options) {
      if (painting === undefined) begin(options)
      else waiting = options
    },
  }
}
