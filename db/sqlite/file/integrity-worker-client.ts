/** Checks a file in a separate thread. */

import { createOpenError } from '../errors.ts'
import type { Inspection } from './integrity-check.ts'
import type { Asked, Inspected } from './integrity-worker.ts'

/** Checks a part of a file, or all of it. Rejects with `CannotOpen` if SQLite cannot read it. */
export async function inspectInWorker(asked: Asked): Promise<Inspection> {
  const worker = new Worker(new URL('./integrity-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Inspected>()
  worker.addEventListener('message', ({ data }: MessageEvent<Inspected>) => resolve(data))
  worker.addEventListener('error', ({ message }) => reject(new Error(`the file could not be checked: ${message}`)))
  worker.postMessage(asked)
  try {
    const inspected = await promise
    if ('trouble' in inspected) throw createOpenError(asked.path, inspected.trouble)
    return inspected
  } finally {
    worker.terminate()
  }
}
