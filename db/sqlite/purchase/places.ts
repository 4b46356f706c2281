/** Where blocks and areas can be had; every function must be called inside a transaction. */

import type { Space } from '../../../server/domain/purchase/payment.ts'
import { blocksHeld, isBlock, placeOf, type Target } from '../../../server/domain/purchase/target.ts'
import { nearestArea } from '../../../server/domain/wall/open-space.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { inTheWayOf, worstOf, type BlockState } from '../../places.ts'
import { one, type Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'

/** Reads of the blocks' table that finding a place needs. */
export type Places = ReturnType<typeof preparePlaces>

/** Prepares them. */
export function preparePlaces(connection: Connection) {
  return {
    stateOf: connection.prepare<{ state: BlockState }, { block: number }>('SELECT state FROM blocks WHERE i = $block'),
    statesIn: connection.prepare<{ i: BlockIndex; state: BlockState }, { blocks: string }>(
      `SELECT i, state FROM blocks WHERE i IN (SELECT value FROM json_each($blocks)) AND state <> 'open' ORDER BY i`,
    ),
    allStates: connection.prepare<{ states: string }>(`
      SELECT group_concat(iif(${isDamaged('blocks', 'i')}, 'x', substr(state, 1, 1)), '') AS states
      FROM (SELECT i, state FROM blocks ORDER BY i)`),
    nextOpen: connection.prepare<{ i: BlockIndex }>(`
      SELECT i FROM blocks WHERE state = 'open' AND NOT ${isDamaged('blocks', 'i')} ORDER BY rank LIMIT 1`),
    anyReserved: connection.prepare(`SELECT 1 FROM payments WHERE state = 'reserved' LIMIT 1`),
    check: connection.check,
  }
}

/** Where the open block or area begins that a target names, or why there is none. */
export function openPlace(sql: Places, target: Target): BlockIndex | Exclude<Space, 'open' | 'full'> {
  if (!isBlock(target)) return openArea(sql, target)
  if (target === 'next') {
    const open = sql.nextOpen.get({})?.i
    if (open === undefined) return sql.anyReserved.get({}) === null ? 'claimed' : 'reserved'
    sql.check('blocks', open)
    return open
  }
  sql.check('blocks', target)
  const { state } = one(sql.stateOf, { block: target })
  return state === 'open' ? target : state
}

function openArea(sql: Places, target: Target): BlockIndex | Exclude<Space, 'open' | 'full'> {
  const { at, w, h } = placeOf(target)
  if (at === 'next') return nearestArea(one(sql.allStates, {}).states, { w, h })
  const blocks = blocksHeld({ target, block: at })
  for (const block of blocks) sql.check('blocks', block)
  const states = sql.statesIn.all({ blocks: JSON.stringify(blocks) }).map(({ state }) => state)
  const state = worstOf(states)
  return state === 'open' ? at : state
}

/** The blocks of a target that has a place, as they are not open. */
export function inTheWay(sql: Places, target: Target) {
  const { at } = placeOf(target)
  const blocks = at === 'next' ? [] : blocksHeld({ target, block: at })
  return inTheWayOf(sql.statesIn.all({ blocks: JSON.stringify(blocks) }))
}
