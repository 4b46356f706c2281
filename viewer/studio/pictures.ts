/** Opens pictures that are selected, dropped or pasted, and paints them in the image worker. */

import { createElement, queryElement } from '../ui/dom.ts'
import type { Job, JobResult, PictureError } from './image-worker.ts'
import type { OpenedPicture, PaintOptions, PaintedPicture } from './sketch.ts'

const flaws: Readonly<Record<PictureError, string>> = {
  unreadable: 'Your browser cannot read this file as a picture.',
  'too-many-pixels': 'This picture has more than 16 million pixels. Choose a smaller one.',
}

/** Calls `onFile` with the first file of each selection, drop or paste. */
export function listenForPictures(onFile: (file: File) => void) {
  const chooser = queryElement('file', HTMLInputElement)
  const passFirstFile = (files: FileList | undefined | null) => {
    const [file] = files ?? []
    if (file) onFile(file)
    return file !== undefined
  }
  chooser.addEventListener('change', () => {
    passFirstFile(chooser.files)
    // Resets the field, so that the same file can be selected again after it was edited.
    chooser.value = ''
  })
  window.addEventListener('paste', (event) => passFirstFile(event.clipboardData?.files) && event.preventDefault())
  const showDragging = (is: boolean) => document.body.classList.toggle('dropping', is)
  window.addEventListener('dragover', (event) => {
    event.preventDefault()
    showDragging(true)
  })
  window.addEventListener('dragleave', (event) => event.relatedTarget === null && showDragging(false))
  window.addEventListener('drop', (event) => {
    event.preventDefault()
    showDragging(false)
    passFirstFile(event.dataTransfer?.files)
  })
}

/** Shows the name of the open picture, or why a picture could not be opened. */
export function showOpenResult(opened: OpenedPicture | PictureError) {
  const isFlawed = typeof opened === 'string'
  queryElement('flaw', HTMLElement).textContent = isFlawed ? flaws[opened] : ''
  if (isFlawed) return
  const size = `, ${opened.width} × ${opened.height} pixels`
  queryElement('opened', HTMLElement).replaceChildren(createElement('bdi', opened.name), size)
}

/** Starts the image worker; returns functions that open and paint pictures in it. */
export function createImageClient(onPainted: (painted: PaintedPicture) => void) {
  const worker = new Worker(new URL('./image-worker.ts', import.meta.url), { type: 'module', name: 'image-worker' })
  const asked: ((result: JobResult) => void)[] = [] // the callbacks, in the order of the requests
  let latest: File | undefined
  let wanted: PaintOptions | undefined // the options of the next picture to paint
  let isPainting = false

  const resolveJob = (result: JobResult) => asked.shift()?.(result)
  worker.addEventListener('message', ({ data }: MessageEvent<JobResult>) => resolveJob(data))
  worker.addEventListener('error', () => resolveJob({ flaw: 'unreadable' }))
  const sendJob = (job: Job): Promise<JobResult> => {
    const { promise, resolve } = Promise.withResolvers<JobResult>()
    asked.push(resolve)
    worker.postMessage(job)
    return promise
  }
  const paintLatest = async () => {
    isPainting = true
    for (let options = wanted; options !== undefined; options = wanted) {
      wanted = undefined
      const done = await sendJob({ paint: options })
      if (wanted === undefined && 'indices' in done) onPainted({ ...options, indices: done.indices })
    }
    isPainting = false
  }
  return {
    /** Opens a picture in place of the previous one; `undefined` if a later call has replaced this call. */
    async open(file: File): Promise<OpenedPicture | PictureError | undefined> {
      latest = file
      const done = await sendJob({ open: file })
      if (latest !== file) return undefined
      return 'opened' in done ? { name: file.name, ...done.opened } : 'flaw' in done ? done.flaw : undefined
    },
    /** Paints the open picture and calls `onPainted`; of several waiting calls, only the last one runs. */
    paint(options: PaintOptions) {
      wanted = options
      if (!isPainting) void paintLatest()
    },
  }
}
