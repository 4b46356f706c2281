/** What a run must know of runs that other processes made, or are making. */

import { Overtaken } from '../domain/failure.ts'
import { keyOf, type Payment, type Target } from '../domain/payment.ts'
import type { Outcome, Purchase, Survey } from '../domain/purchase.ts'
import type { Clock, Leases, Ledger } from '../ports.ts'
import type { Apart } from './keep-apart.ts'
import type { World } from './play-script.ts'
import type { Unwritten } from './unwritten.ts'

type Looking = {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly apart: Apart
  readonly leases?: Leases | undefined
  readonly begun: ReadonlySet<string> // payments that were claimed by runs of this process that are under way
}

// Longer than a lease outlives the process that took it.
const SIBLING_WAITS_MS = [100, 200, 400, 800, 1500, ...Array.from({ length: 8 }, () => 2000)]

/**
 * A survey in which purchases that nobody is at any more, as when a process died in the midst of them, are in doubt: their
 * payer was left without an answer. What another process is at is waited for, since nobody can tell whether it lives.
 */
export async function surveyWithStranded(
  looking: Looking,
  look: () => Promise<Survey>,
  target: Target,
  payment: Payment,
): Promise<Survey> {
  const waits = SIBLING_WAITS_MS.values()
  for (;;) {
    const survey = await look()
    const known = survey.sibling?.payment.nonce
    // In this order: what is held only after the survey was begun at the same time as this purchase, and not before it.
    const { stranded, elsewhere } = await siblingsOf(looking, target, payment, known)
    const wait = elsewhere === undefined ? undefined : waits.next()
    if (wait === undefined || wait.done === true) {
      // Only one is looked into at a time; the others then hold up the claim until they are.
      for (const one of stranded) await looking.ledger.doubt(one)
      const sibling = survey.sibling ?? stranded[0] ?? elsewhere
      return sibling === undefined ? survey : { ...survey, sibling }
    }
    await looking.clock.wait(wait.value)
  }
}

/**
 * Of what is held for the payer and target by no run of this process, and is not `known`: all that nobody is at, and one
 * that somebody is at.
 */
async function siblingsOf(
  { ledger, apart, begun }: Looking,
  target: Target,
  { payer, nonce }: Payment,
  known: Payment['nonce'] | undefined,
): Promise<{ readonly stranded: readonly Purchase[]; readonly elsewhere: Purchase | undefined }> {
  const stranded: Purchase[] = []
  let elsewhere: Purchase | undefined
  for (const held of await ledger.heldFor(payer)) {
    const { payment } = held
    if (held.target !== target || [nonce, known].includes(payment.nonce) || begun.has(keyOf(payment))) continue
    // It may have come to its end since; what is still held while the lease is ours is nobody's.
    const found = await apart.unlessTaken(payment, () => ledger.find(payment))
    if (found === 'elsewhere') elsewhere = held
    else if (found?.state.kind === 'reserved') stranded.push(found)
  }
  return { stranded, elsewhere }
}

/**
 * Keeps a run that only looked from refusing what another process has taken up since: a payer who is told that nothing was
 * charged signs anew. `check` throws `Overtaken` then.
 */
export function lookedOnly(
  { ledger, leases }: Looking,
  payment: Payment,
): { watch(world: World): World; check(outcome: Outcome): Promise<void> } {
  let known: Purchase | undefined
  let isOurs = false
  const ours =
    <A, T>(handle: (request: A) => Promise<T>) =>
    (request: A) => {
      isOurs = true
      return handle(request)
    }
  return {
    watch: (world) => ({
      ...world,
      async 'look-up'(request) {
        isOurs = false
        known = await world['look-up'](request)
        return known
      },
      async claim(request) {
        const claiming = await world.claim(request)
        isOurs ||= claiming.kind === 'claimed'
        return claiming
      },
      doubt: ours(world.doubt),
      finalize: ours(world.finalize),
      release: ours(world.release),
      owe: ours(world.owe),
    }),
    async check(outcome) {
      if (leases === undefined || outcome.kind === 'bought' || isOurs) return
      const now = await ledger.find(payment)
      if (now?.state.kind !== known?.state.kind) throw new Overtaken('another process has taken the payment up')
    },
  }
}

/**
 * To be done before a payer is told to wait: another process that claimed the payment and is still at it learns only from
 * the store that the payer may sign anew, and would sell something new over it. Throws `StoreUnavailable` where the doubt
 * cannot be written, which is then the answer.
 */
export async function tellOthers(
  { leases, begun, unwritten }: Pick<Looking, 'leases' | 'begun'> & { readonly unwritten: Unwritten },
  payment: Payment,
): Promise<void> {
  if (leases !== undefined && !begun.has(keyOf(payment))) await unwritten.writeDoubts(payment.payer)
}
