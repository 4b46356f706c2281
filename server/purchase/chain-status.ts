/** Reads the status of a payment on the chain, and waits for it as long as the request asks. */

import type { Payment } from '../domain/purchase/payment.ts'
import type { ChainStatus, Outcome, ScriptRequest } from '../domain/purchase/purchase.ts'
import { mayLackFunds, addBalance } from '../domain/purchase/refusals.ts'
import type { Chain, Clock } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'

type ChainStatusDeps = { readonly chain: Chain; readonly clock: Clock; readonly times?: Times }

/**
 * Calls `ask`, and again after each wait, until `isEnough` accepts the answer or no wait is left. Returns the last
 * answer.
 */
export async function queryUntil<T>(
  clock: Clock,
  waitsMs: readonly number[],
  ask: () => Promise<T>,
  isEnough: (answer: T) => boolean,
): Promise<T> {
  let answer = await ask()
  for (const waitMs of waitsMs) {
    if (isEnough(answer)) break
    await clock.wait(waitMs)
    answer = await ask()
  }
  return answer
}

/** Queries the chain until it shows how the payment ended, or the wait is over. */
export async function readChainStatus(
  deps: ChainStatusDeps,
  { payment, head, wait, named }: Extract<ScriptRequest, { do: 'ask-chain' }>,
): Promise<ChainStatus> {
  if (wait === 'next-block') return await readStatusInNextBlock(deps, payment, head)
  const { chain, clock, times = TIMES } = deps
  const waitsMs = wait === 'settling' ? times.settlementWaitsMs : []
  const readStatus = () => chain.readPaymentStatus(payment, head, named)
  return await queryUntil(clock, waitsMs, readStatus, ({ kind }) => kind === 'paid' || kind === 'void')
}

/** The status as of a block that was made after the query began; `silent` if no such block was seen in time. */
async function readStatusInNextBlock(
  { chain, clock, times = TIMES }: ChainStatusDeps,
  payment: Payment,
  head: bigint,
): Promise<ChainStatus> {
  const asked = await chain.readAuthorization(payment)
  if (asked === 'silent') return { kind: 'silent' }
  for (const waitMs of times.nextBlockWaitsMs) {
    await clock.wait(waitMs)
    const seen = await chain.readAuthorization(payment)
    if (seen === 'silent' || seen.head <= asked.head) continue
    const status: ChainStatus = seen.spent ? await chain.readPaymentStatus(payment, head) : { kind: 'unspent' }
    // A payment that was spent and is unspent again was in a block that was replaced, and may settle again.
    const isUndone = status.kind === 'unspent' && (asked.spent || seen.spent)
    return isUndone ? { kind: 'silent' } : status
  }
  return { kind: 'silent' }
}

/**
 * Returns the outcome, with the wallet's balance added if the balance is too low and may be why a facilitator refused
 * the payment.
 */
export async function addSeenBalance(
  { chain, mayLookUp }: Pick<ChainStatusDeps, 'chain'> & { readonly mayLookUp: () => boolean },
  payment: Payment,
  outcome: Outcome,
): Promise<Outcome> {
  if (outcome.kind === 'bought' || !mayLackFunds(outcome) || !mayLookUp()) return outcome
  const balance = await chain.readBalance(payment.payer)
  const isEmpty = balance !== 'silent' && balance < payment.amount
  return isEmpty ? addBalance(outcome, balance, payment) : outcome
}
