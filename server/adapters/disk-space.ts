/** What is left on a disk, and what files take of it. */

import { stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes a function that reads how many bytes are free on the disk of a file; `undefined` where the system does not say. */
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

/** How many bytes files take together; those that are not there take none. */
export async function sizeOf(paths: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
