/** What is left on a disk. */

import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes what tells how many bytes may still be written beside a file; `undefined` where the system does not say. */
export function freeBytesBeside(path: string): () => Promise<number | undefined> {
  const folder = dirname(resolve(path))
  return async () => {
    try {
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize
    } catch {
      return undefined
    }
  }
}
