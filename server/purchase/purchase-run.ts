/**
 * One run of a purchase script: its state, how it fulfils each request of the script, and how it ends. The ledger marks
 * a purchase as unanswered from its claim until its receipt has been sent. So a run that crashes, or whose client
 * disconnects, has nothing to write. Only this process knows which of its runs still have a waiting client. The
 * purchases of such runs do not wait for each other, even if one payer makes several in parallel.
 */

import type { Lru } from '../../shared/lru.ts'
import { type Failure, ignoreUnavailable, StaleWriteError, StoreUnavailable } from '../domain/failure.ts'
import { isPending, addChargeStatus } from '../domain/purchase/charging.ts'
import { wasReceiptReusedFor } from '../domain/purchase/claim-rules.ts'
import { findNamedTransaction } from '../domain/purchase/facilitator-errors.ts'
import {
  type Address,
  type Hash,
  toPaymentKey,
  LAST_CONFIRMATION_MS,
  type Payment,
  type PaymentKey,
  type Terms,
  computeTerms,
  type UnixMs,
  VALIDITY_MAX_SECONDS,
} from '../domain/purchase/payment.ts'
import { reconcile } from '../domain/purchase/purchase-script.ts'
import {
  type ScriptAnswer,
  type AnswerTo,
  type BuyOrder,
  isEnded,
  type Outcome,
  type Purchase,
  type ScriptRequest,
  type Script,
  type Verb,
} from '../domain/purchase/purchase.ts'
import { createAlreadyProcessingFailure, createStoreUnavailableFailure } from '../domain/purchase/refusals.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { PaymentLease } from '../instances/payment-lease.ts'
import type { Chain, Clock, Facilitator, Leases, Ledger, Logger, Pictures, Wallets } from '../ports.ts'
import type { Times } from '../times.ts'
import { paintArea } from '../wall/image-to-pixels.ts'
import type { AttemptBudget } from './attempt-budget.ts'
import { checkAvailability, claimTarget } from './availability.ts'
import { readChainStatus, addSeenBalance } from './chain-status.ts'
import { createSweepLog, createPurchaseLog, type LogStep } from './purchase-log.ts'
import type { SingleFlight } from './single-flight.ts'
import { findHandedOverPurchase, hasClaimed, isWaiting, findKnownState, type RunStep } from './steps.ts'

/**
 * The dependencies of buying. `applyNewEntries` applies the log to the views before a buyer gets a response. `leases`
 * is set if several processes sell from one store.
 */
export type PurchaseDeps = {
  readonly ledger: Ledger
  readonly facilitator: Facilitator
  readonly chain: Chain
  readonly wallets: Wallets
  readonly pictures: Pick<Pictures, 'convertToPalette'>
  readonly clock: Clock
  readonly logger: Logger
  readonly rail: PaymentHealth
  readonly terms: Terms // for one block
  readonly payees: ReadonlySet<Address> // every address at which this wall has asked to be paid
  readonly isDenied?: ((payer: Address) => boolean) | undefined // whether the operator refuses to sell to a payer
  readonly contact: string | null
  readonly applyNewEntries: () => Promise<void>
  /** Called after each new payment in the ledger, because the log does not announce payments. */
  readonly onStored?: (() => void) | undefined
  readonly leases?: Leases | undefined
  readonly times?: Times
}

/** The shared state of the runs of this process. */
export type Runs = PurchaseDeps & {
  readonly flights: SingleFlight
  readonly lease: PaymentLease
  readonly underWay: Set<PurchaseRun>
  readonly mayLookUp: () => boolean
  readonly started: { readonly at: UnixMs; readonly elapsed: number } // when this process started
  /** By payment: the value of `elapsed` when a facilitator may last have received it, and so could broadcast it. */
  readonly sent: Lru<string, number>
  readonly named: Lru<string, Hash> // the transaction that a facilitator named for a payment: a hint, and never a proof
  readonly settle: Facilitator['settle']
  readonly alert: (event: string, purchase: Purchase) => void
  readonly mayRetry: AttemptBudget['mayRetry']
}

