/**
 * The receipt of a payment: the same each time the payment is sent, except for parts that have been hidden in the
 * meantime.
 */

import type { SettleResponse } from '@x402/core/types'
import { getAddress } from 'viem/utils'
import { formatArea } from '../../shared/area.ts'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import { formatCoord, toBlockRef } from '../../shared/wall.ts'
import { formatWallet } from '../../shared/wallet.ts'
import type { Failure } from '../domain/failure.ts'
import type { Payment } from '../domain/purchase/payment.ts'
import type { SoldPurchase } from '../domain/purchase/purchase.ts'
import { getArea, listHeldBlocks } from '../domain/purchase/target.ts'
import { toCaip2 } from './network.ts'

/** The parts of a receipt. */
type ReceiptFacts = {
  readonly purchase: SoldPurchase
  /**
   * The sales of the purchase's blocks, as readers see them, without hidden parts; empty while the view does not show
   * them.
   */
  readonly sales: readonly Sale[]
  readonly isEarlier?: true | undefined // the payer signed a new payment, and gets the receipt of this purchase instead
  readonly baseUrl: string // the service's own URL, without a trailing slash
}

/**
 * The receipt of a purchase as it was sold. Parts that the operator has hidden since are left out, because anybody can
 * resend a settled payment. `isArea` is true if the purchase was requested as an area.
 */
export const createReceipt = (facts: ReceiptFacts, isArea: boolean): Receipt | AreaReceipt =>
  isArea ? createAreaReceipt(facts) : createBlockReceipt(facts)

/** The receipt of one block, with its `sales`. */
export function createBlockReceipt({ purchase, sales, isEarlier, baseUrl }: ReceiptFacts): Receipt {
  const { block } = purchase
  const coord = formatCoord(block)
  return {
    block: coord,
    owner: 'you',
    pixels: 'yours',
    ...(isEarlier === true ? { notice: describeEarlier('block') } : {}),
    deed: {
      block: toBlockRef(block),
      ...describeBought(purchase, sales),
      paint: `Repaint it for free, ${explainPainting(purchase, baseUrl, `/blocks/${coord}`)}`,
    },
  }
}

function createAreaReceipt({ purchase, sales, isEarlier, baseUrl }: ReceiptFacts): AreaReceipt {
  const area = formatArea(getArea(purchase))
  return {
    area,
    blocks: listHeldBlocks(purchase).map(formatCoord),
    owner: 'you',
    pixels: 'yours',
    ...(isEarlier === true ? { notice: describeEarlier('area') } : {}),
    deed: {
      area,
      ...describeBought(purchase, sales),
      paint: `Repaint it whole for free, ${explainPainting(purchase, baseUrl, `/areas/${area}`)}`,
    },
  }
}

const explainPainting = ({ listing }: SoldPurchase, baseUrl: string, path: string) =>
  `at any time: PUT ${baseUrl}${path} with a body signed by this wallet${listing.painter === null ? '' : ' or its painter'}, or POST there and sign in (x402 extension sign-in-with-x), as ${baseUrl}/openapi.json describes.`

/** The listing of a purchase, without parts that are hidden on any of its blocks. */
function describeBought(
  { payment, listing, state }: SoldPurchase,
  sales: readonly Sale[],
): Omit<AreaReceipt['deed'], 'area' | 'paint'> {
  return {
    wallet: formatWallet(payment.payer),
    name: sales.every(({ agent }) => agent.name !== null) ? state.name : null,
    framework: sales.every(({ agent }) => agent.framework !== null) ? state.framework : null,
    message: sales.every(({ m }) => m !== undefined) ? listing.message : null,
    link: sales.every(({ l }) => l !== undefined) ? listing.link : null,
    painted: listing.pixels !== null,
    price: { amount: formatMoney(payment.amount), asset: ASSET_SYMBOL, network: payment.accepted.network },
    tx: state.tx,
    claimedAt: state.claimedAt,
    ...(listing.painter === null ? {} : { painter: formatWallet(listing.painter) }),
  }
}

const describeEarlier = (what: 'block' | 'area') =>
  `This receipt of your earlier purchase had not reached you before. The payment you sent now was not used and never will be. To buy another ${what}, sign a new payment.`

/** Encodes a value for a header, as JSON in base64. */
export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** The content of PAYMENT-RESPONSE for a purchase. */
export function createSettleResponse({ payment, state }: SoldPurchase): SettleResponse {
  return {
    success: true,
    payer: getAddress(payment.payer),
    transaction: state.tx,
    network: toCaip2(payment.accepted.network),
    amount: payment.amount.toString(),
  }
}

/**
 * The content of PAYMENT-RESPONSE for a payment that may still be settled. The transaction is the one that a
 * facilitator named, which proves nothing.
 */
export function createPendingResponse({ payer, accepted }: Payment, { details }: Failure): SettleResponse {
  const transaction = details?.['transaction']
  return {
    success: false,
    errorReason: 'settlement_pending',
    payer: getAddress(payer),
    transaction: typeof transaction === 'string' ? transaction : '',
    network: toCaip2(accepted.network),
  }
}
