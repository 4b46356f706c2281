/** How many blocks of events an endpoint serves in one call, learnt from its refusals. */

export type LogWindow = {
  /** How many to ask for; 0 for an endpoint that has refused even one. */
  size(): bigint
  /** Tells that a range of so many blocks was answered. */
  served(blocks: bigint): void
  /** Tells that a range of so many blocks was refused. */
  refused(blocks: bigint): void
  /** Whether anything is known of it yet, and it serves any. */
  isLearnt(): boolean
  /** Lets an endpoint that refused everything be asked for one block again. */
  retry(): void
}

const FIRST = 2000n
const MOST = 10_000n

// Each refusal of more makes growing rarer, so that a limit that stays costs next to nothing.
const GROW_AFTER = 16
const GROW_AFTER_MOST = 4096

/** Starts with what most endpoints serve. */
export function logWindow(): LogWindow {
  let size = FIRST
  let servedInARow = 0
  let growAfter = GROW_AFTER
  let isLearnt = false
  return {
    size: () => size,
    isLearnt: () => isLearnt && size > 0n,
    served(blocks) {
      isLearnt = true
      if (blocks < size || ++servedInARow < growAfter || size >= MOST) return
      servedInARow = 0
      size = size * 2n > MOST ? MOST : size * 2n
    },
    refused(blocks) {
      // Others may have learnt more since that range was asked for.
      if (blocks > size) return
      size = blocks / 2n
      servedInARow = 0
      if (isLearnt) growAfter = Math.min(growAfter * 2, GROW_AFTER_MOST)
    },
    retry() {
      if (size === 0n) size = 1n
    },
  }
}
