/** Buys blocks: drives the purchase script over the ports, one run per payment at a time. */

import { coordOf } from '../../shared/wall.ts'
import { Overtaken, StoreUnavailable, type Failure } from '../domain/failure.ts'
import type { Listing } from '../domain/listing.ts'
import { keyOf, type Payment, type PaymentKey, type Target, type Terms } from '../domain/payment.ts'
import {
  buy,
  reconcile,
  type Order,
  type Outcome,
  type Purchase,
  type Script,
  type Verdict,
} from '../domain/purchase.ts'
import { putOff } from '../domain/put-off.ts'
import { stillAtIt, storeUnavailable } from '../domain/refusals.ts'
import type { Chain, Clock, Facilitator, Journal, Leases, Ledger, Wallets } from '../ports.ts'
import { audience, type Audience } from './audience.ts'
import { ALONE, keepApart, type Apart } from './keep-apart.ts'
import { lookedOnly, surveyWithStranded, tellOthers } from './other-hands.ts'
import { playThrough, type World } from './play-script.ts'
import { rpcLagGuard } from './rpc-lag-guard.ts'
import { singleFlight, type SingleFlight } from './single-flight.ts'
import { tellActs, tellEverything, tellOutcome, type TellStep } from './tell-steps.ts'
import { unwritten, type Unwritten } from './unwritten.ts'
import { waitedFor } from './waited-for.ts'
import type { RailWatch } from './watch-rail.ts'

/**
 * What selling needs. `advance` brings the views up to the log before a buyer is answered; `leases` are for a store that
 * other processes sell from, too.
 */
export type Selling = {
  readonly ledger: Ledger
  readonly facilitator: Facilitator
  readonly chain: Chain
  readonly wallets: Wallets
  readonly clock: Clock
  readonly journal: Journal
  readonly rail: RailWatch
  readonly terms: Terms
  readonly contact: string | null
  readonly advance: () => Promise<void>
  readonly leases?: Leases | undefined
}

export type Seller = {
  /**
   * Buys `target` with `payment`; a listing that is refused is a `Failure`. Never throws for a fault of the world. A client
   * that hangs up stops nothing, but is remembered as one that was left without an answer.
   */
  buy(target: Target, payment: Payment, listing: Listing | Failure, client?: AbortSignal): Promise<Outcome>
  /**
   * Brings one unfinished purchase nearer to its end, unless another run is at it; `false` where nobody here has looked at
   * it yet, because another process has it, or a run that may end without a look.
   */
  reconcile(key: PaymentKey): Promise<boolean>
  /** Resolves when no purchase is under way. */
  idle(): Promise<void>
}

/** A seller with what its sweeper needs. */
export type SweptSeller = Seller & {
  /** Writes down what the store could not take before. Throws `StoreUnavailable`. */
  catchUp(): Promise<void>
}

// A settlement is asked for again at most this often, however many copies of its request come in.
const SETTLE_GAP_MS = 3000

// Public endpoints lag behind the facilitator's by up to a few seconds, so a fresh settlement is looked for patiently.
const SETTLING_WAITS_MS = [250, 250, 500, 1000, 1000]

/** Makes the one seller of this process. */
export function seller(selling: Selling): SweptSeller {
  const desk = deskOf(selling)
  const shared = new Map<string, { readonly outcome: Promise<Outcome>; readonly clients: Audience }>()
  const unattended = worldOf(desk)

  const attempt = (target: Target, payment: Payment, listing: Listing | Failure, clients: Audience) => {
    const begin = async (script: (order: Order) => Script<Outcome>) => {
      const { terms, contact, clock, rail } = selling
      const order = { target, payment, listing, terms, now: clock.now(), armed: rail.state() === 'armed', contact }
      try {
        const { world, check } = attended(desk, clients, payment)
        const run = playThrough(() => script(order), world, desk.tell, check)
        const outcome = await outcomeOf(run, selling)
        tellOutcome(selling.journal, payment, target, outcome)
        return outcome
      } finally {
        desk.begun.delete(keyOf(payment))
        await farewell(desk, clients, payment)
      }
    }
    return inTurn(desk, payment, () =>
      desk.apart.whenFree(payment, {
        isOver: async () => isFinal((await selling.ledger.find(payment))?.state.kind),
        work: () => begin(buy),
        late: () => begin(putOff),
      }),
    )
  }

  return {
    async buy(target, payment, listing, client) {
      // Copies of one signed request that arrive together share one answer, or each would settle in turn.
      const flight = `${keyOf(payment)}:${target}`
      const leader = shared.get(flight)
      if (leader !== undefined) {
        leader.clients.join(client)
        const outcome = await leader.outcome
        if (isLasting(outcome)) return outcome
        return attempt(target, payment, listing, audience(client))
      }
      const clients = audience(client)
      const outcome = attempt(target, payment, listing, clients)
      shared.set(flight, { outcome, clients })
      try {
        return await outcome
      } finally {
        shared.delete(flight)
      }
    },
    async reconcile(key) {
      // A run that has not looked yet may fail before it does, or wait for a lease of a process that died.
      if (desk.flights.busy(keyOf(key))) return desk.looked.has(keyOf(key))
      const end = await inTurn(desk, key, () => goOn(desk, key, unattended, desk.tellSwept))
      await selling.advance()
      return end !== 'elsewhere'
    },
    catchUp: desk.unwritten.writeAll,
    idle: desk.flights.idle,
  }
}

