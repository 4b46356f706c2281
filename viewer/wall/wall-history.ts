/** The wall's history, and the wall as it was at a moment. */

import type { ChangeDto } from '../../shared/contract/live.ts'
import { type BlockIndex, isBlockIndex } from '../../shared/wall.ts'
import { createTexture, clearBlock, paintBlock } from './pixel-buffer.ts'
import type { Wall } from './wall-model.ts'

type Shown = Exclude<ChangeDto, { kind: 'identity' }>

/** Every sale and repaint, from the first one. */
export type History = {
  readonly nextAfter: number // log number after which to continue reading
  readonly changes: readonly Shown[] // in order of time
  readonly moments: Float64Array<ArrayBuffer> // the times of the changes, in Unix milliseconds
  readonly ofBlock: ReadonlyMap<number, readonly number[]> // positions in `changes`, ascending, by block index
}

/** The wall after the first `count` changes of a history. */
export type Past = { readonly wall: Wall; readonly history: History; readonly count: number }

/** Creates the history from a log that has been read as far as `nextAfter`. */
export function createHistory(log: readonly ChangeDto[], nextAfter: number): History {
  const changes = log.filter((change) => change.kind !== 'identity').toSorted((a, b) => a.t - b.t)
  const moments = Float64Array.from(changes, ({ t }) => t)
  const ofBlock = Map.groupBy(changes.keys(), (place) => changes[place]?.i ?? 0)
  return { nextAfter, changes, moments, ofBlock }
}

/**
 * The wall at a moment in Unix milliseconds. Blocks sold later look open and keep their claims. `from` is the wall at
 * another moment. If `from` has the same history, its wall is updated in place with only the changes in between.
 */
export function rebuildPast(present: Wall, history: History, at: number, from?: Past): Past {
  const count = countMomentsUntil(history.moments, at)
  const isNear = from?.history === history
  if (isNear && from.count === count) return from
  const before = isNear ? from.wall : { ...present, texture: createTexture(), claims: new Map(present.claims) }
  const start = isNear ? from.count : 0
  const between = history.changes.slice(Math.min(start, count), Math.max(start, count))
  const touched = [...new Set(between.map(({ i }) => i))].filter(isBlockIndex)
  for (const block of touched) showChange(before, block, findLastChange(history, block, count))
  return { wall: { ...before, changed: isNear ? touched : undefined }, history, count }
}

/** The last change of a block among the first `count` changes of the history. */
function findLastChange({ changes, ofBlock }: History, block: BlockIndex, count: number): Shown | undefined {
  const place = ofBlock.get(block)?.findLast((at) => at < count)
  return place === undefined ? undefined : changes[place]
}

function showChange({ texture, claims }: Wall, block: BlockIndex, change: Shown | undefined) {
  if (change === undefined) return clearBlock(texture, block)
  const { m, l, px } = change
  paintBlock(texture, block, px)
  const claim = claims.get(block)
  if (claim !== undefined) claims.set(block, { ...claim, m, l })
}

/** Unix milliseconds of every sale, ascending. */
export function listMoments({ claims }: Wall): Float64Array<ArrayBuffer> {
  return Float64Array.from(claims.values(), ({ t }) => t).sort()
}

/** The number of moments, for example of sales, up to and including `at`; all of them if `at` is undefined. */
export function countMomentsUntil(moments: Float64Array, at: number | undefined): number {
  if (at === undefined) return moments.length
  let low = 0
  let high = moments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((moments[middle] ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The moment of change number `count`: for 0, just before the first change; for all changes, `undefined`, which means
 * now.
 */
export function findMomentAfter(moments: Float64Array, count: number): number | undefined {
  if (count >= moments.length) return undefined
  return count <= 0 ? Math.max((moments[0] ?? 1) - 1, 0) : moments[count - 1]
}

// The maximum playing time of the whole history, and of each change.
const WHOLE_PLAY_MS = 20_000
const SALE_MAX_MS = 400

/** The number of changes, with a fraction, after playing for `ms` from `count`. */
export function advancePlayback(moments: Float64Array, count: number, ms: number): number {
  return count + ms / Math.min(SALE_MAX_MS, WHOLE_PLAY_MS / Math.max(moments.length, 1))
}
