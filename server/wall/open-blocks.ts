/** Which blocks can be bought at this moment. Reading holds nothing. */

import type { BlockIndex } from '../../shared/wall.ts'
import { occupancyOf, openSpaces, type Occupied } from '../domain/wall/open-space.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { LedgerReader } from '../ports.ts'
import { sharedRead } from '../purchase/single-flight.ts'

/** What is taken at a moment; the same object until a block is sold, held or released. */
export type Taken = {
  /** Whether somebody owns or holds a block. */
  has(block: BlockIndex): boolean
  /** The same, prepared for searches of any size. Computed at the first call. */
  occupied(): Occupied
}

/** What looking for open blocks needs. */
export type TakenBlocksDeps = {
  readonly view: WallView
  readonly ledgerReader: LedgerReader
  readonly advance: () => Promise<void>
}

/** Reads what is taken, no older than the call. */
export type TakenBlocks = () => Promise<Taken>

/** Keeps what is taken until it changes, so that most reads do not go through the whole wall. */
export function takenBlocks({ view, ledgerReader, advance }: TakenBlocksDeps): TakenBlocks {
  let kept: { readonly state: string; readonly taken: Taken } | undefined
  return sharedRead(async () => {
    // In this order a block that is sold meanwhile is seen as held or claimed, never as open.
    const held = await ledgerReader.held()
    await advance()
    // A claimed block stays so.
    const state = `${view.claimed.size} ${held.join()}`
    if (kept?.state !== state) kept = { state, taken: takenNow(view, held) }
    return kept.taken
  })
}

function takenNow({ claimed }: WallView, held: readonly BlockIndex[]): Taken {
  const isHeld = new Set(held)
  const has = (block: BlockIndex) => claimed.has(block) || isHeld.has(block)
  let occupied: Occupied | undefined
  return {
    has,
    occupied: () => (occupied ??= { taken: occupancyOf(has), sold: occupancyOf((block) => claimed.has(block)) }),
  }
}

/** At most `limit` open blocks, nearest to `near` first; without it, in the order `/blocks/next` sells them. */
export async function listUnclaimed(taken: TakenBlocks, limit: number, near?: BlockIndex): Promise<BlockIndex[]> {
  const now = await taken()
  return openSpaces(now.occupied().taken, { w: 1, h: 1, near, limit }).map(({ at }) => at)
}