const deskOf = (selling: Selling): Desk => ({
  ...selling,
  chain: rpcLagGuard(selling.chain, selling.clock),
  flights: singleFlight(),
  apart: selling.leases === undefined ? ALONE : keepApart(selling.leases, selling.clock),
  begun: new Set(),
  looked: new Set(),
  unwritten: unwritten(selling.ledger, selling.clock),
  settle: spaced(selling.facilitator.settle, selling.clock),
  alarm: alarmOnce(selling.journal),
  tell: tellEverything(selling),
  tellSwept: tellActs(selling),
})

const isFinal = (kind: Purchase['state']['kind'] | undefined) => kind === 'sold' || kind === 'credited'

/** Whether an answer is about the payment itself, and so the same for every copy of the request. */
const isLasting = (outcome: Outcome) =>
  outcome.kind === 'bought' ||
  outcome.failure.code === 'settlement_unknown' ||
  outcome.failure.code === 'deed_not_persisted'

/** Catches the views up with what was sold, and turns a store that fails into its refusal. */
async function outcomeOf(run: Promise<Outcome>, { advance }: Selling): Promise<Outcome> {
  try {
    const outcome = await run
    if (outcome.kind === 'bought') await orLater(advance())
    return outcome
  } catch (error) {
    if (error instanceof Overtaken) return { kind: 'refused', failure: stillAtIt() }
    if (!(error instanceof StoreUnavailable)) throw error
    return { kind: 'refused', failure: storeUnavailable() }
  }
}

/** A receipt is true, and noted as handed over, before any view shows its sale. */
async function orLater(advancing: Promise<void>): Promise<void> {
  try {
    await advancing
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
  }
}

/** Runs `work` after every earlier run for the payment. */
function inTurn<T>({ flights, looked }: Desk, key: PaymentKey, work: () => Promise<T>): Promise<T> {
  return flights.run(keyOf(key), async () => {
    try {
      return await work()
    } finally {
      looked.delete(keyOf(key))
    }
  })
}

/** Brings a purchase nearer to its end; to be called while no other run of this process is at it. */
async function goOn(
  { apart, ledger }: Desk,
  key: PaymentKey,
  world: World,
  tell: TellStep,
): Promise<Purchase | undefined | 'elsewhere'> {
  try {
    return await apart.unlessTaken(key, () => playThrough(() => reconcile(key), world, tell))
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
    return await ledger.find(key)
  }
}

/** What every run shares. */
type Desk = Selling & {
  readonly flights: SingleFlight
  readonly apart: Apart
  readonly begun: Set<string> // payments that were claimed by runs under way
  readonly looked: Set<string> // payments of which a run under way has asked the chain
  readonly unwritten: Unwritten
  readonly settle: Facilitator['settle']
  readonly alarm: ReturnType<typeof alarmOnce>
  readonly tell: TellStep
  readonly tellSwept: TellStep
}

