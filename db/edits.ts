/** Edits: what they leave of what was, and which were applied already. */

import type { Edit } from '../server/domain/wall/edit.ts'
import type { AgentId, Face, LogNumber } from '../server/domain/wall/log.ts'
import { partOf } from '../shared/pixels.ts'
import type { BlockIndex } from '../shared/wall.ts'

/** What an edit leaves of a value: `undefined` keeps it, `null` clears it. */
export const edited = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value

/** What an edit leaves of the block that is number `at` of those it is about. */
export const faceAfter = ({ pixels, message, link }: Edit, at: number, before: Face): Face => ({
  pixels: edited(pixels && partOf(pixels, at), before.pixels),
  message: edited(message, before.message),
  link: edited(link, before.link),
})

/** Whose messages are kept apart: a block's or a wallet's. */
export type Subject =
  | { readonly block: BlockIndex; readonly agent: null }
  | { readonly block: null; readonly agent: AgentId }

/** What a message is to its subject: new, the latest word on it, or older than that. */
export type Standing = 'new' | 'repeated' | 'superseded'

/** How a message that is `known` by its first change stands to its subject; `changed` are the latest ones of all its blocks. */
export function standingOf(
  known: { readonly number: LogNumber } | null | undefined,
  changed: readonly LogNumber[],
): Standing {
  if (known === null || known === undefined) return 'new'
  return changed.every((number, at) => number === known.number + at) ? 'repeated' : 'superseded'
}
