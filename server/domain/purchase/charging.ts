/** Adds to a refusal whether the payer's payment was charged. */

import { type Failure, type FailureCode, statusOf } from '../failure.ts'
import type { Purchase } from './purchase.ts'
import { describeNotSettled } from './refusals.ts'

/**
 * Adds `charged` to a refusal for the payer itself, unless the refusal is a 400. `charged` is `yes` if the payment
 * settled, with the transaction in `tx`; `no` if the payment was never sent or can never settle; `unknown` while it may
 * still settle, and in every 5xx refusal.
 */
export function addChargeStatus(refusal: Failure, known: Pick<Purchase, 'state'> | undefined): Failure {
  const status = findChargeStatus(refusal.code, known?.state)
  const mayMove = refusal.code === 'payment_required' && status['charged'] === 'unknown'
  const message = mayMove ? describeNotSettled(String(refusal.details?.['reason'])) : refusal.message
  return { ...refusal, message, details: { ...refusal.details, ...status } }
}

function findChargeStatus(code: FailureCode, state: Purchase['state'] | undefined): NonNullable<Failure['details']> {
  // A 400 is about the request, so it says nothing about the payment.
  if (statusOf[code] === 400) return {}
  if (statusOf[code] >= 500) return { charged: 'unknown' }
  if (state?.kind === 'sold' || state?.kind === 'credited') return { charged: 'yes', tx: state.tx }
  const isOver = state === undefined || (state.kind === 'released' && state.isFinal)
  return { charged: isOver ? 'no' : 'unknown' }
}

/** Whether a refusal is for the payer itself and says that its payment may still settle. */
export const isPending = ({ code, details }: Failure): boolean =>
  statusOf[code] === 503 && details?.['charged'] === 'unknown'
