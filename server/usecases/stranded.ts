/** Purchases that no process is at any more, as when one died in the midst of them. */

import { keyOf, type Payment, type Target } from '../domain/payment.ts'
import type { Purchase } from '../domain/purchase.ts'
import type { Clock, Ledger } from '../ports.ts'
import type { Apart } from './keep-apart.ts'
import type { SingleFlight } from './single-flight.ts'

type Looking = {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly flights: SingleFlight
  readonly apart: Apart
}

// Longer than a lease outlives the process that took it.
const SIBLING_WAITS_MS = [100, 200, 400, 800, 1500, ...Array.from({ length: 8 }, () => 2000)]

/**
 * A purchase of the payer's for the same target that nobody is at: its payer was left without an answer. What another process is at is waited for, since nobody can tell whether it lives.
 */
export async function strandedSibling(
  { ledger, clock, flights, apart }: Looking,
  target: Target,
  { payer, nonce }: Payment,
): Promise<Purchase | undefined> {
  for (const waitMs of SIBLING_WAITS_MS) {
    let isElsewhere = false
    for (const { payment, target: sought } of await ledger.heldFor(payer)) {
      if (sought !== target || payment.nonce === nonce || flights.busy(keyOf(payment))) continue
      // It may have come to its end since; what is still held while the lease is ours is nobody's.
      const found = await flights.run(keyOf(payment), () => apart.unlessTaken(payment, () => ledger.find(payment)))
      if (found === 'elsewhere') isElsewhere = true
      else if (found?.state.kind === 'reserved') return found
    }
    if (!isElsewhere) return undefined
    await clock.wait(waitMs)
  }
  return (await ledger.heldFor(payer)).find(
    ({ payment, target: sought }) => sought === target && payment.nonce !== nonce,
  )
}
