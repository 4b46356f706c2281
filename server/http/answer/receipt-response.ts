/** The answer to a purchase: its receipt, and what x402 says of the settlement in a header. */

import type { SoldPurchase } from '../../domain/purchase/purchase.ts'
import { encodeHeader, settleResponse } from '../../x402/header.ts'
import { PAYMENT_RESPONSE_V1, settlementHeaderV1, type SentPayment } from '../../x402/v1.ts'
import { respondJson } from './respond.ts'

/** Answers a buyer who paid by a version of x402. */
export const respondReceipt = (receipt: object, purchase: SoldPurchase, version: SentPayment['version']): Response =>
  respondJson(200, receipt, {
    'Cache-Control': 'private, no-store',
    'PAYMENT-RESPONSE': encodeHeader(settleResponse(purchase)),
    ...(version === 1 ? { [PAYMENT_RESPONSE_V1]: settlementHeaderV1(purchase) } : {}),
  })
