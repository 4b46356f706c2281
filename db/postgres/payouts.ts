/** What the operator settled by hand. */

import type { Payouts } from '../../server/ports.ts'
import type { Connection } from './connection.ts'

/** The payouts of a database. */
export function postgresPayouts({ transaction }: Connection): Payouts {
  return {
    note: ({ payer, nonce }, reference, now) =>
      transaction(null, async ({ write }) => {
        const made = await write(
          'INSERT INTO payouts (payer, nonce, reference, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1',
          [payer, nonce, reference, now],
        )
        return made.length === 1
      }),
  }
}
