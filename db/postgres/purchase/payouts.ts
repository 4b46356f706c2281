/** What was settled outside of purchases: by hand, or as stray money. */

import { STRAY_NOTE } from '../../../server/domain/purchase/stray-money.ts'
import type { Payouts } from '../../../server/ports.ts'
import type { Connection } from '../connection.ts'

const IS_STRAY = `payouts.reference = '${STRAY_NOTE}'`
const NOTE = `
  INSERT INTO payouts (payer, nonce, reference, at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (payer, nonce) DO UPDATE SET reference = excluded.reference, at = excluded.at
    WHERE ${IS_STRAY} AND excluded.reference <> '${STRAY_NOTE}'
  RETURNING 1`

/** The payouts of a database. */
export function postgresPayouts({ rows, transaction }: Connection): Payouts {
  return {
    note: ({ payer, nonce }, reference, now) =>
      transaction(null, async ({ write }) => {
        const made = await write(NOTE, [payer, nonce, reference, now])
        return made.length === 1
      }),
    isNoted: async ({ payer, nonce }) =>
      (await rows('SELECT 1 FROM payouts WHERE payer = $1 AND nonce = $2', [payer, nonce])).length > 0,
  }
}
