/** Buys blocks: drives the purchase script over the ports, one run per payment at a time. */

import { StoreUnavailable, type Failure } from '../domain/failure.ts'
import type { Listing } from '../domain/listing.ts'
import { keyOf, type Payment, type PaymentKey, type Target, type Terms } from '../domain/payment.ts'
import {
  buy,
  reconcile,
  type Answer,
  type AnswerTo,
  type Outcome,
  type Purchase,
  type Request,
  type Script,
  type Verb,
  type Verdict,
} from '../domain/purchase.ts'
import { storeUnavailable } from '../domain/refusals.ts'
import type { Chain, Clock, Facilitator, Ledger, Wallets } from '../ports.ts'
import { singleFlight, type SingleFlight } from './single-flight.ts'
import type { RailWatch } from './watch-rail.ts'

/** What selling needs. `advance` brings the views up to the log before a buyer is answered. */
export type Selling = {
  readonly ledger: Ledger
  readonly facilitator: Facilitator
  readonly chain: Chain
  readonly wallets: Wallets
  readonly clock: Clock
  readonly rail: RailWatch
  readonly terms: Terms
  readonly contact: string | null
  readonly advance: () => Promise<void>
}

export type Seller = {
  /** Buys `target` with `payment`; a listing that is refused is a `Failure`. Never throws for a fault of the world. */
  buy(target: Target, payment: Payment, listing: Listing | Failure): Promise<Outcome>
  /** Brings one unfinished purchase nearer to its end, unless a buyer's own request is at it. */
  reconcile(key: PaymentKey): Promise<void>
  /** Resolves when no purchase is under way. */
  idle(): Promise<void>
}

// A settlement is asked for again at most this often, however many copies of its request come in.
const SETTLE_GAP_MS = 3000

// Public endpoints lag behind the facilitator's by up to a few seconds, so a fresh settlement is looked for patiently.
const SETTLING_WAITS_MS = [250, 250, 500, 1000, 1000]

/** Makes the one seller of this process. */
export function seller(selling: Selling): Seller {
  const flights = singleFlight()
  const shared = new Map<string, Promise<Outcome>>()
  const world = worldOf(selling, flights)

  const attempt = (target: Target, payment: Payment, listing: Listing | Failure) =>
    flights.run(keyOf(payment), () =>
      outcomeOf(
        play(
          buy({
            target,
            payment,
            listing,
            terms: selling.terms,
            now: selling.clock.now(),
            armed: selling.rail.state() === 'armed',
            contact: selling.contact,
          }),
          world,
        ),
        selling,
      ),
    )

  return {
    async buy(target, payment, listing) {
      // Copies of one signed request that arrive together share one answer, or each would settle in turn.
      const flight = `${keyOf(payment)}:${target}`
      const leader = shared.get(flight)
      if (leader !== undefined) {
        const outcome = await leader
        if (isLasting(outcome)) return outcome
        return attempt(target, payment, listing)
      }
      const mine = attempt(target, payment, listing)
      shared.set(flight, mine)
      try {
        return await mine
      } finally {
        shared.delete(flight)
      }
    },
    async reconcile(key) {
      if (flights.busy(keyOf(key))) return
      await flights.run(keyOf(key), () => play(reconcile(key), world))
      await selling.advance()
    },
    idle: flights.idle,
  }
}

/** Whether an answer is about the payment itself, and so the same for every copy of the request. */
const isLasting = (outcome: Outcome) =>
  outcome.kind === 'bought' ||
  outcome.failure.code === 'settlement_unknown' ||
  outcome.failure.code === 'deed_not_persisted'

/** Catches the views up with what was sold, and turns a store that fails into its refusal. */
async function outcomeOf(run: Promise<Outcome>, { advance }: Selling): Promise<Outcome> {
  try {
    const outcome = await run
    if (outcome.kind === 'bought') await advance()
    return outcome
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    return { kind: 'refused', failure: storeUnavailable() }
  }
}

type World = { readonly [V in Verb]: (request: Extract<Request, { do: V }>) => Promise<AnswerTo<V>> }

/** Runs a script to its end; what a port throws is thrown into the script at the request that caused it. */
async function play<T>(script: Script<T>, world: World): Promise<T> {
  let step = script.next()
  while (step.done !== true) {
    const reply = await answerOf(step.value, world).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    )
    step = 'error' in reply ? script.throw(reply.error) : script.next(reply.answer)
  }
  return step.value
}

function answerOf(request: Request, world: World): Promise<Answer> {
  // The table has one entry per verb, which the compiler cannot follow through an index by a union.
  const handle = world[request.do] as (request: Request) => Promise<Answer>
  return handle(request)
}

function worldOf(selling: Selling, flights: SingleFlight): World {
  const { ledger, facilitator, chain, wallets, clock, rail } = selling
  const settle = spaced(facilitator.settle, clock)
  const world: World = {
    'look-up': ({ key }) => ledger.find(key),
    survey: ({ target, payment, now }) => ledger.survey(target, payment, now),
    'read-chain': async ({ key }) => {
      const answer = await chain.read(key)
      rail.heard(answer !== 'silent')
      return answer
    },
    verify: async ({ target, payment }) => {
      const answer = await facilitator.verify(target, payment)
      rail.heard(answer.kind !== 'unavailable')
      return answer
    },
    'check-signature': ({ payment }) => wallets.signedPayment(payment),
    claim: ({ target, payment, listing, head }) => ledger.claim(target, payment, listing, head, clock.now()),
    settle: ({ purchase }) => settle(purchase.target, purchase.payment),
    'ask-chain': ({ payment, head, patience }) =>
      verdictOf(selling, payment, head, patience === 'none' ? [] : SETTLING_WAITS_MS),
    doubt: ({ purchase }) => ledger.doubt(purchase),
    finalize: ({ purchase, tx, settled }) => ledger.finalize(purchase, tx, settled, clock.now()),
    confirm: ({ purchase, tx }) => ledger.confirm(purchase, tx),
    release: ({ purchase, dead }) => ledger.release(purchase, dead),
    owe: ({ purchase, tx }) => ledger.owe(purchase, tx, clock.now()),
    deliver: ({ purchase }) => ledger.deliver(purchase),
    'resolve-other': ({ key }): Promise<Purchase | undefined> =>
      flights.run(keyOf(key), () => play(reconcile(key), world)),
  }
  return world
}

/** Lets one payment be settled only so often; in between, the last try still stands as unclear. */
function spaced(settle: Facilitator['settle'], clock: Clock): Facilitator['settle'] {
  const lastMs = new Map<string, number>()
  return async (target, payment) => {
    const key = keyOf(payment)
    const now = clock.now()
    for (const [other, at] of lastMs) if (now - at >= SETTLE_GAP_MS) lastMs.delete(other)
    if (lastMs.has(key)) return { kind: 'unclear' }
    const answer = await settle(target, payment)
    lastMs.set(key, clock.now())
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
