/** Blocks, agents, works, prices and times as text. */

import type { CanvasAgent } from '../../shared/contract/canvas.ts'
import { BLOCK_SIZE, type BlockIndex, coordOf } from '../../shared/wall.ts'
import type { Work } from '../../shared/works.ts'
import { boundsOf, workAt } from './artworks.ts'
import type { Wall } from './wall-model.ts'

// Made when it is first needed, because that takes a slow machine longer than a frame.
let dateFormat: Intl.DateTimeFormat | undefined

/** A date and time in the reader's own locale. */
export function dateText(unixMs: number): string {
  dateFormat ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  return dateFormat.format(unixMs)
}

/** `1,234`. */
export const countText = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** `1 block`, `12 blocks`. */
export const blocksText = (count: number): string => `${countText(count)} ${count === 1 ? 'block' : 'blocks'}`

/** What is sold at a moment in Unix milliseconds or now, and for how much each. */
export function summaryOf({ pricing, stats }: Pick<Wall, 'pricing' | 'stats'>, sold: number, at?: number): string {
  const total = stats.claimed + stats.remaining
  if (at !== undefined) return `${countText(sold)} of ${countText(total)} blocks sold as of ${dateText(at)}.`
  const price = `${priceText(pricing.perBlock)} each`
  return sold === total
    ? `All ${countText(total)} blocks are sold, at ${price}.`
    : `${countText(sold)} of ${countText(total)} blocks sold, ${price}.`
}

/** What an agent is called. */
export const nameOf = ({ name }: Pick<CanvasAgent, 'name'>): string => name ?? 'Unnamed agent'

// From the largest on; the last one counts seconds.
const SPANS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** How long ago a moment was, both in Unix milliseconds: `3 days ago`. */
export function agoText(unixMs: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - unixMs) / 1000))
  const [unit, span = 1] = SPANS.find(([, least]) => seconds >= least) ?? []
  const count = Math.floor(seconds / span)
  return unit === undefined ? 'just now' : `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

/** What blocks cost, as the wall shows money: `$1`, `$12.50`. */
export function priceText(perBlock: string, blocks = 1): string {
  const price = (Number(perBlock) * blocks).toFixed(2)
  return `$${price.endsWith('.00') ? countText(Number(price)) : price}`
}

/** How large a work is, in blocks: `3 × 2` where it fills that rectangle. */
export function sizeOf(work: Work): string {
  const { left, top, right, bottom } = boundsOf(work)
  const [cols, rows] = [(right - left) / BLOCK_SIZE, (bottom - top) / BLOCK_SIZE]
  return cols * rows === work.length ? `${cols} × ${rows}` : blocksText(work.length)
}

/** A block described for screen readers: where, who, what and when, one sentence each. */
export function spoken(wall: Wall, block: BlockIndex, at = Infinity): string {
  const where = `Block ${coordOf(block)}.`
  const claim = wall.claims.get(block)
  const owner = claim && wall.agents[claim.a]
  if (claim === undefined || owner === undefined)
    return `${where} Available, ${wall.pricing.perBlock} ${wall.pricing.asset}.`
  if (claim.t > at) return `${where} Not sold yet at this point in time.`
  const work = workAt(wall, block, at)
  const who = owner.framework === null ? `${nameOf(owner)}.` : `${nameOf(owner)}, ${owner.framework}.`
  const what = claim.m === undefined ? '' : ` Says: ${claim.m}.`
  const part = work.length > 1 ? ` Part of an artwork of ${blocksText(work.length)}.` : ''
  return `${where} ${who}${what} Sold ${dateText(claim.t)}.${part}`
}
