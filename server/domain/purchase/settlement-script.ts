/**
 * The steps of a purchase that move money or track it: they settle a held purchase, act on its chain status, release
 * its block, and confirm its transfer. They are pure, like those in `purchase-script.ts`.
 */

import { StoreUnavailable, type Failure } from '../failure.ts'
import { findNamedTransaction, refuseIfUnsent, type SettleResult } from './facilitator-errors.ts'
import { type Hash } from './payment.ts'
import {
  type AnswerTo,
  type ChainStatus,
  type ChainWait,
  isSold,
  type Purchase,
  type ScriptRequest,
  type Script,
} from './purchase.ts'
import {
  createChargeUnknownFailure,
  createNotPersistedFailure,
  createPaymentRequiredFailure,
  createSettlementUnknownFailure,
} from './refusals.ts'

/** The state of a purchase after a step, and the refusal to give if it is not sold. */
export type PurchaseProgress = { readonly purchase: Purchase; readonly status?: ChainStatus; readonly refusal: Failure }

/**
 * Settles a purchase for the first time. At this step only, a facilitator's refusal can release the block, because this
 * attempt has not tried to settle before.
 */
export function* settleFirst(purchase: Purchase): Script<PurchaseProgress> {
  const settling = yield* requestStep({ do: 'settle', purchase })
  const refusal = refuseIfUnsent(settling)
  if (refusal === undefined)
    return yield* applyChainStatus(purchase, yield* queryChainAfterSettling(settling, purchase), settling)
  // An unsent payment was not broadcast. A refused payment may have been broadcast, whatever the facilitator says, so a
  // later block decides.
  const status = yield* queryChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')
  if (status.kind !== 'unspent') return yield* applyChainStatus(purchase, status, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, status, refusal }
}

/**
 * Continues with a held block for which an earlier run may already have sent the payment. From here on, only the chain
 * decides.
 */
export function* resume(purchase: Purchase): Script<PurchaseProgress> {
  const held = yield* markUncertain(purchase)
  const status = yield* queryChain(held, 'none')
  if (status.kind !== 'unspent' || !isUncertain(held)) return yield* applyChainStatus(held, status)
  const settling = yield* requestStep({ do: 'settle', purchase: held })
  return yield* applyChainStatus(held, yield* queryChainAfterSettling(settling, held), settling)
}

/** Acts on the chain status. A facilitator's report of success is used only if the chain is silent. */
function* applyChainStatus(purchase: Purchase, status: ChainStatus, settling?: SettleResult): Script<PurchaseProgress> {
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)
  if (status.kind === 'void') return yield* releaseVoid(purchase, status)
  if (status.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* markUncertain(purchase), status, refusal: createSettlementUnknownFailure(purchase) }
}

/** Checks whether a released payment has settled after all. If so, its payer gets a block or a credit. */
export function* checkReleased(purchase: Purchase): Script<PurchaseProgress> {
  const status = yield* queryChain(purchase, 'none')
  if (status.kind === 'paid') {
    const given = yield* requestStep({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: createChargeUnknownFailure() }
  }
  if (status.kind === 'void') return yield* releaseVoid(purchase, status)
  return { purchase, status, refusal: createChargeUnknownFailure() }
}

/**
 * Confirms the payment of a sale or a credit on the chain, because a facilitator's answer can be false and a
 * reorganisation can undo a transfer. If the transfer of a sale is gone, the buyer keeps the block, and the
 * authorization is settled again while it is valid. A credit is written off once its payment can never settle.
 */
export function* checkConfirmation(purchase: Purchase): Script<void> {
  const status = yield* checkAndResettle(purchase)
  if (status.kind === 'silent') return
  if (status.kind === 'paid' && status.final === true)
    return yield* requestStep({ do: 'mark-final', purchase, tx: status.tx })
  if (status.kind === 'void' && status.final === true) return yield* requestStep({ do: 'write-off', purchase })
  if (!isSold(purchase)) return
  if (status.kind === 'paid') return yield* requestStep({ do: 'confirm', purchase, tx: status.tx })
  if (purchase.state.settled) yield* requestStep({ do: 'mark-missing', purchase })
}

function* checkAndResettle(purchase: Purchase): Script<ChainStatus> {
  // The known transaction is most likely still valid, so it is checked first.
  const status = yield* queryChain(purchase, 'none', 'tx' in purchase.state ? purchase.state.tx : undefined)
  if (status.kind !== 'unspent' || !isSold(purchase)) return status
  return yield* queryChainAfterSettling(yield* requestStep({ do: 'settle', purchase }), purchase)
}

function* finalize(purchase: Purchase, tx: Hash, settled: boolean): Script<PurchaseProgress> {
  try {
    const sold = yield* requestStep({ do: 'finalize', purchase, tx, settled })
    return { purchase: sold, refusal: createSettlementUnknownFailure(sold) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { purchase: yield* markUncertain(purchase), refusal: createNotPersistedFailure(purchase) }
  }
}

/**
 * Releases the block of a payment that cannot pay this wall. Unless the chain's status is final, the payment is still
 * watched.
 */
function* releaseVoid(purchase: Purchase, status: Extract<ChainStatus, { kind: 'void' }>): Script<PurchaseProgress> {
  const released = yield* release(purchase, status.final === true)
  return { purchase: released, status, refusal: createPaymentRequiredFailure(status.why) }
}

function* release(purchase: Purchase, isFinal: boolean): Script<Purchase> {
  yield* requestStep({ do: 'release', purchase, isFinal })
  return { ...purchase, state: { kind: 'released', isFinal } }
}

/** Records that the payer of a held block is asked to wait. From then on, no refusal releases the block. */
export function* markUncertain(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase
  try {
    return yield* requestStep({ do: 'mark-uncertain', purchase })
  } catch (error) {
    // Even without this mark, the block stays held, and the purchase still counts as unanswered.
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

const isUncertain = ({ state }: Purchase) => state.kind === 'reserved' && state.uncertain

const queryChain = ({ payment, head }: Purchase, wait: ChainWait, named?: Hash): Script<ChainStatus> =>
  requestStep({ do: 'ask-chain', payment, head, wait, named })

/** Queries the chain after a settlement, starting with the transaction that the facilitator named. */
const queryChainAfterSettling = (settling: SettleResult, purchase: Purchase): Script<ChainStatus> =>
  queryChain(purchase, 'settling', findNamedTransaction(settling))

export function* requestStep<R extends ScriptRequest>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}
