/** The newest changes as encoded events, shared by all clients that follow the wall or catch up. */

import { getOrMake, createLru } from '../../../shared/lru.ts'
import type { UnixMs } from '../../domain/purchase/payment.ts'
import type { Change, IdentityChange, LogNumber, ModerationChange } from '../../domain/wall/log.ts'
import { omitHiddenParts, omitHiddenNames } from '../../domain/wall/moderation.ts'
import { toChangeDto } from '../../domain/wall/wall-view.ts'
import type { Log } from '../../ports.ts'

/** Consecutive events as bytes, and the number of the last event. */
export type Piece = { readonly bytes: Uint8Array; readonly to: LogNumber }

/** The newest events. */
export type RecentEvents = {
  addChange(change: Change): void
  /** All events in memory after a number, encoded. Most followers are at the same number and share the bytes. */
  encodeAfter(number: LogNumber): Uint8Array
  /**
   * The number of the newest change in memory that was made before `time`. If there is none, the number before the
   * oldest change in memory; `undefined` if no change is in memory.
   */
  findNumberAt(time: UnixMs): LogNumber | undefined
  /** The next events after a number, from memory or from the log; `undefined` when there are none up to `end`. */
  readPiece(after: LogNumber, end: LogNumber): Promise<Piece | undefined>
}

// At least this many events stay in memory. Older ones are read from the log.
const RECENT_MAX = 2000

// Events per chunk. Chunks are small, so that a client that does not read uses little memory.
const PIECE = 100

// Enough for all chunks that a client may need to catch up (`BEHIND_MAX` changes), plus some unaligned ones.
const PIECES_MAX = 64

const encoder = new TextEncoder()
const NOTHING = new Uint8Array()

export function createRecentEvents(log: Log): RecentEvents {
  const events: RecentEvent[] = []
  const pieces = createLru<string, Promise<Piece | undefined>>(PIECES_MAX)
  let shared = { after: 0, upTo: 0, bytes: NOTHING }

  const clearCaches = () => {
    pieces.clear()
    shared = { after: 0, upTo: 0, bytes: NOTHING }
  }
  // The log omits content that was hidden later, so events in memory must be rebuilt without it, too.
  const withholdContent = ({ block, hidden }: ModerationChange) => {
    clearCaches()
    for (const [at, { change }] of events.entries())
      if ('content' in change && change.block === block)
        events[at] = createRecentEvent({ ...change, content: omitHiddenParts(change.content, hidden) })
  }
  const withholdNames = ({ agent, withheld }: IdentityChange) => {
    if (withheld === undefined) return
    clearCaches()
    for (const [at, { change }] of events.entries())
      if ('agent' in change && change.agent === agent)
        events[at] = createRecentEvent({ ...change, profile: omitHiddenNames(change.profile, withheld) })
  }
  const joinTexts = (after: LogNumber, to: LogNumber) => {
    const first = events.findLastIndex(({ change }) => change.number <= after) + 1
    const last = events.findLastIndex(({ change }) => change.number <= to) + 1
    return events.slice(first, last).map((event) => event.renderText())
  }
  const read = async (after: LogNumber, to: LogNumber): Promise<Piece | undefined> => {
    const oldest = events[0]?.change.number ?? Number.POSITIVE_INFINITY
    if (after + 1 >= oldest) return { bytes: encoder.encode(joinTexts(after, to).join('')), to }
    const changes = await log.readAfter(after, to - after)
    const last = changes.at(-1)
    return last && { bytes: encoder.encode(changes.map(renderEvent).join('')), to: last.number }
  }
  return {
    addChange(change) {
      if (change.kind === 'hide') withholdContent(change)
      if (change.kind === 'identity') withholdNames(change)
      events.push(createRecentEvent(change))
      if (events.length > 2 * RECENT_MAX) events.splice(0, RECENT_MAX)
    },
    encodeAfter(number) {
      const upTo = events.at(-1)?.change.number ?? 0
      if (shared.after !== number || shared.upTo !== upTo)
        shared = { after: number, upTo, bytes: encoder.encode(joinTexts(number, upTo).join('')) }
      return shared.bytes
    },
    findNumberAt(time) {
      const [first] = events
      return events.findLast(({ change }) => change.at < time)?.change.number ?? (first && first.change.number - 1)
    },
    async readPiece(after, end) {
      // Chunks end at numbers that are multiples of `PIECE`, so that clients that catch up from different numbers share
      // them.
      const to = Math.min(end, after + PIECE - (after % PIECE))
      if (to <= after) return undefined
      return await getOrMake(pieces, `${after}-${to}`, () => read(after, to))
    },
  }
}

/** Whether a change hides something that an earlier change showed. */
export const hidesEarlier = (change: Change): boolean =>
  change.kind === 'hide' || (change.kind === 'identity' && change.withheld !== undefined)

/** A change and its event, whose text is made once, when it is first needed. */
type RecentEvent = { readonly change: Change; readonly renderText: () => string }

function createRecentEvent(change: Change): RecentEvent {
  let text: string | undefined
  return { change, renderText: () => (text ??= renderEvent(change)) }
}

const renderEvent = (change: Change) => {
  const wire = toChangeDto(change)
  return formatEvent(wire, wire.number)
}

/** The text of an event. A client that reconnects continues after the last event that had an id. */
export const formatEvent = (data: { readonly kind: string }, id?: LogNumber): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${data.kind}\ndata: ${JSON.stringify(data)}\n\n`
