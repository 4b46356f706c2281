/**
 * One purchase, start to finish, as a pure script: a generator that yields one request at a time and resumes with
 * its answer. A retry, a restart and the reconciler run the same steps again from what the ledger remembers.
 *
 * The law of the script: money that may have moved is never answered with a demand for more, and a block is given
 * back only on proof (the chain's, or a refusal that provably came before broadcast), never because time passed.
 */

import { StoreUnavailable, type Failure } from '../failure.ts'
import {
  isSignatureReason,
  refusalOfUnsent,
  signatureRefusal,
  type SettleResult,
  type SignatureCheck,
} from './facilitator-errors.ts'
import { unpainted, type Draft, type Listing } from './listing.ts'
import {
  hasSameFields,
  isSamePayment,
  unfitness,
  type Hash,
  type Payment,
  type PaymentKey,
  type Space,
} from './payment.ts'
import {
  isSold,
  type AnswerTo,
  type Landed,
  type Order,
  type Outcome,
  type ChainWait,
  type Purchase,
  type Request,
  type Script,
  type ChainStatus,
} from './purchase.ts'
import {
  cannotCheckSignature,
  earlierElsewhere,
  earlierUnknown,
  facilitatorUnavailable,
  identifierUsed,
  notPersisted,
  paymentCredited,
  paymentRequired,
  paymentsBusy,
  paymentUsed,
  settlementUnknown,
  stillAtIt,
  unavailability,
} from './refusals.ts'
import { ownTarget, placeOf, type Target } from './target.ts'

/** Buys a block or an area, or says what became of this payment when it is known already. */
export function* buy(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  return known === undefined ? yield* buyUnknown(order) : yield* answerKnown(known, order)
}

/**
 * Answers a payer whose payment another process has held for long. A final purchase is answered as it is. A held one becomes
 * uncertain, because its payer is told to wait.
 */
export function* answerLate(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known?.state.kind === 'sold' || known?.state.kind === 'credited') return yield* answerKnown(known, order)
  if (known?.state.kind === 'reserved') yield* markUncertain(known)
  return refused(stillAtIt())
}

/** Only its payer learns about a known payment. All of it is public once it is on the chain, so the signature is checked. */
function* answerKnown(known: Purchase, order: Order): Script<Outcome> {
  const checked = yield* whoPresents(known, order.payment)
  if (checked === 'not-signed') return yield* refuseUnsigned(order)
  if (checked !== 'signed') return refused(cannotCheckSignature())
  if (!answersOn(known, order.target)) return refused(paymentUsed(known))
  if (isSold(known)) return { kind: 'bought', purchase: known }
  if (known.state.kind === 'reserved') return answerFrom(yield* resume(known), order)
  if (known.state.kind === 'released') return yield* tryAgain(known, order)
  return refused(paymentCredited(known.payment.amount, known.state.tx, order.contact))
}

/** Whether a known payment comes from its payer: unchanged, or, after a release, signed anew with the same nonce. */
function* whoPresents({ payment, state }: Purchase, presented: Payment): Script<SignatureCheck> {
  if (isSamePayment(payment, presented)) return 'signed'
  if (!hasSameFields(payment, presented) && state.kind !== 'released') return 'not-signed'
  return yield* ask({ do: 'check-signature', payment: presented })
}

/** Refuses a payment that its payer did not sign. The sender learns the state of the target, and nothing of any purchase. */
function* refuseUnsigned(
  { target, payment, now }: Order,
  unfit = 'its payer did not sign the payment',
): Script<Outcome> {
  const { space } = yield* ask({ do: 'check-availability', target, payment, now })
  if (space !== 'open' && space !== 'full') return refused(unavailability(target, space))
  return refused(paymentRequired(unfit))
}

/**
 * Works on a purchase that no request waits for: settles or releases what is held, gives late payments their block, and
 * checks that the payment of a sale is on the chain. Answers the purchase as it is then.
 */
export function* reconcile(key: PaymentKey): Script<Purchase | undefined> {
  const purchase = yield* ask({ do: 'look-up', key })
  switch (purchase?.state.kind) {
    case 'reserved':
      return (yield* resume(purchase)).purchase
    case 'released':
      return purchase.state.isFinal ? purchase : (yield* watch(purchase)).purchase
    case 'sold':
      yield* lookBack(purchase, purchase.state.settled)
      return purchase
    case 'credited':
    case undefined:
      return purchase
  }
}

/** A payment that the ledger does not know. If it was refused before, a facilitator may have settled it since. */
function* buyUnknown(order: Order): Script<Outcome> {
  return (yield* watchSeen(order)) ?? (yield* buyFresh(order))
}

