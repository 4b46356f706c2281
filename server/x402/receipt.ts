/** What a payer gets for a payment: the same words each time the same payment is sent. */

import { getAddress } from 'viem/utils'
import type { Receipt } from '../../shared/contract/block.ts'
import { ASSET_SYMBOL } from '../../shared/money.ts'
import { coordOf } from '../../shared/wall.ts'
import type { SoldPurchase } from '../domain/purchase.ts'

// USDC has six decimals; a receipt shows two.
const ATOMIC_PER_CENT = 10_000n

/** The receipt of a sale, as it was sold. `baseUrl` is the service's own, without a trailing slash. */
export function receiptOf({ payment, block, listing, state }: SoldPurchase, baseUrl: string): Receipt {
  const coord = coordOf(block)
  return {
    block: coord,
    owner: 'you',
    pixels: 'yours',
    deed: {
      block: { coord, index: block },
      wallet: getAddress(payment.payer),
      name: state.name,
      framework: state.framework,
      message: listing.message,
      link: listing.link,
      painted: listing.pixels !== null,
      price: { amount: inDollars(payment.amount), asset: ASSET_SYMBOL, network: payment.accepted.network },
      tx: state.tx,
      claimedAt: state.claimedAt,
      paint: `Repaint it for free, as often as you like: PUT ${baseUrl}/blocks/${coord} with a body signed by this wallet, as ${baseUrl}/openapi.json describes.`,
    },
  }
}

function inDollars(atomic: bigint): string {
  const cents = (atomic / ATOMIC_PER_CENT).toString().padStart(3, '0')
  return `${cents.slice(0, -2)}.${cents.slice(-2)}`
}