function worldOf(desk: Desk): World {
  const { ledger, facilitator, chain, wallets, clock, settle, alarm } = desk
  const { unwritten: notes } = desk
  const world: World = {
    async 'look-up'({ key }) {
      await notes.writeLanding(key)
      return await ledger.find(key)
    },
    survey: async ({ target, payment, now }) => {
      await notes.writeDoubts(payment.payer)
      const look = () => ledger.survey(target, payment, now)
      return desk.leases === undefined ? await look() : await surveyWithStranded(desk, look, target, payment)
    },
    'read-chain': ({ key }) => chain.read(key),
    verify: ({ target, payment }) => facilitator.verify(target, payment),
    'check-signature': ({ payment }) => wallets.signedPayment(payment),
    'check-for-token': ({ payment }) => wallets.signedForToken(payment),
    claim: async ({ target, payment, listing, head }) => {
      await notes.writeDoubts(payment.payer)
      return await ledger.claim(target, payment, listing, head, clock.now())
    },
    settle: ({ purchase }) => settle(purchase.target, purchase.payment),
    'ask-chain': async ({ payment, head, patience }) => {
      const verdict = await verdictOf(desk, payment, head, patience === 'none' ? [] : SETTLING_WAITS_MS)
      desk.looked.add(keyOf(payment))
      return verdict
    },
    doubt: ({ purchase }) => orNote(ledger.doubt(purchase), () => notes.doubt(purchase)),
    finalize: async ({ purchase, tx, settled }) => {
      // A sale remembers whether its payer was left waiting, so that must be written before.
      await notes.writeDoubts(purchase.payment.payer)
      return await ledger.finalize(purchase, tx, settled, clock.now())
    },
    confirm: ({ purchase, tx }) => ledger.confirm(purchase, tx),
    seal: ({ purchase, tx }) => ledger.seal(purchase, tx),
    // Told before it is written: a process that dies in between tells it again, and not never.
    miss({ purchase }) {
      alarm('payment-vanished', purchase)
      return ledger.miss(purchase)
    },
    'write-off'({ purchase }) {
      alarm('payment-lost', purchase)
      return ledger.writeOff(purchase)
    },
    async release({ purchase, dead }) {
      await ledger.release(purchase, dead)
      notes.release(purchase.payment)
    },
    // Nobody else knows of a payment that landed and was never claimed.
    owe: ({ purchase, tx }) => orNote(ledger.owe(purchase, tx, clock.now()), () => notes.land(purchase, tx)),
    deliver: ({ purchase }) => ledger.deliver(purchase),
    'resolve-other': ({ key }): Promise<Purchase | undefined> =>
      inTurn(desk, key, async () => {
        const end = await goOn(desk, key, world, desk.tell)
        return end === 'elsewhere' ? await ledger.find(key) : end
      }),
  }
  return world
}

/** Notes what the store could not take. */
async function orNote<T>(writing: Promise<T>, note: () => void): Promise<T> {
  try {
    return await writing
  } catch (error) {
    if (error instanceof StoreUnavailable) note()
    throw error
  }
}

/** What a run for clients is played over, and what its answer has to pass. */
type Attended = { readonly world: World; readonly check: (outcome: Outcome) => Promise<void> }

/** The same, for clients who may hang up. */
function attended(desk: Desk, clients: Audience, payment: Payment): Attended {
  const world = waitedFor(worldOf(desk), clients, desk.unwritten)
  const onlyLooked = lookedOnly(desk, payment)
  return {
    async check(outcome) {
      await onlyLooked.check(outcome)
      if (outcome.kind === 'refused' && isLasting(outcome)) await tellOthers(desk, payment)
    },
    world: onlyLooked.watch({
      ...world,
      async claim(request) {
        const claiming = await world.claim(request)
        if (claiming.kind === 'claimed') desk.begun.add(keyOf(payment))
        return claiming
      },
    }),
  }
}

/** Ends the watch over who waits for an answer. What they are owed and the store cannot take now stays noted. */
async function farewell(desk: Desk, clients: Audience, { payer }: Payment): Promise<void> {
  clients.whenGone(() => {})
  try {
    if (clients.gone()) await desk.unwritten.writeDoubts(payer)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
  }
}

/** Tells the operator of a purchase, once in the life of the process. */
function alarmOnce(journal: Journal): (event: string, purchase: Purchase) => void {
  const told = new Set<string>()
  return (event, { payment, block }) => {
    const once = `${event} ${keyOf(payment)}`
    if (told.has(once)) return
    told.add(once)
    journal.alarm(event, { payer: payment.payer, nonce: payment.nonce, block: coordOf(block) })
  }
}

/** Lets one payment be settled only so often; in between, the last try still stands as unclear. */
function spaced(settle: Facilitator['settle'], clock: Clock): Facilitator['settle'] {
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

/** Asks the chain until it has an end to tell, or patience runs out; the last answer stands. */
async function verdictOf(
  { chain, clock }: Selling,
  payment: Payment,
  head: bigint,
  waitsMs: readonly number[],
): Promise<Verdict> {
  let verdict = await chain.verdict(payment, head)
  for (const waitMs of waitsMs) {
    if (verdict.kind === 'paid' || verdict.kind === 'void') break
    await clock.wait(waitMs)
    verdict = await chain.verdict(payment, head)
  }
  return verdict
}