/** One run, and its steps since its script began. */
export type PurchaseRun = {
  readonly key: PaymentKey
  readonly request: BuyRequest | undefined // undefined for the reconciler
  readonly client: AbortSignal // aborted once the client has disconnected
  readonly isSpent: boolean // the wallet's budget of retries is used up, so the chain is not queried
  readonly isLeased: boolean // other processes will know that this one worked on the payment
  readonly steps: RunStep[]
}

export const findRuns = ({ underWay }: Pick<Runs, 'underWay'>, key: PaymentKey): readonly PurchaseRun[] =>
  [...underWay].filter((run) => toPaymentKey(run.key) === toPaymentKey(key))

/** A client's request to buy. */
export type BuyRequest = Pick<BuyOrder, 'target' | 'payment' | 'listing'>

/** Runs a script for a waiting client. Passes the outcome to `answer`, then marks the purchase as answered. */
export async function runForClient(
  runs: Runs,
  request: BuyRequest,
  client: AbortSignal,
  script: (order: BuyOrder) => Script<Outcome>,
  answer: (outcome: Outcome) => void,
  state: Pick<PurchaseRun, 'isSpent' | 'isLeased'> = { isSpent: false, isLeased: false },
): Promise<void> {
  const { terms, payees, contact, clock, rail } = runs
  const { target, payment } = request
  const run: PurchaseRun = { key: payment, request, client, ...state, steps: [] }
  runs.underWay.add(run)
  try {
    const armed = rail.readState() === 'armed'
    const isDenied = runs.isDenied?.(payment.payer) === true
    const order = { ...request, terms: computeTerms(terms, target), now: clock.now(), armed, isDenied, contact, payees }
    const log = createPurchaseLog(runs)
    const ended = await runToOutcome(runs, run, () => script(order), log.logStep)
    const outcome = await addSeenBalance(runs, payment, ended)
    log.logEnd(payment, target, outcome)
    answer(outcome)
    await markAnswered(runs, run, outcome)
  } finally {
    runs.underWay.delete(run)
  }
}

/** Reconciles a purchase without a waiting client; `elsewhere` if another process holds its lease. */
export async function runReconciliation(
  runs: Runs,
  key: PaymentKey,
  log: LogStep = createSweepLog(runs),
): Promise<Purchase | undefined | 'elsewhere'> {
  const client = AbortSignal.abort()
  const run: PurchaseRun = { key, request: undefined, client, isSpent: false, isLeased: true, steps: [] }
  try {
    return await runs.lease.runUnlessTaken(key, () => runToEnd(runs, run, () => reconcile(key), log))
  } catch (error) {
    if (!(error instanceof StaleWriteError)) throw error
    return await runs.ledger.find(key)
  }
}

/** Runs the script and applies its sale to the views. A failure of the store becomes a refusal. */
async function runToOutcome(
  runs: Runs,
  run: PurchaseRun,
  script: () => Script<Outcome>,
  log: LogStep,
): Promise<Outcome> {
  try {
    const outcome = await runToEnd(runs, run, script, log, (end) => checkRefusal(runs, run, end))
    if (outcome.kind === 'bought') await ignoreUnavailable(runs.applyNewEntries())
    return addHint(runs, run, mayHaveBeenSent(runs, run) ? removeDenial(outcome) : outcome)
  } catch (error) {
    if (error instanceof StaleWriteError) return addChargeStatus(createAlreadyProcessingFailure(), undefined)
    if (!(error instanceof StoreUnavailable)) throw error
    return createStoreUnavailableFailure()
  }
}

const VALIDITY_MAX_MS = 1000 * Number(VALIDITY_MAX_SECONDS)

