/**
 * The seller of a process. It runs one purchase per payment at a time, so that a copy of a request gets the result of
 * the first request.
 */

import { createLru } from '../../shared/lru.ts'
import { ignoreUnavailable, type Failure } from '../domain/failure.ts'
import { continueWith, type MaybeAsync } from '../domain/maybe-async.ts'
import type { Draft } from '../domain/purchase/listing.ts'
import {
  toPaymentKey,
  type Payment,
  type PaymentKey,
  type Availability,
  type Target,
} from '../domain/purchase/payment.ts'
import { answerHeldElsewhere, buy } from '../domain/purchase/purchase-script.ts'
import type { Outcome, Purchase } from '../domain/purchase/purchase.ts'
import { NO_LEASE, createPaymentLease } from '../instances/payment-lease.ts'
import type { Clock, Facilitator } from '../ports.ts'
import { TIMES } from '../times.ts'
import { createAttemptBudget, createLookUpBudget } from './attempt-budget.ts'
import { createOneTimeAlert } from './purchase-log.ts'
import {
  recordSent,
  runForClient,
  runReconciliation,
  findRuns,
  type BuyRequest,
  type PurchaseDeps,
  type Runs,
} from './purchase-run.ts'
import { createSingleFlight } from './single-flight.ts'
import { hasChainAnswer, hasClaimed } from './steps.ts'

/**
 * Whether a target can be bought, regardless of the payer; `uncertain` means that it is held for a payer, but no run is
 * working on the purchase.
 */
export type OfferState = Exclude<Availability, 'full'> | 'uncertain'

export type Seller = {
  /**
   * Buys `target` with `payment`; an invalid listing is passed as a `Failure`. Does not throw if the store, the chain
   * or a facilitator fails. A client that disconnects stops nothing; its purchase stays unanswered.
   */
  buy(target: Target, payment: Payment, listing: Draft | Failure, client?: AbortSignal): Promise<Outcome>
  /** Whether a target can be bought. */
  readOffer(target: Target): MaybeAsync<OfferState>
  /**
   * Works on one unfinished purchase, unless another run of this process already does. Returns `false` if another
   * process does. A run that has only claimed its block counts as working on the purchase, because this process claims
   * nothing before it has checked the open purchases.
   */
  reconcile(key: PaymentKey): Promise<boolean>
  /** Resolves when no purchase is in progress. */
  waitUntilIdle(): Promise<void>
}

// A payment is valid for minutes, so only a few payments have to be remembered.
const SENT_KEPT_MAX = 4096

// The signal of a client that never disconnects.
const STAYING = new AbortController().signal

/** Makes the one seller of this process. */
export function createSeller(deps: PurchaseDeps): Seller {
  const runs: Runs = {
    ...deps,
    flights: createSingleFlight(),
    lease: deps.leases === undefined ? NO_LEASE : createPaymentLease(deps.leases, deps.clock, deps.times),
    underWay: new Set(),
    settle: limitSettleRate(deps.facilitator.settle, deps.clock, deps.times),
    alert: createOneTimeAlert(deps.logger),
    mayRetry: createAttemptBudget(deps.clock).mayRetry,
    mayLookUp: createLookUpBudget(deps.clock),
    started: { at: deps.clock.now(), elapsed: deps.clock.elapsed() },
    sent: createLru(SENT_KEPT_MAX),
    named: createLru(SENT_KEPT_MAX),
  }
  return {
    buy: (target, payment, listing, client = STAYING) => buyInTurn(runs, { target, payment, listing }, client),
    readOffer: (target) =>
      continueWith(runs.ledger.checkSpace(target), (space) =>
        space === 'reserved' ? readOfferState(runs, target) : space,
      ),
    async reconcile(key) {
      const isUnderWay = findRuns(runs, key).some(
        ({ steps, isSpent }) => hasClaimed(steps) || (hasChainAnswer(steps) && !isSpent),
      )
      if (isUnderWay) return true
      // This run waits for its turn among the runs for this payment.
      const end = await runs.flights.run(toPaymentKey(key), () => runReconciliation(runs, key))
      await runs.applyNewEntries()
      return end !== 'elsewhere'
    },
    waitUntilIdle: runs.flights.waitUntilIdle,
  }
}

/** Buys after every earlier run for the payment has ended. The outcome is returned before this run has ended. */
function buyInTurn(runs: Runs, request: BuyRequest, client: AbortSignal): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const { payment } = request
  const run = async () => {
    const known = (await ignoreUnavailable(runs.ledger.find(payment)))?.state.kind
    const isSpent = known !== undefined && !isFinal(known) && !runs.mayRetry(payment.payer)
    const runWithLease = (isLeased: boolean) => runForClient(runs, request, client, buy, resolve, { isSpent, isLeased })
    // A run that only reads takes no lease, so that it does not keep another process from working on the purchase.
    if (isSpent || isFinal(known)) return await runWithLease(false)
    return await runs.lease.runWhenFree(payment, {
      isOver: async () => isFinal((await runs.ledger.find(payment))?.state.kind),
      work: runWithLease,
      giveUp: () => runForClient(runs, request, client, answerHeldElsewhere, resolve),
      // The other process may have sent the payment to a facilitator that did not respond: only the lease of that
      // process shows this.
      onShared: () => recordSent(runs, payment),
    })
  }
  runs.flights.run(toPaymentKey(payment), run).catch(reject)
  return promise
}

const isFinal = (kind: Purchase['state']['kind'] | undefined) => kind === 'sold' || kind === 'credited'

/**
 * Whether a held target is being bought now. If not, it is uncertain: its payer must be able to return and sign a new
 * payment.
 */
async function readOfferState(runs: Runs, target: Target): Promise<OfferState> {
  for (const holder of await runs.ledger.listHolders(target)) {
    const isHere = findRuns(runs, holder).some(({ steps, client }) => hasClaimed(steps) && !client.aborted)
    if (!isHere && (await runs.leases?.isTaken(holder)) !== true) return 'uncertain'
  }
  return 'reserved'
}

/**
 * Limits how often one payment is settled. Between two tries, the result is `unclear`, because the previous one may
 * still succeed.
 */
function limitSettleRate(settle: Facilitator['settle'], clock: Clock, { settleGapMs } = TIMES): Facilitator['settle'] {
  const lastMs = new Map<string, number>()
  return async (target, payment) => {
    const key = toPaymentKey(payment)
    const now = clock.elapsed()
    for (const [other, at] of lastMs) if (now - at >= settleGapMs) lastMs.delete(other)
    if (lastMs.has(key)) return { kind: 'unclear' }
    const answer = await settle(target, payment)
    if (answer.kind !== 'unsent' && answer.kind !== 'busy') lastMs.set(key, clock.elapsed())
    return answer
  }
}
