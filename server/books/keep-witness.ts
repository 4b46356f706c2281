/** Keeps the witness up to date with the store. The witness records each commit after it was made, never before. */

import { isSamePosition, type StorePosition } from '../domain/store-position.ts'
import type { Clock, Logger, Store, Witness } from '../ports.ts'

// All commits within this time share one small file write.
const WRITE_EVERY_MS = 250

export type KeepWitnessDeps = {
  readonly store: Pick<Store, 'readPosition'>
  readonly witness: Witness
  readonly clock: Clock
  readonly logger: Logger
}

export type WitnessKeeper = {
  /**
   * Must be called once the store is known to be current. Nothing is written before that, so that an older copy does
   * not overwrite the witness.
   */
  begin(): void
  /** Must be called after each commit. */
  onCommit(): void
  /** Writes pending changes. */
  flush(): Promise<void>
}

/** Makes the keeper of a store's witness. */
export function createWitnessKeeper({ store, witness, clock, logger }: KeepWitnessDeps): WitnessKeeper {
  let hasBegun = false
  let isDue = false
  let isWriting = false
  let isFailing = false
  let written: StorePosition | undefined
  let writing: Promise<void> = Promise.resolve()
  const writeOnce = async () => {
    try {
      const position = await store.readPosition()
      if (written !== undefined && isSamePosition(position, written)) return
      await witness.write(position)
      written = position
      isFailing = false
    } catch {
      // The older witness stays valid; it only proves less.
      if (!isFailing) logger.alert('witness-failed', { what: 'cannot write the witness; check WITNESS_PATH' })
      isFailing = true
    }
  }
  const enqueueWrite = () => {
    writing = writing.then(writeOnce)
    return writing
  }
  const writeWhileDue = async () => {
    isWriting = true
    while (isDue) {
      isDue = false
      await enqueueWrite()
      await clock.wait(WRITE_EVERY_MS)
    }
    isWriting = false
  }
  const requestWrite = () => {
    isDue = true
    if (hasBegun && !isWriting) void writeWhileDue()
  }
  return {
    begin() {
      if (hasBegun) return
      hasBegun = true
      requestWrite()
    },
    onCommit: requestWrite,
    flush: async () => {
      if (hasBegun) await enqueueWrite()
    },
  }
}
