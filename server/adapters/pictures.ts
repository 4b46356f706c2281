/** Pictures by the runtime's own codecs, each stranger's in a worker that can be ended. */

import pLimit from 'p-limit'
import type { Bitmap, PaintPlan, PictureFlaw, SentPicture } from '../domain/picture.ts'
import type { Pictures } from '../ports.ts'
import type { PaintJob } from './painter.ts'
import { encodePng } from './png.ts'

const DEADLINE_MS = 10_000

// A large picture takes some 300 MB while it is read.
const AT_ONCE = 1
const WAITING_MAX = 16

/** Makes the pictures' port. One picture is painted at a time; one that 16 others wait before is not waited for. */
export function workerPictures(deadlineMs: number = DEADLINE_MS): Pictures {
  const limit = pLimit(AT_ONCE)
  return {
    encode: encodePng,
    async paint(picture, plan) {
      if (limit.pendingCount >= WAITING_MAX) return 'busy'
      return await limit(() => paintInWorker(picture, plan, deadlineMs))
    },
  }
}

async function paintInWorker(picture: SentPicture, plan: PaintPlan, deadlineMs: number): Promise<Bitmap | PictureFlaw> {
  const worker = new Worker(new URL('./painter.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Bitmap | PictureFlaw>()
  const timer = setTimeout(() => resolve('late'), deadlineMs)
  worker.addEventListener('message', ({ data }: MessageEvent<Bitmap | PictureFlaw>) => resolve(data))
  worker.addEventListener('error', () => reject(new Error('the painter failed')))
  const job: PaintJob = { picture, plan }
  worker.postMessage(job)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    worker.terminate()
  }
}
