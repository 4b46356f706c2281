/** Which of two namings of a painter holds. */

import type { Address } from '../purchase/payment.ts'
import type { PainterNaming } from './edit.ts'

/** Whom a purchase named, by the number of its payment. */
export type PurchasePainter = { readonly payment: number; readonly painter: Address }

/** A wallet's word, and the last payment whose own naming it ended. */
export type WalletPainter = PainterNaming & { readonly through: number }

/** Who paints what a purchase bought: whom it named itself, unless the wallet has spoken since. */
export function painterAmong(purchase: PurchasePainter | null, wallet: WalletPainter | null): Address | null {
  if (purchase !== null && purchase.payment > (wallet?.through ?? 0)) return purchase.painter
  return wallet?.painter ?? null
}
