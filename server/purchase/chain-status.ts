/** What the chain says of a payment, asked with the wait that the question needs. */

import type { Hash, Payment } from '../domain/purchase/payment.ts'
import type { ChainStatus } from '../domain/purchase/purchase.ts'
import type { Chain, Clock } from '../ports.ts'

type ChainStatusDeps = { readonly chain: Chain; readonly clock: Clock }

// Public endpoints lag behind the facilitator's by up to a few seconds, so a fresh settlement is looked for patiently.
const WAITS_MS = { none: [], settling: [250, 250, 500, 1000, 1000] } as const

/** Asks the chain until it has an end to tell, or wait runs out; the last answer stands. */
export async function statusOf(
  { chain, clock }: ChainStatusDeps,
  payment: Payment,
  head: bigint,
  wait: keyof typeof WAITS_MS,
  named?: Hash,
): Promise<ChainStatus> {
  let status = await chain.status(payment, head, named)
  for (const waitMs of WAITS_MS[wait]) {
    if (status.kind === 'paid' || status.kind === 'void') break
    await clock.wait(waitMs)
    status = await chain.status(payment, head, named)
  }
  return status
}

// A block takes two seconds on Base; one that takes much longer is no block to wait for.
const NEXT_BLOCK_WAITS_MS = [250, 250, 500, 1000, 1000, 1000, 1000, 1000, 1000, 1000]

/** What the chain says in a block made after the question. */
export async function statusInNextBlock(
  { chain, clock }: ChainStatusDeps,
  payment: Payment,
  head: bigint,
): Promise<ChainStatus> {
  const asked = await chain.read(payment)
  if (asked === 'silent') return { kind: 'silent' }
  for (const waitMs of NEXT_BLOCK_WAITS_MS) {
    await clock.wait(waitMs)
    const seen = await chain.read(payment)
    if (seen === 'silent' || seen.head <= asked.head) continue
    return seen.spent ? await chain.status(payment, head) : { kind: 'unspent' }
  }
  return { kind: 'silent' }
}
