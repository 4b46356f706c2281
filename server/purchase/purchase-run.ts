/**
 * One run of a purchase script: what it knows, how each request of the script is answered, and how it ends. A purchase is
 * unanswered from its claim until its receipt went out, so a run that is cut off, or whose client leaves, has nothing to
 * note: the ledger already says that somebody may be waiting. What only this process knows is which runs are under way with
 * their clients still there: several fresh purchases of one payer at once are separate purchases.
 */

import { ifAvailable, StaleWriteError, StoreUnavailable, type Failure } from '../domain/failure.ts'
import type { Draft } from '../domain/purchase/listing.ts'
import { keyOf, type Payment, type PaymentKey, termsFor, type Terms } from '../domain/purchase/payment.ts'
import { reconcile } from '../domain/purchase/purchase-script.ts'
import type {
  Answer,
  AnswerTo,
  Order,
  Outcome,
  Purchase,
  Request,
  Script,
  SoldPurchase,
  Verb,
} from '../domain/purchase/purchase.ts'
import { stillAtIt, storeUnavailable } from '../domain/purchase/refusals.ts'
import type { Target } from '../domain/purchase/target.ts'
import type { PaymentHealth } from '../health/payment-health.ts'
import type { PaymentLease } from '../instances/payment-lease.ts'
import type { Chain, Clock, Facilitator, Logger, Leases, Ledger, Pictures, Wallets } from '../ports.ts'
import { paintArea } from '../wall/image-to-pixels.ts'
import type { AttemptBudget } from './attempt-budget.ts'
import { availabilityOf, claimOf } from './availability.ts'
import { statusInNextBlock, statusOf } from './chain-status.ts'
import { writeLanded, type LandedPayments } from './landed-payments.ts'
import { logActs, logEverything, logOutcome, type LogStep } from './purchase-log.ts'
import type { SeenPayments } from './seen-payments.ts'
import type { SingleFlight } from './single-flight.ts'
import { NOBODY, type WaitingClients } from './waiting-clients.ts'

/**
 * What buying needs. `advance` brings the views up to the log before a buyer is answered; `leases` are for a store that
 * other processes sell from, too.
 */
export type PurchaseDeps = {
  readonly ledger: Ledger
  readonly facilitator: Facilitator
  readonly chain: Chain // through `rpcLagGuard`, with all others who look
  readonly wallets: Wallets
  readonly pictures: Pick<Pictures, 'paint'>
  readonly clock: Clock
  readonly logger: Logger
  readonly rail: PaymentHealth
  readonly terms: Terms // for one block
  readonly contact: string | null
  readonly advance: () => Promise<void>
  readonly leases?: Leases | undefined
}

/** What the runs of this process share. */
export type Runs = PurchaseDeps & {
  readonly flights: SingleFlight
  readonly lease: PaymentLease
  readonly underWay: Set<PurchaseRun>
  readonly landed: LandedPayments
  readonly seen: SeenPayments
  readonly settle: Facilitator['settle']
  readonly alert: (event: string, purchase: Purchase) => void
  readonly mayRetry: AttemptBudget['mayRetry'] // whether requests may try a purchase of this wallet again now
}

/** What one run knows. */
export type PurchaseRun = {
  readonly key: PaymentKey
  readonly request: BuyRequest | undefined // of its clients
  readonly clients: WaitingClients
  hasClaimed: boolean // the block is held by this run, or is just being
  readonly isSpent: boolean // more of this wallet's purchases were tried again than requests may try
  hasAsked: boolean // the chain was asked what became of the payment
  hasWritten: boolean
  isWaiting: boolean // for the end of another purchase of the payer
  known: Purchase | undefined // as it was looked up
  handsOver: SoldPurchase | undefined // an earlier purchase, whose receipt this run's answer carries
}

/** What a run knows whenever its script begins. */
const BEGINNING = { hasClaimed: false, hasWritten: false, isWaiting: false, known: undefined, handsOver: undefined }

const newRun = (
  key: PaymentKey,
  clients: WaitingClients,
  request: BuyRequest | undefined,
  isSpent: boolean,
): PurchaseRun => ({ key, request, clients, isSpent, hasAsked: false, ...BEGINNING })

/** The runs under way for a payment. */
export const runsOf = ({ underWay }: Pick<Runs, 'underWay'>, key: PaymentKey): readonly PurchaseRun[] =>
  [...underWay].filter((run) => keyOf(run.key) === keyOf(key))

/** What a client sent to buy with. */
export type BuyRequest = {
  readonly target: Target
  readonly payment: Payment
  readonly listing: Draft | Failure // one that is refused must not hide what became of a known payment
}

