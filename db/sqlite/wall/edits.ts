/** Edits that were applied already, remembered for as long as a copy of one could be sent again. */

import type { Hash, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Signed } from '../../../server/domain/wall/edit.ts'
import type { LogNumber } from '../../../server/domain/wall/log.ts'
import { standingOf, type Standing, type Subject } from '../../edits.ts'
import type { Connection } from '../connection.ts'

/** Remembers messages; every function must be called inside a transaction. */
export function digests(connection: Connection) {
  type Key = { block: number | null; agent: number | null; digest: Hash }
  const find = connection.prepare<{ number: LogNumber }, Key>(
    'SELECT number FROM edits WHERE digest = $digest AND (block = $block OR agent = $agent)',
  )
  const insert = connection.prepare<unknown, Key & { number: number; keepUntil: number }>(
    'INSERT INTO edits (block, agent, digest, number, keep_until) VALUES ($block, $agent, $digest, $number, $keepUntil)',
  )
  const forget = connection.prepare<unknown, { now: number }>('DELETE FROM edits WHERE keep_until < $now')
  return {
    /** How a message stands to its subject, whose latest change is `changed`; of several blocks, to all of them. */
    standing: (subject: Subject, digest: Hash, changed: readonly LogNumber[]): Standing =>
      standingOf(find.get({ ...subject, digest }), changed),
    /** Keeps a message whose first change is `number`, and drops those that nobody could send again. */
    keep: (subject: Subject, { digest, keepUntil }: Signed, number: LogNumber, now: UnixMs): void => {
      forget.run({ now })
      insert.run({ ...subject, digest, number, keepUntil })
    },
  }
}
