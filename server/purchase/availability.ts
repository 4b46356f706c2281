/** What a payer can have, beside what runs of this process and others are at. */

import type { Address, Hash, Payment, PaymentKey, Target, UnixMs } from '../domain/purchase/payment.ts'
import type { Availability, ClaimResult, Request } from '../domain/purchase/purchase.ts'
import type { Clock, Leases, Ledger } from '../ports.ts'
import type { WaitingClients } from './waiting-clients.ts'

/** A run under way, as far as others must know of it. */
type RunUnderWay = { readonly key: PaymentKey; readonly hasClaimed: boolean; readonly clients: WaitingClients }

type AvailabilityDeps = {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly leases?: Leases | undefined
  readonly underWay: ReadonlySet<RunUnderWay>
}

/** The payments of a payer that runs under way here have claimed, and whose clients wait for the receipts. */
const attendedOf = ({ underWay }: AvailabilityDeps, payer: Address): readonly Hash[] =>
  [...underWay]
    .filter(({ key, hasClaimed, clients }) => key.payer === payer && hasClaimed && !clients.haveLeft())
    .map(({ key }) => key.nonce)

// Longer than a lease outlives the process that took it.
const PRIOR_WAITS_MS = [50, 100, 200, 400, 800, 1500, ...Array.from({ length: 8 }, () => 2000)]

/** What can be had. An earlier purchase that another process is at is waited for, since nobody can tell whether it lives. */
export async function availabilityOf(
  runs: AvailabilityDeps,
  target: Target,
  payment: Payment,
  now: UnixMs,
): Promise<Availability> {
  const { ledger, leases, clock } = runs
  const check = () => ledger.availability(target, payment, now, attendedOf(runs, payment.payer))
  let found = await check()
  for (const waitMs of PRIOR_WAITS_MS) {
    if (found.prior === undefined || leases === undefined || !(await leases.isTaken(found.prior.payment))) return found
    await clock.wait(waitMs)
    found = await check()
  }
  return found
}

const CLAIMS_MAX = 3

/** Claims, once what other processes have claimed for the same payer and target meanwhile has ended there. */
export async function claimOf(
  runs: AvailabilityDeps,
  request: Extract<Request, { do: 'claim' }>,
): Promise<ClaimResult> {
  const { ledger, clock, leases } = runs
  const { target, payment, listing, head } = request
  for (let claims = 1; ; claims += 1) {
    const claiming = await ledger.claim(target, payment, listing, head, clock.now(), attendedOf(runs, payment.payer))
    if (claiming.kind !== 'prior' || leases === undefined || claims === CLAIMS_MAX) return claiming
    const { prior } = await availabilityOf(runs, target, payment, clock.now())
    if (prior !== undefined) return claiming
  }
}