/** Plays a script for clients who wait; `answer` is told the outcome, and the run then sees to what their leaving means. */
export async function runForClients(
  runs: Runs,
  request: BuyRequest,
  clients: WaitingClients,
  script: (order: Order) => Script<Outcome>,
  answer: (outcome: Outcome) => void,
  isSpent = false,
): Promise<void> {
  const { terms, contact, clock, rail, logger } = runs
  const { target, payment } = request
  const run = newRun(payment, clients, request, isSpent)
  runs.underWay.add(run)
  try {
    const armed = rail.state() === 'armed'
    const order = {
      ...request,
      terms: termsFor(terms, target),
      now: clock.now(),
      armed,
      contact,
      seen: runs.seen.find(payment),
    }
    const outcome = await outcomeOf(runs, run, () => script(order))
    logOutcome(logger, payment, target, outcome)
    answer(outcome)
    await markAnswered(runs, run, outcome)
  } finally {
    runs.underWay.delete(run)
  }
}

/** Brings a purchase nearer to its end, which no client of this run waits for; `elsewhere` where another process is at it. */
export async function runReconcile(
  runs: Runs,
  key: PaymentKey,
  log: LogStep = logActs(runs),
): Promise<Purchase | undefined | 'elsewhere'> {
  const run = newRun(key, NOBODY, undefined, false)
  try {
    return await runs.lease.unlessTaken(key, () => playThrough(runs, run, () => reconcile(key), log))
  } catch (error) {
    if (!(error instanceof StaleWriteError)) throw error
    return await runs.ledger.find(key)
  }
}

/** Plays the script, brings the views up to its sale, and turns a store that fails into its refusal. */
async function outcomeOf(runs: Runs, run: PurchaseRun, script: () => Script<Outcome>): Promise<Outcome> {
  try {
    const outcome = await playThrough(runs, run, script, logEverything(runs), (end) => checkDenial(runs, run, end))
    if (outcome.kind === 'bought') await ifAvailable(runs.advance())
    return outcome
  } catch (error) {
    if (error instanceof StaleWriteError) return { kind: 'refused', failure: stillAtIt() }
    if (!(error instanceof StoreUnavailable)) throw error
    return { kind: 'refused', failure: storeUnavailable() }
  }
}

/**
 * Before a payer is refused: another process may have taken the payment up since, and one that claimed it and is still at it
 * learns only from the store that its payer was told to wait, and may sign anew. Throws `StaleWriteError`, so that the run begins
 * again from what is written, or `StoreUnavailable`, which is then the answer.
 */
async function checkDenial({ leases, ledger }: Runs, run: PurchaseRun, outcome: Outcome): Promise<void> {
  if (leases === undefined || outcome.kind === 'bought' || run.hasClaimed) return
  const now = await ledger.find(run.key)
  if (!run.hasWritten && now?.state.kind !== run.known?.state.kind)
    throw new StaleWriteError('another process has taken the payment up')
  if (!isOfPayment(outcome) || now?.state.kind !== 'reserved' || now.state.uncertain) return
  await ledger.markUncertain(now)
}

/** Whether an answer is about the payment itself, and so the same for every copy of the request. */
export const isOfPayment = (outcome: Outcome) =>
  outcome.kind === 'bought' ||
  outcome.failure.code === 'settlement_unknown' ||
  outcome.failure.code === 'deed_not_persisted'

/** Marks the purchase whose receipt went out, unless every client left before: the payer's next request is then told of it. */
async function markAnswered({ clock, ledger }: Runs, run: PurchaseRun, outcome: Outcome): Promise<void> {
  // Whoever shows a payment that is known may be anybody, since settled payloads are public, and ends nothing by it.
  const answered = run.handsOver ?? (run.hasClaimed && outcome.kind === 'bought' ? outcome.purchase : undefined)
  if (answered === undefined) return
  // The answer is written to its connection first.
  await clock.wait(0)
  // A mark that cannot be written hands the receipt over once more, which charges nobody.
  if (!run.clients.haveLeft()) await ifAvailable(ledger.markAnswered(answered.payment))
}

const PLAYS_MAX = 5

/** Plays a script, and again from what is written where another process has moved its payment on meanwhile. */
async function playThrough<T>(
  runs: Runs,
  run: PurchaseRun,
  begin: () => Script<T>,
  log: LogStep,
  check: (end: T) => Promise<void> = async () => {},
): Promise<T> {
  const handlers = handlersOf(runs, run, log)
  for (let plays = 1; ; plays += 1) {
    Object.assign(run, BEGINNING)
    try {
      const end = await play(begin(), handlers, log)
      await check(end)
      return end
    } catch (error) {
      if (!(error instanceof StaleWriteError) || plays === PLAYS_MAX) throw error
    }
  }
}

/** Plays a script to its end; what a port throws is thrown into the script at the request that caused it. */
async function play<T>(script: Script<T>, handlers: Handlers, log: LogStep): Promise<T> {
  let step = script.next()
  while (step.done !== true) {
    const logReply = log(step.value)
    const reply = await answerOf(step.value, handlers).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
    logReply(reply)
    step = 'error' in reply ? script.throw(reply.error) : script.next(reply.answer)
  }
  return step.value
}

/** Answers what scripts ask for. */
type Handlers = { readonly [V in Verb]: (request: Extract<Request, { do: V }>) => Promise<AnswerTo<V>> }

