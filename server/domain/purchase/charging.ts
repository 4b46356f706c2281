/** Whether a payment moved its money, as its own payer is told with a refusal. */

import { type Failure, type FailureCode, statusOf } from '../failure.ts'
import { type Outcome, type Purchase, refused } from './purchase.ts'

/**
 * Adds to the refusal of a payment, for its own payer, whether it moved its money: `charged` is `yes` (in `tx`), `no` if it
 * was never sent or can never move again, and `unknown` while it still may.
 */
export const charging = (refusal: Failure, state: Purchase['state'] | undefined): Failure => ({
  ...refusal,
  details: { ...refusal.details, ...chargeOf(refusal.code, state) },
})

function chargeOf(code: FailureCode, state: Purchase['state'] | undefined): NonNullable<Failure['details']> {
  // A request that breaks a rule is refused for what it says, whatever its payment did.
  if (statusOf[code] === 400) return {}
  if (statusOf[code] >= 500) return { charged: 'unknown' }
  if (state?.kind === 'sold' || state?.kind === 'credited') return { charged: 'yes', tx: state.tx }
  const isOver = state === undefined || (state.kind === 'released' && state.isFinal)
  return { charged: isOver ? 'no' : 'unknown' }
}

/** A refusal to the payer itself, which says whether its payment was charged. */
export const refusedPayer = (reason: Failure, known: Purchase | undefined): Outcome =>
  refused(charging(reason, known?.state))