function* watchSeen(order: Order): Script<Outcome | undefined> {
  const { seen } = order
  if (seen === undefined) return undefined
  const status = yield* ask({ do: 'ask-chain', payment: seen.payment, head: seen.head, wait: 'none' })
  if (status.kind === 'paid') return yield* giveLanded(order, seen, status.tx)
  return status.kind === 'silent' ? refused(stillAtIt()) : undefined
}

/** Sells to a payment that moved the money before a block was held for it. */
function* giveLanded(order: Order, landed: Landed, tx: Hash): Script<Outcome> {
  // Makes the picture now if it was not made before.
  const painted =
    'code' in order.listing || landed.listing.pixels !== null ? undefined : yield* paint(order.payment, order.listing)
  const pixels = painted === undefined || 'code' in painted ? landed.listing.pixels : painted.pixels
  const given = yield* ask({
    do: 'fulfil-late-payment',
    purchase: { ...landed, listing: { ...landed.listing, pixels } },
    tx,
  })
  return answerFrom({ purchase: given, refusal: settlementUnknown(given) }, order)
}

/** A payment seen for the first time, or `released` and sent again (`order.listing` is then the first one). */
function* buyFresh(order: Order, released?: Purchase): Script<Outcome> {
  const { target, payment, listing, terms, now } = order
  if (!order.armed)
    return refused(
      facilitatorUnavailable(
        'No new payments are taken at the moment; rail of GET /api/health says when they are again',
      ),
    )
  const unfit = unfitness(payment, terms, now)
  const checked = yield* ask({ do: 'check-signature', payment })
  if (checked === 'not-signed') return yield* refuseUnsigned(order, unfit)
  if (checked !== 'signed') return refused(checked === 'busy' ? paymentsBusy() : cannotAskChain())

  const { space, prior } = yield* ask({ do: 'check-availability', target, payment, now })
  if (prior === undefined && space === 'claimed') return refused(unavailability(target, space))
  if (unfit !== undefined) {
    if (prior !== undefined) return refused(earlierUnknown())
    return refused(space === 'open' ? paymentRequired(unfit) : unavailability(target, space))
  }
  if ('code' in listing) return refused(listing)
  if (prior === undefined && space !== 'open') return refused(unavailability(target, space))

  // The height is read before the facilitator is asked: what spends the authorization after it was meant for us,
  // what spent it before is a replay, since settled payloads are public.
  const chain = yield* ask({ do: 'read-chain', key: payment })
  if (chain === 'silent' && prior !== undefined) return refused(earlierUnknown())
  if (chain === 'silent') return refused(cannotAskChain())
  if (chain.spent) {
    if (released !== undefined) return answerFrom(yield* watch(released), order)
    const landed = yield* watchSeen(order)
    if (landed !== undefined) return landed
    if (prior !== undefined) return refused(earlierUnknown())
    return refused(paymentRequired('the authorization was used or cancelled before; sign a new one'))
  }

  // The payment is the payer's, and was signed for us just now: nobody else can ask after a payer's purchases.
  const answer = prior === undefined ? undefined : yield* settlePrior(prior, order)
  if (answer !== undefined) return answer

  const verification = yield* ask({ do: 'verify', target, payment })
  if (verification.kind === 'busy') return refused(paymentsBusy())
  if (verification.kind === 'unavailable') return refused(facilitatorUnavailable(UNREACHABLE))
  if (verification.kind === 'invalid') {
    // The prior purchase need not have been the only one, and another may be why the facilitator refuses this payment.
    const others = prior === undefined ? undefined : yield* ask({ do: 'check-availability', target, payment, now })
    if (others?.prior !== undefined) return refused(earlierUnknown())
    return yield* refuseUnlessPaid(
      order,
      { payment, target, listing: unpainted(listing), head: chain.head },
      verification.reason,
    )
  }
  const painted = yield* paint(payment, listing)
  if ('code' in painted) return refused(painted)
  const claiming = yield* ask({ do: 'claim', target, payment, listing: painted, head: chain.head })
  if (claiming.kind === 'abandoned') return refused(stillAtIt())
  if (claiming.kind === 'prior') return refused(earlierUnknown())
  if (claiming.kind === 'lost') return refused(lost(target, claiming.space))
  return answerFrom(yield* settleFirst(claiming.purchase), order)
}

/** Makes the picture of a draft. This costs work, so it comes after verification, and before a block is held. */
function* paint(payment: Payment, draft: Draft): Script<Listing | Failure> {
  if (draft.picture === undefined) return unpainted(draft)
  const pixels = yield* ask({ do: 'paint', payment, picture: draft.picture })
  return 'code' in pixels ? pixels : { ...unpainted(draft), pixels }
}

