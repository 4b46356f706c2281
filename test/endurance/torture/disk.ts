/** A disk that can be filled: a small tmpfs where this process may mount one. */

import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export type SmallDisk = {
  readonly folder: string
  /** Writes until nothing more fits. */
  fill(): void
  /** Makes room again. */
  free(): void
  unmount(): void
}

const SIZE = '64m'

/** Mounts a small disk at `folder`; `undefined` where that is not allowed. */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true })
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder])
  if (exitCode !== 0) return undefined
  const filler = join(folder, 'filler')
  const unmount = () => void Bun.spawnSync(['umount', folder])
  process.once('exit', unmount)
  return {
    folder,
    fill() {
      const file = openSync(filler, 'a')
      try {
        // Ever smaller pieces, so that not even a page is left.
        for (let size = 1 << 20; size >= 512; size >>= 1) writeUntilFull(file, new Uint8Array(size))
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler, { force: true }),
    unmount() {
      process.off('exit', unmount)
      unmount()
    },
  }
}

function writeUntilFull(file: number, piece: Uint8Array): void {
  try {
    for (;;) if (writeSync(file, piece) < piece.length) return
  } catch {
    return
  }
}
