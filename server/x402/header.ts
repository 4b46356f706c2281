/** x402 v2 headers that we send: base64 of JSON in UTF-8. */

import type { SettleResponse } from '@x402/core/types'
import { getAddress } from 'viem/utils'
import type { SoldPurchase } from '../domain/purchase/purchase.ts'
import { asCaip2 } from './network.ts'

/** A header's value. */
export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** What PAYMENT-RESPONSE says of a purchase. */
export function settleResponse({ payment, state }: SoldPurchase): SettleResponse {
  return {
    success: true,
    payer: getAddress(payment.payer),
    transaction: state.tx,
    network: asCaip2(payment.accepted.network),
    amount: payment.amount.toString(),
  }
}