/** A released payment is sent again: it may have landed meanwhile, or may still be good for another try. */
function* tryAgain(purchase: Purchase, order: Order): Script<Outcome> {
  const watched = yield* watch(purchase)
  if (watched.status?.kind !== 'unspent') return answerFrom(watched, order)
  return yield* buyFresh({ ...order, target: purchase.target, listing: purchase.listing }, purchase)
}

/** How far a purchase got, and what to tell a payer when it is not sold. */
type Progress = { readonly purchase: Purchase; readonly status?: ChainStatus; readonly refusal: Failure }

/** Settles a purchase for the first time. Only here can a refusal release it, because nothing was sent before. */
function* settleFirst(purchase: Purchase): Script<Progress> {
  const settling = yield* ask({ do: 'settle', purchase })
  const refusal = refusalOfUnsent(settling)
  if (refusal === undefined) return yield* conclude(purchase, yield* askChainAfter(settling, purchase), settling)
  // A payment that reached nobody was not broadcast. A refused one may have been, whatever the refusal says.
  const status = yield* askChain(purchase, settling.kind === 'refused' ? 'next-block' : 'none')
  if (status.kind !== 'unspent') return yield* conclude(purchase, status, settling)
  const released = yield* release(purchase, false)
  return { purchase: released, status, refusal }
}

/** Continues with a held block, which an earlier try may have paid. From here on only the chain decides. */
function* resume(purchase: Purchase): Script<Progress> {
  const held = yield* markUncertain(purchase)
  const status = yield* askChain(held, 'none')
  if (status.kind !== 'unspent' || !isUncertain(held)) return yield* conclude(held, status)
  const settling = yield* ask({ do: 'settle', purchase: held })
  return yield* conclude(held, yield* askChainAfter(settling, held), settling)
}

/** Acts on the chain's status. A facilitator's success counts only if the chain is silent. */
function* conclude(purchase: Purchase, status: ChainStatus, settling?: SettleResult): Script<Progress> {
  if (status.kind === 'paid') return yield* finalize(purchase, status.tx, true)
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  if (status.kind === 'silent' && settling?.kind === 'success') return yield* finalize(purchase, settling.tx, false)
  return { purchase: yield* markUncertain(purchase), status, refusal: settlementUnknown(purchase) }
}

/** Checks whether a released payment has landed after all. If so, its payer gets a block or a credit. */
function* watch(purchase: Purchase): Script<Progress> {
  const status = yield* askChain(purchase, 'none')
  if (status.kind === 'paid') {
    const given = yield* ask({ do: 'fulfil-late-payment', purchase, tx: status.tx })
    return { purchase: given, status, refusal: settlementUnknown(given) }
  }
  if (status.kind === 'void') return yield* giveUp(purchase, status)
  return { purchase, status, refusal: settlementUnknown(purchase) }
}

/** The outcome for the payer who asks. */
function answerFrom({ purchase, refusal }: Progress, order: Order): Outcome {
  const { payment, state } = purchase
  if (state.kind === 'credited') return refused(paymentCredited(payment.amount, state.tx, order.contact))
  if (!isSold(purchase)) return refused(refusal)
  return answersOn(purchase, order.target) ? { kind: 'bought', purchase } : refused(paymentUsed(purchase))
}

/** Refuses what a facilitator calls invalid, unless the payment has paid us since, or the fault is the facilitator's own. */
function* refuseUnlessPaid(order: Order, landed: Landed, reason: string): Script<Outcome> {
  const { payment, head } = landed
  const status = yield* ask({ do: 'ask-chain', payment, head, wait: 'none' })
  if (status.kind === 'silent') return refused(cannotAskChain())
  if (status.kind === 'paid') return yield* giveLanded(order, landed, status.tx)
  if (!isSignatureReason(reason)) return refused(paymentRequired(reason))
  return refused(signatureRefusal(yield* ask({ do: 'check-for-token', payment }), reason))
}

/** Ends an earlier purchase of the same payer for the same target first; `undefined` when the new one may go on. */
function* settlePrior(prior: Purchase, { target: asked, payment }: Order): Script<Outcome | undefined> {
  const isNamed = payment.identifier !== undefined && payment.identifier === prior.payment.identifier
  if (isNamed && !answersOn(prior, asked)) return refused(identifierUsed(prior))
  const end = isSold(prior) ? prior : yield* ask({ do: 'resolve-other', key: prior.payment })
  if (end?.state.kind === 'reserved') return refused(earlierUnknown())
  if (end === undefined || !isSold(end)) return undefined
  // Another request of the payer gives that receipt. The payer may be owed another one, so its next request looks again.
  if (!(yield* ask({ do: 'hand-over', purchase: end }))) return refused(earlierUnknown())
  // A late payment may have got another block than the one asked for. Its payer must know that before paying more.
  if (!answersOn(end, asked)) return refused(earlierElsewhere(end))
  return { kind: 'bought', purchase: end, isEarlier: true }
}

