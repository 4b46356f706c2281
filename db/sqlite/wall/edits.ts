/** Edits that were applied already, remembered for as long as a copy of one could be sent again. */

import type { Hash, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { keepUntil, type Signed } from '../../../server/domain/wall/edit.ts'
import type { LogNumber } from '../../../server/domain/wall/log.ts'
import { standingOf, type Standing, type Subject } from '../../edits.ts'
import type { Connection } from '../connection.ts'

/** How a message stands to its subject, whose latest change is `changed`; of several blocks, to all of them. */
export function standing(
  connection: Connection,
  subject: Subject,
  digest: Hash,
  changed: readonly LogNumber[],
): Standing {
  const known = connection
    .prepare<{ number: LogNumber }>(
      'SELECT number FROM edits WHERE digest = $digest AND (block = $block OR agent = $agent)',
    )
    .get({ ...subject, digest })
  return standingOf(known, changed)
}

/** Keeps a message whose first change is `number`, and forgets those that nobody could send again. */
export function keep(
  { prepare }: Connection,
  subject: Subject,
  { digest, ts }: Signed,
  number: LogNumber,
  now: UnixMs,
): void {
  prepare('DELETE FROM edits WHERE keep_until < $now').run({ now })
  prepare(
    'INSERT INTO edits (block, agent, digest, number, keep_until) VALUES ($block, $agent, $digest, $number, $keepUntil)',
  ).run({ ...subject, digest, number, keepUntil: keepUntil(ts) })
}
