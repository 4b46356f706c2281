/** How many blocks of events an endpoint returns in one call, learnt from its rejections. */

export type LogWindow = {
  /** The number of blocks to request; 0 if the endpoint rejected even a single block. */
  chooseSize(): bigint
  /** Records that a range of this many blocks was served. */
  recordServed(blocks: bigint): void
  /** Records that a range of this many blocks was rejected. */
  recordRefused(blocks: bigint): void
  /** Whether the size is known, and not 0. */
  isLearnt(): boolean
  /** Allows one block again after an endpoint rejected everything. */
  allowRetry(): void
}

const FIRST = 2000n
const MOST = 10_000n

// After each rejection, the window grows less often, so an endpoint with a fixed limit rejects hardly any calls.
const GROW_AFTER = 16
const GROW_AFTER_MOST = 4096

/** Makes a window that starts with a size that most endpoints serve. */
export function createLogWindow(): LogWindow {
  let size = FIRST
  let servedInARow = 0
  let growAfter = GROW_AFTER
  let isLearnt = false
  return {
    chooseSize: () => size,
    isLearnt: () => isLearnt && size > 0n,
    recordServed(blocks) {
      isLearnt = true
      if (blocks < size || ++servedInARow < growAfter || size >= MOST) return
      servedInARow = 0
      size = size * 2n > MOST ? MOST : size * 2n
    },
    recordRefused(blocks) {
      // Other calls may have learnt a smaller size since this range was requested.
      if (blocks > size) return
      size = blocks / 2n
      servedInARow = 0
      if (isLearnt) growAfter = Math.min(growAfter * 2, GROW_AFTER_MOST)
    },
    allowRetry() {
      if (size === 0n) size = 1n
    },
  }
}
