/** The worker that makes a timelapse, so that the page goes on meanwhile. */

import { timelapse, type Film } from '../../wall/timelapse.ts'

/** How far the worker has come; at the end, the file. */
export type Made = { readonly share: number } | { readonly file: Blob }

declare const self: Worker

const tell = (made: Made) => self.postMessage(made)

self.addEventListener('message', ({ data: film }: MessageEvent<Film>) => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (const [piece, share] of timelapse(film)) {
    pieces.push(piece)
    tell({ share })
  }
  tell({ file: new Blob(pieces, { type: 'image/gif' }) })
})
