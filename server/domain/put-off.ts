/** What a payer is told while another process is at the payment. */

import { ask, buy, doubt, type Order, type Outcome, type Script } from './purchase.ts'
import { stillAtIt } from './refusals.ts'

/**
 * Answers a payer whose payment another process has been at for long. What is final is told; what is held is in doubt from
 * now on, because its payer was told to wait.
 */
export function* putOff(order: Order): Script<Outcome> {
  const known = yield* ask({ do: 'look-up', key: order.payment })
  if (known?.state.kind === 'sold' || known?.state.kind === 'credited') return yield* buy(order)
  if (known?.state.kind === 'reserved') yield* doubt(known)
  return { kind: 'refused', failure: stillAtIt() }
}
