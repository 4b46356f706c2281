/** The last numbers given; see the order of locks in connection.ts. */

import type { UnixMs } from '../../server/domain/purchase/payment.ts'
import type { LogNumber } from '../../server/domain/wall/log.ts'
import type { Transaction } from './connection.ts'

/**
 * The place of an entry in the log and when it becomes true, of several entries the first one's; `seq` and `agent` are the
 * last ones that were given.
 */
export type Entry = { readonly number: LogNumber; readonly at: UnixMs; readonly seq: number; readonly agent: number }

/** Which numbers an entry takes beside its own. */
export type Taking = {
  readonly entries?: number // one, if not given
  readonly seq?: number // how many sales
  readonly agent?: 1
  readonly forgetEdits?: true
}

// Those that others are just forgetting are left to them.
const FORGET = `
  WITH forgotten AS (DELETE FROM edits WHERE id IN (
    SELECT id FROM edits WHERE keep_until < $3 ORDER BY id FOR UPDATE SKIP LOCKED))`

/**
 * Takes the next numbers, which nobody else can until the transaction ends. Time in the log never goes back, even where the
 * clock does. Messages that nobody could send again are forgotten on the way.
 */
export async function nextEntry({ write }: Transaction, now: UnixMs, taking: Taking = {}): Promise<Entry> {
  const [entry] = await write<Entry>(
    `${taking.forgetEdits === true ? FORGET : ''}
    UPDATE counters SET number = number + $4, seq = seq + $1, agent = agent + $2, at = greatest(at, $3)
    RETURNING number - $4 + 1 AS number, seq, agent, at`,
    [taking.seq ?? 0, taking.agent ?? 0, now, taking.entries ?? 1],
  )
  if (entry === undefined) throw new Error('the database has no counters')
  return entry
}
