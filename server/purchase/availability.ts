/** Whether a payer can buy a target, given the runs of this process and of other processes. */

import type { Address, Hash, Payment, PaymentKey, Target, UnixMs } from '../domain/purchase/payment.ts'
import type { AvailabilityCheck, ClaimResult, ScriptRequest } from '../domain/purchase/purchase.ts'
import type { Clock, Leases, Ledger } from '../ports.ts'
import { TIMES, type Times } from '../times.ts'
import { hasClaimed, type RunStep } from './steps.ts'

/** A run of this process. */
type RunUnderWay = { readonly key: PaymentKey; readonly steps: readonly RunStep[]; readonly client: AbortSignal }

type AvailabilityDeps = {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly leases?: Leases | undefined
  readonly underWay: ReadonlySet<RunUnderWay>
  readonly times?: Times
}

/**
 * The nonces of a payer's payments for which runs of this process have claimed a block, and whose clients still wait.
 */
const listActiveNonces = ({ underWay }: AvailabilityDeps, payer: Address): readonly Hash[] =>
  [...underWay]
    .filter(({ key, steps, client }) => key.payer === payer && hasClaimed(steps) && !client.aborted)
    .map(({ key }) => key.nonce)

/**
 * Queries the ledger. Waits while another process holds the lease of an earlier purchase: that process may still finish
 * the purchase, and the lease of a crashed process expires.
 */
export async function checkAvailability(
  runs: AvailabilityDeps,
  target: Target,
  payment: Payment,
  now: UnixMs,
): Promise<AvailabilityCheck> {
  const { ledger, leases, clock, times = TIMES } = runs
  const check = () => ledger.checkAvailability(target, payment, now, listActiveNonces(runs, payment.payer))
  let found = await check()
  for (const waitMs of times.unansweredPurchaseWaitsMs) {
    if (found.prior === undefined || leases === undefined || !(await leases.isTaken(found.prior.payment))) return found
    await clock.wait(waitMs)
    found = await check()
  }
  return found
}

const CLAIMS_MAX = 3

/**
 * Claims the target. Waits for purchases of the same payer and target for which other processes have claimed blocks
 * meanwhile.
 */
export async function claimTarget(
  runs: AvailabilityDeps,
  request: Extract<ScriptRequest, { do: 'claim' }>,
): Promise<ClaimResult> {
  const { ledger, clock, leases } = runs
  const { target, payment, listing, head } = request
  for (let claims = 1; ; claims += 1) {
    const claiming = await ledger.claim(
      target,
      payment,
      listing,
      head,
      clock.now(),
      listActiveNonces(runs, payment.payer),
    )
    if (claiming.kind !== 'prior' || leases === undefined || claims === CLAIMS_MAX) return claiming
    const { prior } = await checkAvailability(runs, target, payment, clock.now())
    if (prior !== undefined) return claiming
  }
}
