/** Purchases by their payments. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import type { PaymentKey } from '../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../server/domain/purchase/purchase.ts'
import { PURCHASE_SOURCES, purchaseOf, SELECT_PURCHASE, type PurchaseRow } from '../rows.ts'
import { first, onSqlite, type Tx } from '../tx.ts'

/** A purchase and the number of its row. */
export type Stored = { readonly id: number; readonly purchase: Purchase }

const FIND = `${SELECT_PURCHASE} WHERE p.payer = $payer AND p.nonce = $nonce`

// One damaged column of a payment leaves the other of its two names.
const DAMAGED = onSqlite(`
  SELECT 1 FROM payments WHERE {damaged payments id} AND (payer = $payer OR nonce = $nonce) LIMIT 1`)

/** The purchase of a payment, if it was ever claimed. Throws `StoreUnavailable` when its row is damaged. */
export function* find({ payer, nonce }: PaymentKey): Tx<Stored | undefined> {
  const row = yield* first<PurchaseRow>(FIND, { payer, nonce }, PURCHASE_SOURCES)
  if (row !== undefined) return { id: row.id, purchase: purchaseOf(row) }
  // A payment that was lost to damage must not be taken for one that was never seen.
  if ((yield* first(DAMAGED, { payer, nonce })) !== undefined)
    throw new StoreUnavailable('a payment like this one is damaged')
  return undefined
}

/** The purchase of a payment that must have been claimed. */
export function* known(key: PaymentKey): Tx<Stored> {
  const stored = yield* find(key)
  if (stored === undefined) throw new Error('a payment that was never claimed has no purchase')
  return stored
}
