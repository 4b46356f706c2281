/** Asks the worker, and passes over what is out of date. */

import type { Done, Flaw, Job } from './image-worker.ts'
import type { Opened, Painted, Wish } from './sketch.ts'

export type ImageClient = {
  /** Opens a picture in place of the one before; a later call overtakes an earlier one, which then never ends. */
  open(file: File): Promise<Opened | Flaw>
  /** Paints the open picture; only the last of several wishes is painted, and told through `onPainted`. */
  paint(wish: Wish): void
}

/** Starts the worker. */
export function createImageClient(onPainted: (painted: Painted) => void): ImageClient {
  const worker = new Worker(new URL('./image-worker.ts', import.meta.url), { type: 'module', name: 'image-worker' })
  let number = 0
  let opening: { readonly number: number; readonly file: File; resolve(opened: Opened | Flaw): void } | undefined
  let painting: { readonly number: number; readonly wish: Wish } | undefined // what the worker is at
  let waiting: Wish | undefined

  const send = (job: Job) => worker.postMessage(job)
  const begin = (wish: Wish) => {
    painting = { number: ++number, wish }
    send({ number, paint: wish })
  }
  const hear = (done: Done) => {
    if (done.number === opening?.number) {
      const { file, resolve } = opening
      opening = undefined
      if ('opened' in done) resolve({ name: file.name, ...done.opened })
      else if ('flaw' in done) resolve(done.flaw)
      return
    }
    if (painting === undefined || done.number !== painting.number) return
    const { wish } = painting
    painting = undefined
    const next = waiting
    waiting = undefined
    if (next) begin(next)
    else if ('indices' in done) onPainted({ ...wish, indices: done.indices })
  }
  worker.addEventListener('message', ({ data }: MessageEvent<Done>) => hear(data))
  worker.addEventListener('error', () => opening?.resolve('unreadable'))

  return {
    open(file) {
      const { promise, resolve } = Promise.withResolvers<Opened | Flaw>()
      // What is being painted of the picture before must not appear as this one's.
      painting = undefined
      waiting = undefined
      opening = { number: ++number, file, resolve }
      send({ number, open: file })
      return promise
    },
    paint(wish) {
      if (painting === undefined) begin(wish)
      else waiting = wish
    },
  }
}
