/** What a payer gets for a payment: the same words each time the same payment is sent. */

import type { Receipt } from '../../shared/contract/block.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import { ASSET_SYMBOL } from '../../shared/money.ts'
import { coordOf } from '../../shared/wall.ts'
import { fullWallet } from '../../shared/wallet.ts'
import type { SoldPurchase } from '../domain/purchase.ts'

// USDC has six decimals; a receipt shows two.
const ATOMIC_PER_CENT = 10_000n

/** What a receipt is made of. */
export type ReceiptFacts = {
  readonly purchase: SoldPurchase
  readonly sale: Sale | undefined // as readers see it, without what is hidden; undefined while no reader has seen it
  readonly isEarlier?: true | undefined // the payer signed anew, and is told of this purchase instead
  readonly baseUrl: string // the service's own, without a trailing slash
}

/** The receipt of a sale, as it was sold, but for what the operator has hidden since: anybody can show a settled payment. */
export function receiptOf({ purchase, sale, isEarlier, baseUrl }: ReceiptFacts): Receipt {
  const { payment, block, listing, state } = purchase
  const { message, link } = sale === undefined ? listing : { message: sale.m ?? null, link: sale.l ?? null }
  const { painter } = listing
  const coord = coordOf(block)
  return {
    block: coord,
    owner: 'you',
    pixels: 'yours',
    ...(isEarlier === true ? { notice: EARLIER } : {}),
    deed: {
      block: { coord, index: block },
      wallet: fullWallet(payment.payer),
      name: state.name,
      framework: state.framework,
      message,
      link,
      painted: listing.pixels !== null,
      price: { amount: inDollars(payment.amount), asset: ASSET_SYMBOL, network: payment.accepted.network },
      tx: state.tx,
      claimedAt: state.claimedAt,
      ...(painter === null ? {} : { painter: fullWallet(painter) }),
      paint: `Repaint it for free, as often as you like: PUT ${baseUrl}/blocks/${coord} with a body signed by this wallet${painter === null ? '' : ' or its painter'}, as ${baseUrl}/openapi.json describes.`,
    },
  }
}

const EARLIER =
  'This is your earlier purchase, whose receipt had not reached you. The payment you sent now is not used; ask again to buy another block.'

function inDollars(atomic: bigint): string {
  const cents = (atomic / ATOMIC_PER_CENT).toString().padStart(3, '0')
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`
}
