/** The one seller of a process: one run per payment at a time, copies of a request share its answer. */

import { ifAvailable, type Failure } from '../domain/failure.ts'
import type { Draft } from '../domain/purchase/listing.ts'
import {
  isSamePayment,
  keyOf,
  type Payment,
  type PaymentKey,
  type Space,
  type Target,
} from '../domain/purchase/payment.ts'
import { answerLate, answersOn, buy } from '../domain/purchase/purchase-script.ts'
import type { Outcome, Purchase } from '../domain/purchase/purchase.ts'
import { NO_LEASE, paymentLease } from '../instances/payment-lease.ts'
import type { Clock, Facilitator } from '../ports.ts'
import { attemptBudget } from './attempt-budget.ts'
import { writeLanded } from './landed-payments.ts'
import { alertOnce } from './purchase-log.ts'
import {
  isOfPayment,
  runForClients,
  runReconcile,
  runsOf,
  type BuyRequest,
  type PurchaseDeps,
  type Runs,
} from './purchase-run.ts'
import { seenPayments } from './seen-payments.ts'
import { singleFlight } from './single-flight.ts'
import { waitingClients, type WaitingClients } from './waiting-clients.ts'

/** Whether a target can be bought by anyone: `uncertain` is held for a payer, and nobody is at work on it. */
export type OfferState = Exclude<Space, 'full'> | 'uncertain'

export type Seller = {
  /**
   * Buys `target` with `payment`; a listing that is refused is a `Failure`. Never throws for a fault of the world. A client
   * that hangs up stops nothing; its purchase stays unanswered.
   */
  buy(target: Target, payment: Payment, listing: Draft | Failure, client?: AbortSignal): Promise<Outcome>
  /** Whether a target can be bought. */
  offered(target: Target): Promise<OfferState>
  /**
   * Brings one unfinished purchase nearer to its end, unless another run is at it; `false` where nobody here has asked the
   * chain about it yet.
   */
  reconcile(key: PaymentKey): Promise<boolean>
  /** Resolves when no purchase is under way. */
  idle(): Promise<void>
}

/** A seller with what its reconciler needs. */
export type ReconciledSeller = Seller & {
  /** Writes down what the store could not take before. Throws `StoreUnavailable`. */
  writePending(): Promise<void>
}

/** Makes the one seller of this process. */
export function seller(deps: PurchaseDeps): ReconciledSeller {
  const runs: Runs = {
    ...deps,
    flights: singleFlight(),
    lease: deps.leases === undefined ? NO_LEASE : paymentLease(deps.leases, deps.clock),
    underWay: new Set(),
    landed: new Map(),
    seen: seenPayments(deps.clock),
    settle: spacedSettle(deps.facilitator.settle, deps.clock),
    alert: alertOnce(deps.logger),
    mayRetry: attemptBudget(deps.clock).mayRetry,
  }
  const shared = new Map<string, { readonly outcome: Promise<Outcome>; readonly clients: WaitingClients }>()
  return {
    async buy(target, payment, listing, client) {
      // Copies of one signed request that arrive together share one answer, or each would settle in turn.
      const copy = copyOf(target, payment)
      const leader = shared.get(copy)
      if (leader !== undefined) {
        leader.clients.join(client)
        const outcome = await leader.outcome
        if (isOfPayment(outcome)) return outcome
        return await attempt(runs, { target, payment, listing }, waitingClients(client))
      }
      const clients = waitingClients(client)
      const outcome = attempt(runs, { target, payment, listing }, clients)
      shared.set(copy, { outcome, clients })
      try {
        return await outcome
      } finally {
        shared.delete(copy)
      }
    },
    async offered(target) {
      const space = await runs.ledger.space(target)
      return space === 'reserved' ? await heldBy(runs, target) : space
    },
    async reconcile(key) {
      const working = runsOf(runs, key).find(({ hasClaimed, hasAsked }) => hasClaimed || hasAsked)
      if (working !== undefined) return working.hasAsked
      // Whatever else is asked of the payment takes its turn like this does, and cannot keep it out.
      const end = await runs.flights.run(keyOf(key), () => runReconcile(runs, key))
      await runs.advance()
      return end !== 'elsewhere'
    },
    async writePending() {
      for (const { purchase } of runs.landed.values()) await writeLanded(runs, purchase.payment)
    },
    idle: runs.flights.idle,
  }
}

/** Buys, once no other run is at the payment. The answer is given before the run has ended. */
function attempt(runs: Runs, request: BuyRequest, clients: WaitingClients): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  const { payment } = request
  const run = async () => {
    const known = await ifAvailable(runs.ledger.find(payment))
    // What only hears something needs no lease, so that it keeps no other process from looking at the purchase.
    const isSpent = known?.state.kind === 'reserved' && !runs.mayRetry(payment.payer)
    const work = () => runForClients(runs, request, clients, buy, resolve, isSpent)
    if (known !== undefined && (isSpent || !isRepeat(known, request))) return await work()
    return await runs.lease.whenFree(payment, {
      isOver: async () => isFinal((await runs.ledger.find(payment))?.state.kind),
      work,
      late: () => runForClients(runs, request, clients, answerLate, resolve),
    })
  }
  runs.flights.run(keyOf(payment), run).catch(reject)
  return promise
}

/** Whether a known payment is sent again as it was, for what it was sent for. */
const isRepeat = (known: Purchase, { payment, target }: BuyRequest): boolean =>
  answersOn(known, target) && (known.state.kind === 'released' || isSamePayment(known.payment, payment))

const isFinal = (kind: Purchase['state']['kind'] | undefined) => kind === 'sold' || kind === 'credited'

/** Names a request whose copies may share an answer: everything that says who may hear it is in the name. */
const copyOf = (target: Target, { payer, nonce, to, amount, validAfter, validBefore, signature, accepted }: Payment) =>
  [target, payer, nonce, to, amount, validAfter, validBefore, signature, accepted.asset, accepted.network].join(':')

/** Whether what holds a target is being bought, or is in doubt: then its own payer must be able to come back and sign anew. */
async function heldBy(runs: Runs, target: Target): Promise<OfferState> {
  for (const holder of await runs.ledger.holders(target)) {
    const isHere = runsOf(runs, holder).some(({ hasClaimed, clients }) => hasClaimed && !clients.haveLeft())
    if (!isHere && (await runs.leases?.isTaken(holder)) !== true) return 'uncertain'
  }
  return 'reserved'
}

// A settlement is asked for again at most this often, however many copies of its request come in.
const SETTLE_GAP_MS = 3000

/** Lets one payment be settled only so often; in between, the last try still stands as unclear. */
function spacedSettle(settle: Facilitator['settle'], clock: Clock): Facilitator['settle'] {
  const lastMs = new Map<string, number>()
  return async (target, payment) => {
    const key = keyOf(payment)
    const now = clock.elapsed()
    for (const [other, at] of lastMs) if (now - at >= SETTLE_GAP_MS) lastMs.delete(other)
    if (lastMs.has(key)) return { kind: 'unclear' }
    const answer = await settle(target, payment)
    if (answer.kind !== 'unsent' && answer.kind !== 'busy') lastMs.set(key, clock.elapsed())
    return answer
  }
}
