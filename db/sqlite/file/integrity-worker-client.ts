/** Has a file looked through in a thread of its own. */

import { cannotUse } from '../errors.ts'
import type { Inspection } from './integrity-check.ts'
import type { Inspected } from './integrity-worker.ts'

/** What is found in the file at `path`, which nobody writes meanwhile. Throws `CannotOpen` when SQLite cannot look at it. */
export async function inspectInWorker(path: string): Promise<Inspection> {
  const worker = new Worker(new URL('./integrity-worker.ts', import.meta.url))
  const { promise, resolve, reject } = Promise.withResolvers<Inspected>()
  worker.addEventListener('message', ({ data }: MessageEvent<Inspected>) => resolve(data))
  worker.addEventListener('error', ({ message }) => reject(new Error(`the file could not be checked: ${message}`)))
  worker.postMessage(path)
  try {
    const inspected = await promise
    if ('trouble' in inspected) throw cannotUse(path, inspected.trouble)
    return inspected
  } finally {
    worker.terminate()
  }
}
