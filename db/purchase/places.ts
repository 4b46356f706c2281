/** Which blocks and areas are available. */

import type { Availability } from '../../server/domain/purchase/payment.ts'
import { listHeldBlocks, isBlock, getPosition, createTarget, type Target } from '../../server/domain/purchase/target.ts'
import type { LogNumber } from '../../server/domain/wall/log.ts'
import {
  listConflicts,
  findNearestArea,
  computeOccupancy,
  type Place,
  findWorstState,
  type BlockState,
} from '../../server/domain/wall/open-space.ts'
import type { AreaSize } from '../../shared/area.ts'
import { type BlockIndex, TOTAL_BLOCKS } from '../../shared/wall.ts'
import { queryFirst, type Lockable, queryOne, queryRows, type Tx } from '../tx.ts'

/** Why nobody can buy a target. */
export type Lost = Exclude<Availability, 'open' | 'full'>

type BlockOf = { readonly i: BlockIndex; readonly state: BlockState }

const OF_BLOCKS = { blocks: 'i' } as const

// How many times to look for open blocks while others are claiming or releasing them.
const LOOKS_MAX = 5

/**
 * The blocks that this process knows to be sold, each marked with 1. Apart from these, a search for an area reads only
 * held and damaged blocks, and blocks changed after log entry `through`.
 */
export type SoldBlocks = { through: LogNumber; readonly known: Uint8Array }

export const createSoldBlocks = (): SoldBlocks => ({ through: 0, known: new Uint8Array(TOTAL_BLOCKS) })

/**
 * Returns `open` if a target can be bought, or else the reason why nobody can buy it. This runs outside of
 * transactions, so everything it reads is committed and can be added to `sold`.
 */
export function* readSpace(target: Target, sold: SoldBlocks): Tx<Lost | 'open'> {
  const { at, w, h } = getPosition(target)
  if (at !== 'next') return yield* readWorstState(listHeldBlocks({ target, block: at }))
  if (target === 'next') return yield* readNextSpace()
  const unavailable = yield* listUnavailableAfter(sold)
  addSoldBlocks(sold, unavailable)
  return chooseNearestArea(sold, unavailable, { w, h }).kind
}

function* readNextSpace(): Tx<Lost | 'open'> {
  return (yield* queryOne<{ space: Lost | 'open' }>(SPACE_OF_NEXT)).space
}

/** SQL for one value: `open` if any block can be bought, or else why none can. */
const NEXT_IS = `
  CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE state = 'open' AND NOT {damaged blocks i}) THEN 'open'
    WHEN EXISTS (SELECT 1 FROM payments WHERE state = 'reserved') THEN 'reserved' ELSE 'claimed' END`

const SPACE_OF_NEXT = `SELECT ${NEXT_IS} AS space`

const STATES = 'SELECT i, state FROM blocks WHERE i {in integer $blocks} ORDER BY i'

function* readWorstState(blocks: readonly BlockIndex[]): Tx<BlockState> {
  const found = yield* queryRows<BlockOf>(STATES, { blocks }, OF_BLOCKS)
  return findWorstState(found.map(({ state }) => state))
}

/**
 * A block that is not open: `changed` is the number of a sold block's last change, 0 for a damaged block, `null` for a
 * held one.
 */
type Unavailable = { readonly i: BlockIndex; readonly changed: LogNumber | null }

/** Reads the unavailable blocks that are not already known to be sold; damaged blocks count as unavailable. */
const listUnavailableAfter = ({ through }: SoldBlocks): Tx<readonly Unavailable[]> =>
  queryRows<Unavailable>(UNAVAILABLE, { through })

// A sold block stays sold, so the last change of a block sold after entry `through` has a higher number. This reads
// only indexes.
const UNAVAILABLE = `
  SELECT i, changed FROM blocks {index blocks_by_change} WHERE changed > $through
  UNION ALL SELECT i, NULL FROM blocks {index held_blocks} WHERE state = 'reserved'
  UNION ALL SELECT i, 0 FROM blocks WHERE {damaged blocks i}`

function addSoldBlocks(sold: SoldBlocks, unavailable: readonly Unavailable[]): void {
  for (const { i, changed } of unavailable) {
    if (changed === null || changed === 0) continue
    sold.known[i] = 1
    sold.through = Math.max(sold.through, changed)
  }
}

