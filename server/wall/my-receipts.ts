/** Lists every purchase of the wallet that signs in, for an agent that has lost its requests. */

import { RECEIPTS_MAX, type OwnPurchase, type Receipts } from '../../shared/contract/wallet.ts'
import type { Failure } from '../domain/failure.ts'
import type { NumberedPurchase } from '../domain/purchase/account.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { isSold } from '../domain/purchase/purchase.ts'
import { isBlock, formatTarget } from '../domain/purchase/target.ts'
import { listSales, type WallView } from '../domain/wall/wall-view.ts'
import type { LedgerReader } from '../ports.ts'
import { createReceipt } from '../x402/receipt.ts'
import { createNoPurchasesFailure } from './my-wall.ts'
import { createWalletRule, type SignedRequest } from './signed-changes.ts'

export type MyReceiptsDeps = {
  readonly view: WallView
  readonly ledgerReader: LedgerReader
  readonly baseUrl: string
}

/** The address of the list, and the statement that is signed for it. */
export const RECEIPTS = { path: '/api/agents/me/receipts', what: 'List the receipts of this wallet' } as const

/**
 * A page of a wallet's purchases with numbers below `after`; the first page is refused if the wallet has no purchases.
 */
export async function readOwnReceipts(
  { view, ledgerReader, baseUrl }: MyReceiptsDeps,
  wallet: Address,
  after: number | undefined,
): Promise<SignedRequest<Receipts> | Failure> {
  const found = await ledgerReader.listPurchases(wallet, after ?? Number.MAX_SAFE_INTEGER, RECEIPTS_MAX + 1)
  if (found.length === 0 && after === undefined) return createNoPurchasesFailure()
  const page = found.slice(0, RECEIPTS_MAX)
  const nextAfter = found.length > RECEIPTS_MAX ? (page.at(-1)?.number ?? null) : null
  return {
    ...createWalletRule(wallet),
    // Reading the list changes nothing, so the same sign-in header can be sent again.
    apply: async () => 'repeated',
    createAnswer: () => ({ purchases: page.map((one) => toOwnPurchase(one, view, baseUrl)), nextAfter }),
  }
}

function toOwnPurchase({ since, purchase }: NumberedPurchase, view: WallView, baseUrl: string): OwnPurchase {
  const { payment, target, state } = purchase
  const tx = 'tx' in state ? state.tx : null
  return {
    target: formatTarget(target),
    nonce: payment.nonce,
    since,
    state: state.kind === 'released' && state.isFinal ? 'expired' : state.kind,
    tx,
    receipt: isSold(purchase)
      ? createReceipt({ purchase, sales: listSales(view, purchase), baseUrl }, !isBlock(purchase.target))
      : null,
    credit:
      state.kind === 'credited' && state.isPaidBack !== true
        ? { amount: payment.amount.toString(), tx: state.tx }
        : null,
  }
}
