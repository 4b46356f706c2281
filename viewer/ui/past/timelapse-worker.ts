/** The worker that makes a timelapse, so that the page goes on meanwhile. */

import { timelapse, type TimelapseInput } from '../../wall/timelapse.ts'

/** How far the worker has come; at the end, the file. */
export type TimelapseMessage = { readonly share: number } | { readonly file: Blob }

declare const self: Worker

const tell = (made: TimelapseMessage) => self.postMessage(made)

self.addEventListener('message', ({ data: film }: MessageEvent<TimelapseInput>) => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (const [piece, share] of timelapse(film)) {
    pieces.push(piece)
    tell({ share })
  }
  tell({ file: new Blob(pieces, { type: 'image/gif' }) })
})