/** The open area of this size nearest the centre, or why there is none. */
function chooseNearestArea({ known }: SoldBlocks, unavailable: readonly Unavailable[], size: AreaSize): Place {
  const [taken, sold] = [known.slice(), known.slice()]
  for (const { i, changed } of unavailable) {
    taken[i] = 1
    if (changed !== null) sold[i] = 1
  }
  const occupied = {
    taken: computeOccupancy((block) => taken[block] === 1),
    // Computed only if no area is open.
    get sold() {
      return computeOccupancy((block) => sold[block] === 1)
    },
  }
  return findNearestArea(occupied, size)
}

/** The unavailable blocks of a target; none if the target has no position. */
export function* findConflicts(target: Target): Tx<ReturnType<typeof listConflicts>> {
  const { at } = getPosition(target)
  if (at === 'next') return listConflicts([])
  return listConflicts(yield* queryRows<BlockOf>(STATES, { blocks: listHeldBlocks({ target, block: at }) }))
}

/**
 * The objects that a claim of a target locks, besides its payer. Buyers of the nearest area want the same place, so
 * they take turns.
 */
export function listLockables(target: Target): readonly Lockable[] {
  const { at } = getPosition(target)
  if (at !== 'next') return listHeldBlocks({ target, block: at })
  return isBlock(target) ? [] : ['nearest area']
}

/** The open block or area of a target, locked until the transaction ends, or why nobody can buy it. */
export function* lockOpenPlace(target: Target, sold: SoldBlocks): Tx<Place> {
  const { at, w, h } = getPosition(target)
  if (at === 'next') return target === 'next' ? yield* findNextOpenBlock() : yield* findNextArea({ w, h }, sold)
  const found = yield* queryRows<BlockOf>(
    `${STATES} {lock}`,
    { blocks: listHeldBlocks({ target, block: at }) },
    OF_BLOCKS,
  )
  const state = findWorstState(found.map(({ state }) => state))
  return state === 'open' ? { kind: 'open', block: at } : { kind: state }
}

const NEXT_OPEN = `
  SELECT i, state FROM blocks WHERE state = 'open' AND NOT {damaged blocks i} ORDER BY rank LIMIT 1`

// On PostgreSQL, claims in one transaction share its locks, and all choose blocks before any of them holds one. Each
// claim leaves out the blocks that others chose; a setting stores the chosen blocks until the transaction ends. The
// limit is a bound value, because a statement without one would be planned each time.
const CHOOSE_NEXT = {
  sqlite: NEXT_OPEN,
  postgres: `
    SELECT i, state, set_config('wall.chosen', concat(current_setting('wall.chosen', true), ',', i), true) FROM (
      SELECT i, state FROM blocks
      WHERE state = 'open' AND i::text <> ALL (string_to_array(coalesce(current_setting('wall.chosen', true), ''), ','))
      ORDER BY rank LIMIT $count::integer FOR UPDATE SKIP LOCKED) AS next`,
}

/**
 * Returns the first open block that nobody is claiming. If all are being claimed, waits and returns the first one that
 * stays open.
 */
function* findNextOpenBlock(): Tx<Place> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const block =
      (yield* queryFirst<BlockOf>(CHOOSE_NEXT, { count: 1 }, OF_BLOCKS)) ??
      (yield* queryFirst<BlockOf>(`${NEXT_OPEN} {lock}`, {}, OF_BLOCKS))
    if (block !== undefined) return { kind: 'open', block: block.i }
    const left = yield* readNextSpace()
    if (left !== 'open') return { kind: left }
  }
  return { kind: 'reserved' }
}

function* findNextArea(size: AreaSize, sold: SoldBlocks): Tx<Place> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    // A sale in this transaction may still be rolled back, so it is not added to `sold`. A retry ignores the known sold
    // blocks.
    const known = looks === 0 ? sold : createSoldBlocks()
    const place = chooseNearestArea(known, yield* listUnavailableAfter(known), size)
    if (place.kind !== 'open') return place
    const there = yield* lockOpenPlace(createTarget(place.block, size), sold)
    if (there.kind === 'open') return there
    // Another buyer has taken a block of this area meanwhile.
  }
  return { kind: 'reserved' }
}

/** SQL for whether a block (`target`) or `next` can be bought, for use within a statement; `undefined` for an area. */
export const renderSpaceSql = (target: Target): string | undefined =>
  target === 'next' ? NEXT_IS : isBlock(target) ? '(SELECT state FROM blocks WHERE i = $target)' : undefined
