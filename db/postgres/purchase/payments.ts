/** Rows of payments, read and told; see `purchaseOf`. */

import type { PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../../server/domain/purchase/purchase.ts'
import { purchaseOf, SELECT_PURCHASE, type PurchaseRow } from '../../rows.ts'
import type { Check, Reading, Stored } from '../writes.ts'

/** A payment with all of its columns, and its sale's. */
export type PaymentRow = PurchaseRow & Stored<'payments'>

/** A purchase and the row it was read from. */
export type Known = { readonly row: PaymentRow; readonly purchase: Purchase }

/** The purchase of a payment, if it was ever claimed. Throws `StoreUnavailable` when its row is damaged. */
export async function find(reading: Reading, { payer, nonce }: PaymentKey): Promise<Known | undefined> {
  const text = `${SELECT_PURCHASE} WHERE p.payer = $1 AND p.nonce = $2`
  const [row] = await reading.queries.rows<PaymentRow>(text, [payer, nonce])
  return row && told(reading.check, row)
}

/** The purchase of a payment that must have been claimed. */
export async function known(reading: Reading, key: PaymentKey): Promise<Known> {
  const found = await find(reading, key)
  if (found === undefined) throw new Error('a payment that was never claimed has no purchase')
  return found
}

/** The purchase that a row tells of. Throws `StoreUnavailable` when the row is damaged. */
export function told(check: Check, row: PaymentRow): Known {
  check('payments', row)
  const { id: payment, painter, painter_sum: sum } = row
  if (painter !== null) check('purchase_painters', { payment, painter, sum })
  return { row, purchase: purchaseOf(row) }
}
