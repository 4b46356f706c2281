/** Where blocks and areas can be had. */

import type { Space, UnixMs } from '../../../server/domain/purchase/payment.ts'
import {
  blocksHeld,
  isBlock,
  placeOf,
  targetOf,
  type Holding,
  type Target,
} from '../../../server/domain/purchase/target.ts'
import { nearestArea } from '../../../server/domain/wall/open-space.ts'
import type { AreaSize } from '../../../shared/area.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { inTheWayOf, worstOf, type BlockState } from '../../places.ts'
import type { FaceRow } from '../../rows.ts'
import type { Queries } from '../pool.ts'
import { isSound, type Stored, type Work } from '../writes.ts'

/** A block with all of its columns. */
export type BlockRow = Stored<'blocks'> &
  FaceRow & {
    readonly i: BlockIndex
    readonly state: BlockState
    readonly changed: number | null
    readonly signed_at: UnixMs | null
  }

// $1 names those to pass by.
const OPEN = `
  SELECT * FROM blocks WHERE state = 'open' AND NOT (i = ANY ($1::integer[])) ORDER BY rank LIMIT 1 FOR UPDATE`

// How often to look again for a block that others are just taking or giving back.
const READ_ONLY = 5

/** Statement, with one value, that tells whether a target can be bought by anyone. */
export const spaceIs = (target: BlockIndex | 'next', value: string) =>
  target === 'next'
    ? `CASE WHEN EXISTS (SELECT 1 FROM blocks WHERE state = 'open') THEN 'open'
         WHEN EXISTS (SELECT 1 FROM payments WHERE state = 'reserved') THEN 'reserved' ELSE 'claimed' END`
    : `(SELECT state FROM blocks WHERE i = ${value})`

/** Whether a target can be bought by anyone. */
export async function space(queries: Queries, target: Target): Promise<Exclude<Space, 'full'>> {
  if (!isBlock(target)) {
    const { at, w, h } = placeOf(target)
    if (at === 'next') {
      const place = await nearestOpen(queries, { w, h })
      return typeof place === 'string' ? place : 'open'
    }
    const blocks = `{${blocksHeld({ target, block: at }).join(', ')}}`
    return worstOf((await queries.rows<{ state: BlockState }>(STATES_IN, [blocks])).map(({ state }) => state))
  }
  const { rows } = queries
  const values = target === 'next' ? [] : [target]
  const [row] = await rows<{ space: Exclude<Space, 'full'> }>(`SELECT ${spaceIs(target, '$1')} AS space`, values)
  if (row === undefined) throw new Error('a target has no space')
  return row.space
}

const STATES_IN = 'SELECT DISTINCT state FROM blocks WHERE i = ANY ($1::integer[])'

/** Where the open area of a size is that is nearest the centre, or why there is none; damaged blocks are not open. */
async function nearestOpen({ rows }: Queries, size: AreaSize, damaged: readonly BlockIndex[] = []) {
  const [row] = await rows<{ states: string }>(ALL_STATES, [`{${damaged.join(', ')}}`])
  return nearestArea(row?.states ?? '', size)
}

const ALL_STATES = `
  SELECT string_agg(CASE WHEN i = ANY ($1::integer[]) THEN 'x' ELSE left(state, 1) END, '' ORDER BY i) AS states FROM blocks`

/** The blocks of a target that has a place, as they are not open. */
export async function inTheWay({ rows }: Queries, target: Target) {
  const { at } = placeOf(target)
  const blocks = at === 'next' ? [] : blocksHeld({ target, block: at })
  const text = `SELECT i, state FROM blocks WHERE i = ANY ($1::integer[]) AND state <> 'open' ORDER BY i`
  return inTheWayOf(await rows<{ i: BlockIndex; state: BlockState }>(text, [`{${blocks.join(', ')}}`]))
}

/** Blocks that are open, row by row. */
type OpenBlocks = readonly [BlockRow, ...BlockRow[]]