/**
 * Whether a facilitator may have a payment that the ledger does not record. An earlier request for it may have failed,
 * here or in another process. Or it may have been signed before this process started, so that a crashed process may
 * have sent it.
 */
function mayHaveBeenSent({ sent, started, clock }: Runs, { key, steps, request }: PurchaseRun): boolean {
  if (findKnownState(steps) !== undefined || request === undefined) return false
  const endsAt = 1000 * Number(request.payment.validBefore)
  // The later of the two values is used, because the clock may have been set since the start.
  const startedAt = Math.max(started.at, clock.now() - (clock.elapsed() - started.elapsed))
  const isNewer = endsAt > startedAt + VALIDITY_MAX_MS && endsAt <= clock.now() + VALIDITY_MAX_MS
  const sentAt = sent.get(toPaymentKey(key)) ?? (isNewer ? -Infinity : started.elapsed)
  return clock.elapsed() - sentAt < VALIDITY_MAX_MS + LAST_CONFIRMATION_MS
}

/**
 * Records that another process may have sent a payment to a facilitator at any time up to now. Once the payment has
 * expired, an earlier record stays: otherwise a client that reaches two processes in turn would have to wait
 * permanently.
 */
export function recordSent({ sent, clock }: Pick<Runs, 'sent' | 'clock'>, payment: Payment): void {
  const hasExpired = clock.now() > 1000 * Number(payment.validBefore) + LAST_CONFIRMATION_MS
  const before = hasExpired ? sent.get(toPaymentKey(payment)) : undefined
  sent.set(toPaymentKey(payment), before ?? clock.elapsed())
}

/** The outcome, but a refusal with `charged: 'no'` gets `charged: 'unknown'`, because the payment may still move. */
const removeDenial = (outcome: Outcome): Outcome =>
  outcome.kind === 'failure' && outcome.details?.['charged'] === 'no'
    ? addChargeStatus(outcome, { state: { kind: 'released', isFinal: false } })
    : outcome

/**
 * If a payment may still be settled, adds to its refusal the transaction that a facilitator named for it, if any.
 */
function addHint({ named }: Runs, { key }: PurchaseRun, outcome: Outcome): Outcome {
  const transaction = named.get(toPaymentKey(key))
  if (outcome.kind === 'bought' || transaction === undefined || !isPending(outcome)) return outcome
  return { ...outcome, details: { ...outcome.details, transaction } }
}

/**
 * Checks the lease and then the ledger once more before a payer is refused. Meanwhile another process may have worked
 * on the payment, and the check of a restored copy may have booked its money as a credit. If the purchase has changed,
 * throws `StaleWriteError`, so that the run begins again. A run that lost its lease asks the payer to wait: the other
 * process may be settling the payment. If another process holds the block and this payer is asked to wait, marks the
 * purchase as uncertain, because that process learns of this only from the store. If the store fails, throws
 * `StoreUnavailable`, which then becomes the response.
 */
async function checkRefusal(runs: Runs, run: PurchaseRun, outcome: Outcome): Promise<Outcome> {
  const { leases, lease, ledger } = runs
  if (outcome.kind === 'bought' || (hasClaimed(run.steps) && isAboutPayment(outcome))) return outcome
  const isLost = run.isLeased && !isPending(outcome) && !(await lease.renewIfKept(run.key))
  if (isLost && run.request !== undefined) recordSent(runs, run.request.payment)
  const now = await ledger.find(run.key)
  if (now?.state.kind !== findKnownState(run.steps))
    throw new StaleWriteError('the purchase of this payment has changed')
  if (isLost && (now === undefined || !isEnded(now)))
    return addChargeStatus(createAlreadyProcessingFailure(), undefined)
  const isHeldElsewhere = leases !== undefined && isAboutPayment(outcome) && now?.state.kind === 'reserved'
  if (isHeldElsewhere && !now.state.uncertain) await ledger.markUncertain(now)
  return outcome
}

