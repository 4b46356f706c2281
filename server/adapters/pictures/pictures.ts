/**
 * Reads and writes pictures with the runtime's codecs, outside the main thread. Each upload has its own worker, which
 * can be terminated. At most one paid and one free picture are decoded at a time, so that free pictures do not delay
 * orders. The wall's own pictures share a separate worker, so that no upload delays them.
 */

import { createFairLine } from '../../domain/fair-line.ts'
import type { Bitmap, PaintPlan, PictureFlaw, SentPicture } from '../../domain/picture/picture.ts'
import { enlarge } from '../../domain/picture/wall-picture.ts'
import type { Pictures } from '../../ports.ts'
import type { PaintJob } from './image-worker.ts'
import type { NumberedJob, NumberedPicture, OwnJob, OwnPicture } from './own-pictures.ts'
import { encodePng } from './png.ts'

const DEADLINE_MS = 10_000

// How many pictures of each kind of sender may wait; a waiting picture may take up 4 MB.
const WAITING_MAX = 16

// Encoding a smaller picture takes less time than sending it to the worker and back.
const OWN_PIXELS_MIN = 200_000

/** Makes the pictures port. */
export function createWorkerPictures(deadlineMs: number = DEADLINE_MS): Pictures {
  const limits = { payer: createFairLimit(WAITING_MAX), client: createFairLimit(WAITING_MAX) }
  const runOwnJob = createOwnWorker()
  return {
    async encode(bitmap, scale = 1) {
      if (bitmap.width * bitmap.height * scale ** 2 < OWN_PIXELS_MIN) return await encodePng(enlarge(bitmap, scale))
      const file = await runOwnJob({ kind: 'encode', bitmap, scale })
      if (!(file instanceof Uint8Array)) throw new TypeError('the worker returned no file')
      return file
    },
    async shrink(bitmap, width, height) {
      const small = await runOwnJob({ kind: 'shrink', bitmap, width, height })
      if (small instanceof Uint8Array) throw new TypeError('the worker returned no bitmap')
      return small
    },
    convertToPalette: (picture, plan, { kind, who }) =>
      limits[kind](who, () => convertInWorker(picture, plan, deadlineMs)),
  }
}

/** The worker for the wall's own pictures: started for the first picture, and restarted after a failure. */
function createOwnWorker(): (job: OwnJob) => Promise<OwnPicture> {
  const waiting = new Map<number, PromiseWithResolvers<OwnPicture>>()
  let worker: Worker | undefined
  let jobs = 0
  const startWorker = () => {
    const begun = new Worker(new URL('./own-pictures.ts', import.meta.url))
    begun.addEventListener('message', ({ data: { id, picture } }: MessageEvent<NumberedPicture>) => {
      waiting.get(id)?.resolve(picture)
      waiting.delete(id)
    })
    begun.addEventListener('error', () => {
      worker = undefined
      for (const { reject } of waiting.values()) reject(new Error('the worker that draws pictures failed'))
      waiting.clear()
    })
    // The worker must not keep the process alive.
    begun.unref()
    return begun
  }
  return async (job) => {
    worker ??= startWorker()
    const id = ++jobs
    const answer = Promise.withResolvers<OwnPicture>()
    waiting.set(id, answer)
    worker.postMessage({ id, job } satisfies NumberedJob, [job.bitmap.indices.buffer])
    return await answer.promise
  }
}

async function convertInWorker(
  picture: SentPicture,
  plan: PaintPlan,
  deadlineMs: number,
): Promise<Bitmap | PictureFlaw> {
  const worker = new Worker(new URL('./image-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Bitmap | PictureFlaw>()
  const timer = setTimeout(() => resolve('late'), deadlineMs)
  worker.addEventListener('message', ({ data }: MessageEvent<Bitmap | PictureFlaw>) => resolve(data))
  worker.addEventListener('error', () => reject(new Error('the worker that converts the picture failed')))
  const job: PaintJob = { picture, plan }
  worker.postMessage(job)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    worker.terminate()
  }
}

/** Runs work when its turn comes; `busy` if too much work is waiting. */
type FairLimit = <T>(sender: string, work: () => Promise<T>) => Promise<T | 'busy'>

/** Makes a limit: one piece of work runs at a time, and at most `waitingMax` wait. */
export function createFairLimit(waitingMax: number): FairLimit {
  const line = createFairLine<(answer: 'go' | 'busy') => void>()
  let isTaken = false
  const startNext = () => {
    const go = line.shift()
    isTaken = go !== undefined
    go?.('go')
  }
  return async (sender, work) => {
    if (isTaken) {
      const turn = Promise.withResolvers<'go' | 'busy'>()
      line.push(sender, turn.resolve)
      if (line.getLength() > waitingMax) line.dropOne(sender)?.('busy')
      if ((await turn.promise) === 'busy') return 'busy'
    }
    isTaken = true
    try {
      return await work()
    } finally {
      startNext()
    }
  }
}
