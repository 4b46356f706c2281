/** Where blocks and areas can be had. */

import type { Availability } from '../../server/domain/purchase/payment.ts'
import { blocksHeld, isBlock, positionOf, targetOf, type Target } from '../../server/domain/purchase/target.ts'
import { conflictsAmong, nearestArea, worstOf, type BlockState } from '../../server/domain/wall/open-space.ts'
import type { AreaSize } from '../../shared/area.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { first, lock, one, rows, type Tx } from '../tx.ts'

/** Why a target cannot be had by anyone. */
export type Lost = Exclude<Availability, 'open' | 'full'>

type BlockOf = { readonly i: BlockIndex; readonly state: BlockState }

const OF_BLOCKS = { blocks: 'i' } as const

// How often to look again for blocks that others are just taking or giving back.
const LOOKS_MAX = 5

/** Whether a target can be bought by anyone. */
export function* space(target: Target): Tx<Lost | 'open'> {
  const { at, w, h } = positionOf(target)
  if (at !== 'next') return yield* stateOfAll(blocksHeld({ target, block: at }))
  if (target === 'next') return (yield* one<{ space: Lost | 'open' }>(SPACE_OF_NEXT)).space
  const place = yield* nearestOpen({ w, h })
  return typeof place === 'string' ? place : 'open'
}

/** Reads, as one value, whether any block can be bought. */
const NEXT_IS = `
  CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE state = 'open' AND NOT {damaged blocks i}) THEN 'open'
    WHEN EXISTS (SELECT 1 FROM payments WHERE state = 'reserved') THEN 'reserved' ELSE 'claimed' END`

const SPACE_OF_NEXT = `SELECT ${NEXT_IS} AS space`

const STATES = 'SELECT i, state FROM blocks WHERE i {in integer $blocks} ORDER BY i'

function* stateOfAll(blocks: readonly BlockIndex[]): Tx<BlockState> {
  const found = yield* rows<BlockOf>(STATES, { blocks }, OF_BLOCKS)
  return worstOf(found.map(({ state }) => state))
}

/** Where the open area of a size is that is nearest the centre, or why there is none; damaged blocks are not open. */
function* nearestOpen(size: AreaSize): Tx<BlockIndex | Lost> {
  const { states } = yield* one<{ states: string }>(ALL_STATES)
  return nearestArea(states, size)
}

const ALL_STATES = `
  SELECT string_agg(CASE WHEN {damaged blocks i} THEN 'x' ELSE substr(state, 1, 1) END, '' ORDER BY i) AS states FROM blocks`

/** The blocks of a target that has a place, as they are not open. */
export function* conflicts(target: Target): Tx<ReturnType<typeof conflictsAmong>> {
  const { at } = positionOf(target)
  if (at === 'next') return conflictsAmong([])
  return conflictsAmong(yield* rows<BlockOf>(STATES, { blocks: blocksHeld({ target, block: at }) }))
}

/** Where the open block or area begins that a target names, locked until the transaction ends, or why there is none. */
export function* openPlace(target: Target): Tx<BlockIndex | Lost> {
  const { at, w, h } = positionOf(target)
  if (at === 'next') return target === 'next' ? yield* nextOpen() : yield* nextArea({ w, h })
  const found = yield* rows<BlockOf>(`${STATES} {lock}`, { blocks: blocksHeld({ target, block: at }) }, OF_BLOCKS)
  const state = worstOf(found.map(({ state }) => state))
  return state === 'open' ? at : state
}

const NEXT_OPEN = `
  SELECT i, state FROM blocks WHERE state = 'open' AND NOT {damaged blocks i} ORDER BY rank LIMIT 1`

/** The first open block that nobody is taking; where all of them are being taken, the first that is left in the end. */
function* nextOpen(): Tx<BlockIndex | Lost> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const block =
      (yield* first<BlockOf>(`${NEXT_OPEN} {lock skip}`, {}, OF_BLOCKS)) ??
      (yield* first<BlockOf>(`${NEXT_OPEN} {lock}`, {}, OF_BLOCKS))
    if (block !== undefined) return block.i
    const left = yield* space('next')
    if (left !== 'open') return left
  }
  return 'reserved'
}

function* nextArea(size: AreaSize): Tx<BlockIndex | Lost> {
  // One after the other, since all of them want the same place.
  yield* lock(`SELECT pg_advisory_xact_lock(${NEXT_AREA})`)
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const place = yield* nearestOpen(size)
    if (typeof place === 'string') return place
    const there = yield* openPlace(targetOf(place, size))
    if (typeof there === 'number') return there
    // Whoever buys single blocks there was quicker.
  }
  return 'reserved'
}

// 'area', by which those who want the nearest one wait for each other.
const NEXT_AREA = 0x61726561

/** SQL, with the value `target`, that reads whether a block can be bought; for those who ask more in one statement. */
export const spaceIs = (target: Target): string | undefined =>
  target === 'next' ? NEXT_IS : isBlock(target) ? '(SELECT state FROM blocks WHERE i = $target)' : undefined
