/** Free space on a disk, and the size of files. */

import { stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Makes a function that reads the free bytes on a file's disk; it returns `undefined` if the system does not report
 * them.
 */
export function createFreeSpaceReader(path: string): () => Promise<number | undefined> {
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

/** The total size of files in bytes; missing files count as 0. */
export async function measureSize(paths: readonly string[]): Promise<number> {
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
