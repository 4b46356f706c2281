/** What the operator settled by hand. */

import type { PaymentKey, UnixMs } from '../../server/domain/payment.ts'
import type { Payouts } from '../../server/ports.ts'
import type { Connection } from './connection.ts'

/** The payouts on one connection. */
export function sqlitePayouts(connection: Connection): Payouts {
  const insert = connection.prepare<unknown, PaymentKey & { reference: string; now: UnixMs }>(`
    INSERT INTO payouts (payer, nonce, reference, at) VALUES ($payer, $nonce, $reference, $now) ON CONFLICT DO NOTHING`)
  return {
    note: async ({ payer, nonce }, reference, now) =>
      connection.write(() => insert.run({ payer, nonce, reference, now }).changes === 1),
  }
}
