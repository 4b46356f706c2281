/**
 * Accepts an older, restored copy of the store as the wall's current store: payments that the copy has lost become
 * credits.
 */

import { STRAY_NOTE } from '../domain/purchase/account.ts'
import type { Address } from '../domain/purchase/payment.ts'
import type { StorePosition } from '../domain/store-position.ts'
import type { Clock, Payouts, Store, Witness } from '../ports.ts'
import {
  findOrphans,
  findNextHeight,
  listPayees,
  toUnclaimedPayment,
  type FindOrphanDeps,
  type OrphanPayment,
} from './find-orphan-payments.ts'

export type AcceptRestoredBackupDeps = FindOrphanDeps & {
  readonly payouts: Payouts
  readonly store: Pick<Store, 'readPosition'>
  readonly witness: Pick<Witness, 'write'>
  readonly clock: Pick<Clock, 'now'>
}

/** A payment that the copy has lost, or may have lost. */
export type LostPayment = OrphanPayment & {
  /** Whether the wall itself booked it as stray, because the wall was selling and knew no purchase for it. */
  readonly isBooked: boolean
}

/** The payments that the copy has lost, the searched addresses, and the height up to which the chain was read. */
export type LostPayments = {
  readonly orphans: readonly LostPayment[]
  readonly payees: readonly Address[]
  readonly through: bigint
}

/**
 * Finds payments that arrived after the copy was made and are missing from it, except those that the operator has
 * resolved. `witnessed` is the position in the witness; `others` are addresses that neither the witness nor the copy
 * knows. Changes nothing.
 */
export async function findLostPayments(
  deps: FindOrphanDeps & { readonly payouts: Pick<Payouts, 'findReference'> },
  witnessed: StorePosition | undefined,
  others: readonly Address[] = [],
): Promise<LostPayments | 'silent'> {
  const start = await findNextHeight(deps)
  if (start === 'silent') return 'silent'
  const payees = await listPayees(deps, witnessed, others)
  const orphans: LostPayment[] = []
  for (let from = start; ;) {
    const window = await findOrphans(deps, payees, from)
    if (window === 'silent') return 'silent'
    for (const orphan of window.orphans) {
      const note = await deps.payouts.findReference(orphan)
      if (note === undefined || note === STRAY_NOTE) orphans.push({ ...orphan, isBooked: note !== undefined })
    }
    from = window.next
    if (window.isAll) return { orphans, payees, through: from - 1n }
  }
}

/** Books the lost payments as credits, and records the store as current. The wall must be stopped. */
export async function acceptRestoredBackup(
  { terms, checkpoint, payouts, store, witness, clock }: AcceptRestoredBackupDeps,
  { orphans, payees, through }: LostPayments,
): Promise<void> {
  const now = clock.now()
  for (const orphan of orphans) await payouts.recordCredit(toUnclaimedPayment(orphan, terms, now), orphan.tx, now)
  // The witness knew these addresses, and is overwritten below.
  await checkpoint.addPayees(payees)
  await checkpoint.recordAcceptance(now)
  await checkpoint.advanceTo(through)
  // This comes last, so that a wall whose acceptance was interrupted still waits for acceptance.
  await witness.write(await store.readPosition())
}
