/** Signed messages that were applied, each stored for as long as a copy of it could be sent again. */

import type { Hash, UnixMs } from '../../server/domain/purchase/payment.ts'
import { computeRetentionEnd, type Signed } from '../../server/domain/wall/edit.ts'
import type { AgentId, LogNumber } from '../../server/domain/wall/log.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { changeRows, countChangedRows, queryFirst, runTogether, type Tx } from '../tx.ts'

/** The subject that messages are recorded for: a block or a wallet. */
export type Subject =
  | { readonly block: BlockIndex; readonly agent: null }
  | { readonly block: null; readonly agent: AgentId }

const OF_BLOCK = 'SELECT number FROM edits WHERE block = $block AND digest = $digest'
const OF_AGENT = 'SELECT number FROM edits WHERE agent = $agent AND digest = $digest'

/** The number of the first change that a message made, if it was applied. */
export function* findFirstChange(subject: Subject, digest: Hash): Tx<LogNumber | undefined> {
  const text = subject.block === null ? OF_AGENT : OF_BLOCK
  return (yield* queryFirst<{ number: LogNumber }>(text, { ...subject, digest }))?.number
}

const FORGET = 'DELETE FROM edits WHERE keep_until < $now'
const KEEP = `
  INSERT INTO edits (block, agent, digest, number, keep_until) VALUES ($block, $agent, $digest, $number, $keepUntil)`

/**
 * Stores a message whose first change is `number`, and deletes messages that can no longer be resent. Must be called
 * after the number was taken: on PostgreSQL, only one transaction at a time can be past that point.
 */
export function* storeMessage(subject: Subject, { digest, ts }: Signed, number: LogNumber, now: UnixMs): Tx<void> {
  const values = { ...subject, digest, number, keepUntil: computeRetentionEnd(ts) }
  yield* runTogether(countChangedRows(FORGET, { now }), changeRows('a message to remember', KEEP, values))
}
