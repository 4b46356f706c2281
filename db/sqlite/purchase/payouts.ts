/** What was settled outside of purchases: by hand, or as stray money. */

import type { PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { STRAY_NOTE } from '../../../server/domain/purchase/stray-money.ts'
import type { Payouts } from '../../../server/ports.ts'
import type { Connection } from '../connection.ts'

const IS_STRAY = `payouts.reference = '${STRAY_NOTE}'`

/** The payouts on one connection. */
export function sqlitePayouts(connection: Connection): Payouts {
  const insert = connection.prepare<unknown, PaymentKey & { reference: string; now: UnixMs }>(`
    INSERT INTO payouts (payer, nonce, reference, at) VALUES ($payer, $nonce, $reference, $now)
    ON CONFLICT (payer, nonce) DO UPDATE SET reference = excluded.reference, at = excluded.at
      WHERE ${IS_STRAY} AND excluded.reference <> '${STRAY_NOTE}'`)
  const noted = connection.prepare<unknown, PaymentKey>('SELECT 1 FROM payouts WHERE payer = $payer AND nonce = $nonce')
  return {
    note: async ({ payer, nonce }, reference, now) =>
      connection.write(() => insert.run({ payer, nonce, reference, now }).changes === 1),
    isNoted: async ({ payer, nonce }) => connection.read(() => noted.get({ payer, nonce }) !== null),
  }
}