/** The open blocks that a target names, locked until the transaction ends, or why there are none. */
export async function openBlocks(work: Work, target: Target): Promise<OpenBlocks | Exclude<Space, 'open' | 'full'>> {
  if (!isBlock(target)) return await openArea(work, target)
  const block = target === 'next' ? await nextOpen(work) : await lockBlock(work.queries, target)
  if (block === undefined) return (await space(work.queries, 'next')) === 'claimed' ? 'claimed' : 'reserved'
  work.check('blocks', block)
  return block.state === 'open' ? [block] : block.state
}

async function openArea(work: Work, target: Target): Promise<OpenBlocks | Exclude<Space, 'open' | 'full'>> {
  const { queries, check } = work
  const { at, w, h } = placeOf(target)
  if (at !== 'next') return await lockOpen(work, { target, block: at })
  // One after the other, since all of them want the same place.
  await queries.rows(`SELECT pg_advisory_xact_lock(${NEXT_AREA})`)
  const damaged: BlockIndex[] = []
  for (let looks = 0; looks < READ_ONLY;) {
    const place = await nearestOpen(queries, { w, h }, damaged)
    if (typeof place === 'string') return place
    const area = targetOf(place, { w, h })
    const rows = await lockBlocks(queries, blocksHeld({ target: area, block: place }))
    const bad = rows.filter((row) => !isSound(check, 'blocks', row)).map(({ i }) => i)
    if (bad.length === 0 && stateOf(rows) === 'open') return some(rows)
    damaged.push(...bad)
    // Whoever buys single blocks there was quicker.
    if (bad.length === 0) looks += 1
  }
  return 'reserved'
}

// 'area', by which those who want the nearest one wait for each other.
const NEXT_AREA = 0x61726561

async function lockOpen({ queries, check }: Work, holding: Holding): Promise<OpenBlocks | 'reserved' | 'claimed'> {
  const rows = await lockBlocks(queries, blocksHeld(holding))
  for (const row of rows) check('blocks', row)
  const state = stateOf(rows)
  return state === 'open' ? some(rows) : state
}

const stateOf = (rows: readonly BlockRow[]): BlockState => worstOf(rows.map(({ state }) => state))

function some(rows: readonly BlockRow[]): OpenBlocks {
  const [first, ...rest] = rows
  if (first === undefined) throw new Error('an area without blocks')
  return [first, ...rest]
}

/** Blocks, locked until the transaction ends, in the order of the wall, so that nobody waits in a circle; row by row. */
export async function lockBlocks({ rows }: Queries, blocks: readonly BlockIndex[]): Promise<readonly BlockRow[]> {
  const text = 'SELECT * FROM blocks WHERE i = ANY ($1::integer[]) ORDER BY i FOR UPDATE'
  const found = await rows<BlockRow>(text, [`{${blocks.join(', ')}}`])
  if (found.length !== blocks.length) throw new Error('a block of the wall is not in its table')
  return found
}

/**
 * The first open block that nobody is taking; where all of them are being taken, the first that is left in the end. Damaged
 * ones are passed by.
 */
async function nextOpen({ queries, check }: Work): Promise<BlockRow | undefined> {
  const damaged: BlockIndex[] = []
  for (let looks = 0; looks < READ_ONLY;) {
    const passing = [`{${damaged.join(', ')}}`]
    const [free] = await queries.rows<BlockRow>(`${OPEN} SKIP LOCKED`, passing)
    const block = free ?? (await queries.rows<BlockRow>(OPEN, passing))[0]
    if (block !== undefined && isSound(check, 'blocks', block)) return block
    if (block !== undefined) damaged.push(block.i)
    else if ((await space(queries, 'next')) !== 'open') return undefined
    else looks += 1
  }
  return undefined
}

/** A block, locked until the transaction ends. */
export async function lockBlock({ rows }: Queries, block: BlockIndex): Promise<BlockRow> {
  const [row] = await rows<BlockRow>('SELECT * FROM blocks WHERE i = $1 FOR UPDATE', [block])
  if (row === undefined) throw new Error('a block of the wall is not in its table')
  return row
}
