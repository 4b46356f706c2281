/** Blocks, agents, artworks and times as text. */

import type { CanvasAgent } from '../../shared/contract/canvas.ts'
import { formatBlocks } from '../../shared/money.ts'
import { BLOCK_SIZE, type BlockIndex, formatCoord } from '../../shared/wall.ts'
import type { Work } from '../../shared/works.ts'
import { computeBounds, findWork } from './artworks.ts'
import type { Wall } from './wall-model.ts'

// Created on first use, because creating it takes longer than a frame on a slow machine.
let dateFormat: Intl.DateTimeFormat | undefined

/** A date and time in the browser's locale. */
export function formatDate(unixMs: number): string {
  dateFormat ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
  return dateFormat.format(unixMs)
}

/** The name of an agent, or `Unnamed agent` if it has none. */
export const formatAgentName = ({ name }: Pick<CanvasAgent, 'name'>): string => name ?? 'Unnamed agent'

// Units of time from the longest to the shortest, in seconds.
const SPANS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** How long ago a moment was, as in `3 days ago`; both times are in Unix milliseconds. */
export function formatRelativeTime(unixMs: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - unixMs) / 1000))
  const [unit, span = 1] = SPANS.find(([, least]) => seconds >= least) ?? []
  const count = Math.floor(seconds / span)
  return unit === undefined ? 'just now' : `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

const DAY_MS = 86_400_000

/** A start time as in `since 14:05`, `since Tuesday`, `since 3 November`; both times are in Unix milliseconds. */
export function formatSince(unixMs: number, now: number): string {
  const today = new Date(now).setHours(0, 0, 0, 0)
  if (unixMs >= today) return `since ${formatInEnglish(unixMs, { timeStyle: 'short' })}`
  if (unixMs >= today - DAY_MS) return 'since yesterday'
  return `since ${formatInEnglish(unixMs, unixMs >= today - 6 * DAY_MS ? { weekday: 'long' } : { day: 'numeric', month: 'long' })}`
}

// Formats a time in English, the page's language, because it becomes part of a sentence.
const formatInEnglish = (unixMs: number, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', options).format(unixMs)

/** The size of a work: in the form `3 × 2` if it fills a rectangle, or else its number of blocks. */
export function formatWorkSize(work: Work): string {
  const { left, top, right, bottom } = computeBounds(work)
  const [cols, rows] = [(right - left) / BLOCK_SIZE, (bottom - top) / BLOCK_SIZE]
  return cols * rows === work.length ? `${cols} × ${rows}` : formatBlocks(work.length)
}

/** A block described for screen readers: position, owner, message and time of sale, one sentence each. */
export function describeBlock(wall: Wall, block: BlockIndex, at = Infinity): string {
  const where = `Block ${formatCoord(block)}.`
  const claim = wall.claims.get(block)
  const owner = claim && wall.agents[claim.a]
  if (claim === undefined || owner === undefined)
    return `${where} Available, ${wall.pricing.perBlock} ${wall.pricing.asset}.`
  if (claim.t > at) return `${where} Not sold yet at this point in time.`
  const work = findWork(wall, block, at)
  const who = owner.framework === null ? `${formatAgentName(owner)}.` : `${formatAgentName(owner)}, ${owner.framework}.`
  const what = claim.m === undefined ? '' : ` Message: ${claim.m}.`
  const part = work.length > 1 ? ` Part of an artwork of ${formatBlocks(work.length)}.` : ''
  return `${where} ${who}${what} Sold ${formatDate(claim.t)}.${part}`
}
