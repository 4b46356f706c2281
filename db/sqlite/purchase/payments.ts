/** Rows of payments, read and told; see `purchaseOf`. */

import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../../server/domain/purchase/purchase.ts'
import { purchaseOf, SELECT_PURCHASE, type PurchaseRow } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'

/** A purchase and the number of its row. */
export type Stored = { readonly id: number; readonly purchase: Purchase }

const FIND = `${SELECT_PURCHASE} WHERE p.payer = $payer AND p.nonce = $nonce`

// One damaged column of a payment leaves the other of its two names.
const DAMAGED = `
  SELECT 1 FROM payments WHERE ${isDamaged('payments', 'id')} AND (payer = $payer OR nonce = $nonce) LIMIT 1`

/** The purchase of a payment, if it was ever claimed. Throws `StoreUnavailable` when its row is damaged. */
export function find(connection: Connection, { payer, nonce }: PaymentKey): Stored | undefined {
  const row = connection.prepare<PurchaseRow>(FIND).get({ payer, nonce })
  if (row !== null) return { id: row.id, purchase: readPurchase(connection, row) }
  // A payment that was lost to damage must not be taken for one that was never seen.
  if (connection.prepare(DAMAGED).get({ payer, nonce }) !== null)
    throw new StoreUnavailable('a payment like this one is damaged')
  return undefined
}

/** The purchase that a row tells of. Throws `StoreUnavailable` when the row is damaged. */
export function readPurchase({ check }: Connection, row: PurchaseRow): Purchase {
  check('payments', row.id)
  if (row.sale_number !== null) check('changes', row.sale_number)
  if (row.painter !== null) check('purchase_painters', row.id)
  return purchaseOf(row)
}

/** The purchase of a payment that must have been claimed. */
export function known(connection: Connection, key: PaymentKey): Stored {
  const stored = find(connection, key)
  if (stored === undefined) throw new Error('a payment that was never claimed has no purchase')
  return stored
}
