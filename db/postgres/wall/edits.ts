/** Edits that were applied already, remembered for as long as a copy of one could be sent again. */

import type { Hash } from '../../../server/domain/purchase/payment.ts'
import { keepUntil, type Signed } from '../../../server/domain/wall/edit.ts'
import type { LogNumber } from '../../../server/domain/wall/log.ts'
import { standingOf, type Standing, type Subject } from '../../edits.ts'
import type { Queries } from '../pool.ts'
import type { Write } from '../writes.ts'

/** How a message stands to its subject, whose latest change is `changed`; of several blocks, to all of them. */
export async function standing(
  { rows }: Queries,
  { block, agent }: Subject,
  digest: Hash,
  changed: readonly LogNumber[],
): Promise<Standing> {
  const [known] = await rows<{ number: LogNumber }>(
    'SELECT number FROM edits WHERE digest = $1 AND (block = $2 OR agent = $3)',
    [digest, block, agent],
  )
  return standingOf(known, changed)
}

/** Keeps a message whose first change is `number`. */
export function keep({ block, agent }: Subject, { digest, ts }: Signed, number: LogNumber): Write {
  return {
    what: 'a message to remember',
    values: [block, agent, digest, number, keepUntil(ts)],
    text: (from) => `
      INSERT INTO edits (block, agent, digest, number, keep_until)
      VALUES ($${from}, $${from + 1}, $${from + 2}, $${from + 3}, $${from + 4}) RETURNING 1`,
  }
}
