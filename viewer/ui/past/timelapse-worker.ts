/** The worker that makes a timelapse, so that the page stays responsive. */

import { renderTimelapse, type TimelapseInput } from '../../wall/timelapse.ts'

/** The share of the timelapse finished so far, from 0 to 1; at the end, the GIF file. */
export type TimelapseMessage = { readonly share: number } | { readonly file: Blob }

declare const self: Worker

const postToPage = (message: TimelapseMessage) => self.postMessage(message)

self.addEventListener('message', ({ data: film }: MessageEvent<TimelapseInput>) => {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (const [piece, share] of renderTimelapse(film)) {
    pieces.push(piece)
    postToPage({ share })
  }
  postToPage({ file: new Blob(pieces, { type: 'image/gif' }) })
})