/**
 * Checks the payment of a sale again: a facilitator's answer can be false, and a reorganisation can undo a transfer. The
 * buyer keeps the block; while the authorization is valid, it is settled again.
 */
function* lookBack(purchase: Purchase, settled: boolean): Script<void> {
  const status = yield* askAndSettle(purchase)
  if (status.kind === 'silent') return
  if (status.kind === 'paid')
    return yield* ask({ do: status.final === true ? 'mark-final' : 'confirm', purchase, tx: status.tx })
  if (status.kind === 'void' && status.final === true) return yield* ask({ do: 'write-off', purchase })
  if (settled) yield* ask({ do: 'mark-missing', purchase })
}

function* askAndSettle(purchase: Purchase): Script<ChainStatus> {
  // The known transaction is most likely still the one.
  const status = yield* askChain(purchase, 'none', isSold(purchase) ? purchase.state.tx : undefined)
  if (status.kind !== 'unspent') return status
  return yield* askChainAfter(yield* ask({ do: 'settle', purchase }), purchase)
}

function* finalize(purchase: Purchase, tx: Hash, settled: boolean): Script<Progress> {
  try {
    const sold = yield* ask({ do: 'finalize', purchase, tx, settled })
    return { purchase: sold, refusal: settlementUnknown(sold) }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { purchase: yield* markUncertain(purchase), refusal: notPersisted(purchase) }
  }
}

/** Releases the block of a payment that cannot pay us. Unless that is final, the payment is still watched. */
function* giveUp(purchase: Purchase, status: Extract<ChainStatus, { kind: 'void' }>): Script<Progress> {
  const released = yield* release(purchase, status.final === true)
  return { purchase: released, status, refusal: paymentRequired(status.why) }
}

function* release(purchase: Purchase, isFinal: boolean): Script<Purchase> {
  yield* ask({ do: 'release', purchase, isFinal })
  return { ...purchase, state: { kind: 'released', isFinal } }
}

/** Writes that the payer of a held block was told to wait. From then on no refusal releases the block. */
function* markUncertain(purchase: Purchase): Script<Purchase> {
  if (purchase.state.kind !== 'reserved' || purchase.state.uncertain) return purchase
  try {
    return yield* ask({ do: 'mark-uncertain', purchase })
  } catch (error) {
    // The block stays held and the purchase unanswered, with the mark or without it.
    if (!(error instanceof StoreUnavailable)) throw error
    return purchase
  }
}

const isUncertain = ({ state }: Purchase) => state.kind === 'reserved' && state.uncertain

function askChain(purchase: Purchase, wait: ChainWait, named?: Hash): Script<ChainStatus> {
  const request = { do: 'ask-chain', payment: purchase.payment, head: purchase.head, wait } as const
  return ask(named === undefined ? request : { ...request, named })
}

/** Asks the chain after a settlement, first for the transaction that the facilitator named. */
const askChainAfter = (settling: SettleResult, purchase: Purchase): Script<ChainStatus> =>
  askChain(purchase, 'settling', settling.kind === 'success' ? settling.tx : undefined)

/** One request of a script, and its answer. */
function* ask<R extends Request>(request: R): Script<AnswerTo<R['do']>> {
  return (yield request) as AnswerTo<R['do']>
}

/** Whether a payment may be answered for a target: the one it was first sent for, or the block it holds or bought. */
export function answersOn(purchase: Purchase, asked: Target): boolean {
  const { target, state } = purchase
  if (asked === ownTarget(purchase)) return asked === target || state.kind !== 'released'
  return asked === target && (placeOf(target).at === 'next' || state.kind !== 'sold')
}

const cannotAskChain = () => facilitatorUnavailable('The chain cannot be asked at the moment')

const UNREACHABLE = 'The payment facilitator cannot be reached'

const refused = (reason: Failure): Outcome => ({ kind: 'refused', failure: reason })

/** The refusal of a lost claim. A held block may still be released, so `next` is not called sold out yet. */
const lost = (target: Target, space: Exclude<Space, 'open'>): Failure =>
  unavailability(target, placeOf(target).at === 'next' && space === 'claimed' ? 'reserved' : space)
