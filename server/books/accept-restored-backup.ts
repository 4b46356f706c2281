/** Accepts an older copy of the store, which was restored, as the wall's: what was paid for since is owed. */

import type { Clock, Payouts, Store, Witness } from '../ports.ts'
import {
  findOrphans,
  nextHeight,
  unclaimedOf,
  type FindOrphanDeps,
  type OrphanPayment,
} from './find-orphan-payments.ts'

export type AcceptRestoredBackupDeps = FindOrphanDeps & {
  readonly payouts: Payouts
  readonly store: Pick<Store, 'position'>
  readonly witness: Pick<Witness, 'write'>
  readonly clock: Pick<Clock, 'now'>
}

/** The payments that the copy has lost, and the height up to which the chain was read. */
export type LostPayments = { readonly orphans: readonly OrphanPayment[]; readonly through: bigint }

/** Finds what was paid for since the copy was made, but for what the operator dealt with by hand. Changes nothing. */
export async function findLostPayments(
  deps: FindOrphanDeps & { readonly payouts: Pick<Payouts, 'isNoted'> },
): Promise<LostPayments | 'silent'> {
  const start = await nextHeight(deps)
  if (start === 'silent') return 'silent'
  const orphans: OrphanPayment[] = []
  for (let from = start; ;) {
    const window = await findOrphans(deps, from)
    if (window === 'silent') return 'silent'
    for (const orphan of window.orphans) if (!(await deps.payouts.isNoted(orphan))) orphans.push(orphan)
    from = window.next
    if (window.isAll) return { orphans, through: from - 1n }
  }
}

/** Books the lost payments as credits, and the store as current. The wall must be stopped. */
export async function acceptRestoredBackup(
  { terms, checkpoint, payouts, store, witness, clock }: AcceptRestoredBackupDeps,
  { orphans, through }: LostPayments,
): Promise<void> {
  const now = clock.now()
  for (const orphan of orphans) await payouts.owe(unclaimedOf(orphan, terms, now), orphan.tx, now)
  await checkpoint.reach(through)
  // Last, so that a wall whose acceptance was cut off still waits for it.
  await witness.write(await store.position())
}
