/** A seller with fake dependencies, except for those that a test passes. */

import type { Outcome } from '../../../server/domain/purchase/purchase.ts'
import type { PurchaseDeps } from '../../../server/purchase/purchase-run.ts'
import { createSeller, type Seller } from '../../../server/purchase/seller.ts'
import { TERMS } from '../samples.ts'
import { createFakeLogger } from './logger.ts'
import { noPictures } from './pictures.ts'
import { armedRail } from './rail.ts'
import { fakeWallets } from './wallets.ts'

type Given = Pick<PurchaseDeps, 'ledger' | 'facilitator' | 'chain' | 'clock'> & Partial<PurchaseDeps>

export const createSellerWith = (given: Given): Seller =>
  createSeller({
    pictures: noPictures,
    wallets: fakeWallets,
    logger: createFakeLogger(),
    rail: armedRail,
    terms: TERMS,
    payees: new Set([TERMS.payTo]),
    contact: null,
    applyNewEntries: async () => {},
    ...given,
  })

/** A seller that handles every payment with `buy`, and reports every target as open. */
export const createSellerStub = (buy: Seller['buy']): Seller => ({
  buy,
  readOffer: () => 'open',
  reconcile: async () => true,
  waitUntilIdle: async () => {},
})

/** The result for a buyer: the nonce of the payment that paid for the purchase, or the code of the refusal. */
export const readNonceOrCode = (outcome: Outcome): string =>
  outcome.kind === 'bought' ? outcome.purchase.payment.nonce : outcome.code