/** Whether a refusal is about the payment itself. */
const isAboutPayment = ({ code }: Failure) => code === 'settlement_unknown' || code === 'deed_not_persisted'

/** Marks the purchase as answered, unless its client disconnected: then the payer's next request gets the receipt. */
async function markAnswered({ clock, ledger }: Runs, run: PurchaseRun, outcome: Outcome): Promise<void> {
  // Settled payloads are public, so anybody can resend a known payment. A resent payment must not mark the purchase as
  // answered.
  const isOwn = hasClaimed(run.steps) && outcome.kind === 'bought'
  const answered = findHandedOverPurchase(run.steps) ?? (isOwn ? outcome.purchase : undefined)
  if (answered === undefined) return
  // Lets the response be written to its connection first.
  await clock.wait(0)
  // If the mark cannot be written, the receipt is returned once more, which charges nobody.
  if (!run.client.aborted) await ignoreUnavailable(ledger.markAnswered(answered.payment))
}

const PLAYS_MAX = 5

/** Runs a script. Begins again if another process changed the purchase meanwhile. */
async function runToEnd<T>(
  runs: Runs,
  run: PurchaseRun,
  begin: () => Script<T>,
  log: LogStep,
  check = async (end: T): Promise<T> => end,
): Promise<T> {
  const handlers = createHandlers(runs, run, log)
  for (let plays = 1; ; plays += 1) {
    run.steps.length = 0
    try {
      return await check(await runScript(runs, begin(), run.steps, handlers, log))
    } catch (error) {
      if (!(error instanceof StaleWriteError) || plays === PLAYS_MAX) throw error
    }
  }
}

/**
 * Runs a script to its end, and records its steps. An error of a port is thrown into the script, at the request that
 * caused it.
 */
async function runScript<T>(
  { clock }: Runs,
  script: Script<T>,
  steps: RunStep[],
  handlers: Handlers,
  log: LogStep,
): Promise<T> {
  let next = script.next()
  while (next.done !== true) {
    const request = next.value
    const step: RunStep = { ...request, state: 'asked' }
    steps.push(step)
    const since = clock.elapsed()
    const reply = await answerRequest(request, handlers).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
    Object.assign(step, { state: 'error' in reply ? 'failed' : 'answered', ...reply })
    log(step, clock.elapsed() - since)
    next = 'error' in reply ? script.throw(reply.error) : script.next(reply.answer)
  }
  return next.value
}

/** Fulfils the requests of scripts. */
type Handlers = { readonly [V in Verb]: (request: Extract<ScriptRequest, { do: V }>) => Promise<AnswerTo<V>> }

function answerRequest(request: ScriptRequest, handlers: Handlers): Promise<ScriptAnswer> {
  // The compiler cannot infer the type of a handler that is looked up by a union of verbs.
  const handle = handlers[request.do] as (request: ScriptRequest) => Promise<ScriptAnswer>
  return handle(request)
}

const createHandlers = (runs: Runs, run: PurchaseRun, log: LogStep): Handlers => ({
  ...createReadHandlers(runs, run),
  ...createWriteHandlers(runs, run),
  ...createPriorHandlers(runs, run, log),
})

