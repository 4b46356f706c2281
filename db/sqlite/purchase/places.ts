/** Where blocks and areas can be had; every function must be called inside a transaction. */

import type { Space } from '../../../server/domain/purchase/payment.ts'
import { blocksHeld, isBlock, placeOf, type Target } from '../../../server/domain/purchase/target.ts'
import { nearestArea } from '../../../server/domain/wall/open-space.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { inTheWayOf, worstOf, type BlockState } from '../../places.ts'
import { one, type Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'

const NEXT_OPEN = `
  SELECT i FROM blocks WHERE state = 'open' AND NOT ${isDamaged('blocks', 'i')} ORDER BY rank LIMIT 1`

const ALL_STATES = `
  SELECT group_concat(iif(${isDamaged('blocks', 'i')}, 'x', substr(state, 1, 1)), '') AS states
  FROM (SELECT i, state FROM blocks ORDER BY i)`

/** Where the open block or area begins that a target names, or why there is none. */
export function openPlace(connection: Connection, target: Target): BlockIndex | Exclude<Space, 'open' | 'full'> {
  if (!isBlock(target)) return openArea(connection, target)
  const { prepare, check } = connection
  if (target === 'next') {
    const open = prepare<{ i: BlockIndex }>(NEXT_OPEN).get({})?.i
    if (open !== undefined) check('blocks', open)
    return open ?? (isAnyHeld(connection) ? 'reserved' : 'claimed')
  }
  check('blocks', target)
  const { state } = one(prepare<{ state: BlockState }>('SELECT state FROM blocks WHERE i = $block'), { block: target })
  return state === 'open' ? target : state
}

const isAnyHeld = ({ prepare }: Connection): boolean =>
  prepare(`SELECT 1 FROM payments WHERE state = 'reserved' LIMIT 1`).get({}) !== null

function openArea(connection: Connection, target: Target): BlockIndex | Exclude<Space, 'open' | 'full'> {
  const { at, w, h } = placeOf(target)
  if (at === 'next') return nearestArea(one(connection.prepare<{ states: string }>(ALL_STATES), {}).states, { w, h })
  const blocks = blocksHeld({ target, block: at })
  for (const block of blocks) connection.check('blocks', block)
  const states = notOpen(connection, blocks).map(({ state }) => state)
  const state = worstOf(states)
  return state === 'open' ? at : state
}

/** The blocks of a target that has a place, as they are not open. */
export function inTheWay(connection: Connection, target: Target) {
  const { at } = placeOf(target)
  return inTheWayOf(at === 'next' ? [] : notOpen(connection, blocksHeld({ target, block: at })))
}

/** Those of some blocks that are not open. */
const notOpen = ({ prepare }: Connection, blocks: readonly BlockIndex[]) =>
  prepare<{ i: BlockIndex; state: BlockState }>(
    `SELECT i, state FROM blocks WHERE i IN (SELECT value FROM json_each($blocks)) AND state <> 'open' ORDER BY i`,
  ).all({ blocks: JSON.stringify(blocks) })