function answerOf(request: Request, handlers: Handlers): Promise<Answer> {
  // The table has one entry per verb, which the compiler cannot follow through an index by a union.
  const handle = handlers[request.do] as (request: Request) => Promise<Answer>
  return handle(request)
}

const handlersOf = (runs: Runs, run: PurchaseRun, log: LogStep): Handlers => ({
  ...questions(runs, run),
  ...writes(runs, run),
  ...priors(runs, run, log),
})

/** What is looked up, and asked of others. */
function questions(runs: Runs, run: PurchaseRun) {
  const { ledger, facilitator, chain, wallets, pictures } = runs
  return {
    async 'look-up'({ key }) {
      await writeLanded(runs, key)
      run.known = await ledger.find(key)
      return run.known
    },
    'check-signature': ({ payment }) => wallets.signedPayment(payment),
    'check-for-token': ({ payment }) => wallets.signedForToken(payment),
    'check-availability': ({ target, payment, now }) => availabilityOf(runs, target, payment, now),
    async 'read-chain'({ key }) {
      const answer = await chain.read(key)
      if (answer !== 'silent' && !answer.spent) runs.seen.note(run.request, answer.head)
      return answer
    },
    paint: ({ picture }) => paintArea(pictures, picture),
    verify: ({ target, payment }) => facilitator.verify(target, payment),
    settle: ({ purchase }) => runs.settle(purchase.target, purchase.payment),
    async 'ask-chain'({ payment, head, wait, named }) {
      // The reconciler goes on with it; whoever asks often hears what is known.
      if (run.isSpent) return { kind: 'silent' }
      const status = await (wait === 'next-block'
        ? statusInNextBlock(runs, payment, head)
        : statusOf(runs, payment, head, wait, named))
      run.hasAsked = true
      return status
    },
  } satisfies Partial<Handlers>
}

/** What is written. */
function writes(runs: Runs, run: PurchaseRun) {
  const { ledger, clock, alert } = runs
  const written = async <T>(writing: Promise<T>): Promise<T> => {
    const answer = await writing
    run.hasWritten = true
    return answer
  }
  return {
    async claim(request) {
      if (run.clients.haveLeft()) return { kind: 'abandoned' }
      // Before it is written: another purchase of this payer may look as soon as it is.
      run.hasClaimed = true
      const claiming = await claimOf(runs, request)
      run.hasClaimed = claiming.kind === 'claimed'
      return claiming
    },
    'mark-uncertain': ({ purchase }) => written(ledger.markUncertain(purchase)),
    finalize: ({ purchase, tx, settled }) => written(ledger.finalize(purchase, tx, settled, clock.now())),
    confirm: ({ purchase, tx }) => ledger.confirm(purchase, tx),
    'mark-final': ({ purchase, tx }) => ledger.markFinal(purchase, tx),
    // The alert goes first: a process that dies in between repeats it, and does not leave it out.
    'mark-missing'({ purchase }) {
      alert('payment-vanished', purchase)
      return ledger.markMissing(purchase)
    },
    'write-off'({ purchase }) {
      alert('payment-lost', purchase)
      return ledger.writeOff(purchase)
    },
    release: ({ purchase, isFinal }) => written(ledger.release(purchase, isFinal)),
    async 'fulfil-late-payment'({ purchase, tx }) {
      try {
        return await written(ledger.fulfilLatePayment(purchase, tx, clock.now()))
      } catch (error) {
        // Nobody else knows of a payment that landed and was never claimed.
        if (error instanceof StoreUnavailable) runs.landed.set(keyOf(purchase.payment), { purchase, tx })
        throw error
      }
    },
  } satisfies Partial<Handlers>
}

/** What becomes of an earlier purchase of the payer. */
function priors(runs: Runs, run: PurchaseRun, log: LogStep) {
  const { ledger } = runs
  return {
    async 'resolve-other'({ key }): Promise<Purchase | undefined> {
      // A run that waits for another purchase is not waited for, or two could wait for each other.
      if (runsOf(runs, key).some(({ isWaiting }) => isWaiting)) return await ledger.find(key)
      run.isWaiting = true
      const end = await runs.flights.run(keyOf(key), () => runReconcile(runs, key, log))
      run.isWaiting = false
      return end === 'elsewhere' ? await ledger.find(key) : end
    },
    async 'hand-over'({ purchase }) {
      const key = keyOf(purchase.payment)
      const isTaken = [...runs.underWay].some(
        ({ handsOver }) => handsOver !== undefined && keyOf(handsOver.payment) === key,
      )
      if (isTaken) return false
      // Before it is asked: no other run hands over the same meanwhile. A store that fails here leaves nothing handed over.
      run.handsOver = purchase
      const now = await ledger.find(purchase.payment).catch((error: unknown) => {
        run.handsOver = undefined
        throw error
      })
      // What the client calls by the same name is answered with it however often it asks.
      const name = run.request?.payment.identifier
      const isNamed = name !== undefined && name === purchase.payment.identifier
      if (now?.state.kind === 'sold' && (now.state.unanswered || isNamed)) return true
      run.handsOver = undefined
      return false
    },
  } satisfies Partial<Handlers>
}
