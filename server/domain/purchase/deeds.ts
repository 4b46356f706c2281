/** Deeds and debts as the ledger stores them, with the data that anybody needs to check them on the chain. */

import type { Address, BoundOrder, Hash, PaymentKey, UnixMs } from './payment.ts'
import type { Holding } from './target.ts'

/**
 * A payment that bought something. `target` is the target as requested, and `block` the top left block that was bought.
 */
export type SoldPayment = PaymentKey &
  Holding & {
    readonly seq: number // number of its first sale
    readonly amount: bigint
    readonly payTo: Address
    readonly tx: Hash
    readonly claimedAt: UnixMs
    readonly settled: boolean
    readonly isPainted: boolean // whether it was sold with a picture
    readonly order: BoundOrder | null
  }

/**
 * Money that arrived and bought nothing: a credit, or money that the wall or its operator only recorded. Unknown data
 * is `null`.
 */
export type OwedPayment = PaymentKey & {
  readonly tx: Hash | null
  readonly amount: bigint | null
  readonly reference: string | null // how the operator paid it back
}