/** Makes the handlers of requests that write nothing to the ledger. */
function createReadHandlers(runs: Runs, run: PurchaseRun) {
  const { ledger, facilitator, chain, wallets, pictures } = runs
  return {
    'look-up': ({ key }) => ledger.find(key),
    'check-signature': ({ payment }) => wallets.checkPaymentSignature(payment),
    'check-for-token': ({ payment }) => wallets.checkTokenSignature(payment),
    'check-availability': ({ target, payment, now }) => checkAvailability(runs, target, payment, now),
    // Payments that are already refused may cause only a limited number of chain queries.
    'read-chain': async ({ key, isRefused }) =>
      isRefused && !runs.mayLookUp() ? 'silent' : await chain.readAuthorization(key),
    paint: ({ payment, picture }) => paintArea(pictures, payment.payer, picture),
    async verify({ target, payment }) {
      if (!run.isLeased) return { kind: 'busy' }
      runs.sent.set(toPaymentKey(payment), runs.clock.elapsed())
      return await facilitator.verify(target, payment)
    },
    async settle({ purchase: { target, payment } }) {
      const settling = await runs.settle(target, payment)
      const tx = findNamedTransaction(settling)
      if (tx !== undefined) runs.named.set(toPaymentKey(payment), tx)
      return settling
    },
    // If the wallet's budget of retries is used up, the reconciler queries the chain later. A payer that retries too
    // often gets the last known state.
    'ask-chain': async (question) => (run.isSpent ? { kind: 'silent' } : await readChainStatus(runs, question)),
  } satisfies Partial<Handlers>
}

/** Makes the handlers of requests that write to the ledger. */
function createWriteHandlers(runs: Runs, run: PurchaseRun) {
  const { ledger, clock, alert } = runs
  return {
    async claim(request) {
      if (run.client.aborted) return { kind: 'abandoned' }
      const claiming = await claimTarget(runs, request)
      runs.onStored?.()
      return claiming
    },
    'mark-uncertain': ({ purchase }) => ledger.markUncertain(purchase),
    finalize: ({ purchase, tx, settled }) => ledger.finalize(purchase, tx, settled, clock.now()),
    confirm: ({ purchase, tx }) => ledger.confirm(purchase, tx),
    'mark-final': ({ purchase, tx }) => ledger.markFinal(purchase, tx),
    // Alerts before it writes: after a crash in between, the alert is repeated, not lost.
    'mark-missing'({ purchase }) {
      alert('payment-vanished', purchase)
      return ledger.markMissing(purchase)
    },
    'write-off'({ purchase }) {
      alert('payment-lost', purchase)
      return ledger.writeOff(purchase)
    },
    release: ({ purchase, isFinal }) => ledger.release(purchase, isFinal),
    async 'record-unclaimed'({ purchase }) {
      const recorded = await ledger.recordUnclaimed(purchase, clock.now())
      runs.onStored?.()
      return recorded
    },
    'fulfil-late-payment': ({ purchase, tx }) => ledger.fulfilLatePayment(purchase, tx, clock.now()),
  } satisfies Partial<Handlers>
}

/** Makes the handlers of requests about an earlier purchase of the payer. */
function createPriorHandlers(runs: Runs, run: PurchaseRun, log: LogStep) {
  const { ledger } = runs
  return {
    async 'resolve-other'({ key }): Promise<Purchase | undefined> {
      // Never waits for a run that is waiting itself: the two could wait for each other.
      if (findRuns(runs, key).some(({ steps }) => isWaiting(steps))) return await ledger.find(key)
      const end = await runs.flights.run(toPaymentKey(key), () => runReconciliation(runs, key, log))
      return end === 'elsewhere' ? await ledger.find(key) : end
    },
    async 'hand-over'({ purchase, isReceipt }) {
      const others = [...runs.underWay].filter((other) => other !== run)
      const taken = others.flatMap(({ steps }) => findHandedOverPurchase(steps) ?? [])
      if (taken.some(({ payment }) => toPaymentKey(payment) === toPaymentKey(purchase.payment))) return false
      // The same payment, or payment-identifier, gets the same receipt, however often it is sent.
      const name = run.request?.payment.identifier
      const isNamed = name !== undefined && name === purchase.payment.identifier
      const isAgain: boolean = wasReceiptReusedFor(purchase, run.key)
      if (isNamed || isAgain) return true
      if (isReceipt) return await ledger.reuseReceipt(purchase, run.key.nonce)
      const now = await ledger.find(purchase.payment)
      return now?.state.kind === 'sold' && now.state.unanswered
    },
  } satisfies Partial<Handlers>
}
