/**
 * Checks whether the store is current, or an older copy that was restored. There are two signs: the witness, which knows how
 * far the store had come, and the chain, which shows later payments.
 */

import { StaleWriteError, StoreUnavailable } from '../domain/failure.ts'
import { STRAY_NOTE } from '../domain/purchase/account.ts'
import { VALIDITY_MAX_SECONDS } from '../domain/purchase/payment.ts'
import { isOlder, type Progress, type StorePosition } from '../domain/store-position.ts'
import type { Clock, Logger, Payouts, Store, StoreReplaced, Witness } from '../ports.ts'
import {
  findOrphans,
  findNextHeight,
  payeesOf,
  unclaimedOf,
  type FindOrphanDeps,
  type OrphanPayment,
} from './find-orphan-payments.ts'

// How often the chain is searched for unknown payments while the store is current.
const LOOK_EVERY_MS = 60_000

// How long after an acceptance a lost payment may still be found: its validity, plus one check.
const LOST_FOR_MS = Number(VALIDITY_MAX_SECONDS) * 1000 + 2 * LOOK_EVERY_MS

export type RestoredBackupDeps = FindOrphanDeps & {
  readonly store: Pick<Store, 'position'>
  readonly witness: Pick<Witness, 'read'>
  readonly isWitnessApart: boolean // whether the witness is on a device of its own, according to the operator, so that no snapshot restores both
  readonly payouts: Payouts
  readonly clock: Clock
  readonly logger: Logger
}

export type RestoredBackupCheck = {
  /** Continues the check, and returns whether the store is known to be current. Must be called repeatedly. */
  isCurrent(): Promise<boolean>
  /** Payments without a known purchase that the operator must decide. */
  orphans(): readonly OrphanPayment[]
  /** Whether the store is behind its witness. */
  isOlder(): boolean
  /** Why the store does not count as current, if the reason is known; `null` if it does. */
  reason(): string | null
  /** Must be called when the store may have been replaced. The check then begins again. */
  replaced({ progress, seen, isOlder }: StoreReplaced): void
}

/**
 * Makes the check of this process.
 *
 * A store behind its witness is an older copy: it sells nothing until the operator accepts it. A store that is level
 * with a witness on its own device is current. Any other store may have been restored together with its witness: it
 * sells nothing until every authorization that paid the wall since its last recorded height has a purchase, or was
 * decided by the operator. Once a store is current, money without a purchase is stray, because a purchase is stored
 * before its money moves: it is booked, the operator gets an alert, and sales continue. The only exception is the
 * minutes after an acceptance, when payments that the copy lost may still arrive: they become credits.
 */
export function checkRestoredBackup(deps: RestoredBackupDeps): RestoredBackupCheck {
  const { clock } = deps
  const alerts = createOnceAlerts(deps.logger)
  let scan = createScan()
  let isCurrent = false
  let lookedAt = 0
  let witnessed: Promise<StorePosition | undefined> | undefined
  const prove = async () => {
    const mine = scan
    witnessed ??= readWitness(deps)
    const isProven = await provePresent(deps, mine, await witnessed, alerts)
    if (!mine.isOver) isCurrent = isProven
  }
  return {
    async isCurrent() {
      try {
        const isDue = clock.elapsed() - lookedAt >= LOOK_EVERY_MS
        if (!isCurrent || isDue) lookedAt = clock.elapsed()
        if (!isCurrent) await prove()
        else if (isDue) await scanOn(deps, scan, true, (found) => bookUnknown(deps, found, alerts))
      } catch (error) {
        // The next call continues from here.
        if (!(error instanceof StoreUnavailable)) throw error
      }
      return isCurrent
    },
    orphans: () => scan.orphans,
    isOlder: () => scan.isBehind,
    reason() {
      if (isCurrent) return null
      if (scan.isBehind) return OLDER_COPY
      return scan.orphans.length === 0 ? null : UNDECIDED
    },
    replaced({ progress, seen, isOlder }) {
      if (isOlder) alerts.olderCopy(progress, seen)
      isCurrent = false
      witnessed = undefined
      scan.isOver = true
      scan = createScan(isOlder)
    },
  }
}

/** Why a store that is behind its witness does not count as current. */
export const OLDER_COPY =
  'the database is older than the last state this wall has recorded; restore the newest copy, or run accept-restore'
const UNDECIDED =
  'money without a known purchase arrived while the wall was down, and may be a sale that this database lost: if the database was restored, run pixel-wall accept-restore, else run pixel-wall resolve --all --stray. To end this for good, put WITNESS_PATH on a device of its own and set WITNESS_IS_APART=yes'

/** How far this process has read the chain, and the payments that the operator must decide. */
type Scan = {
  next: bigint | undefined
  orphans: readonly OrphanPayment[]
  isBehind: boolean // the store is behind its witness, or behind what this process has seen
  isOver: boolean // once the store may have been replaced, so that this scan no longer counts
}

const createScan = (isBehind = false): Scan => ({ next: undefined, orphans: [], isBehind, isOver: false })

/** Whether the store is not behind its witness, and the chain shows no sign of an older copy. */
async function provePresent(
  deps: RestoredBackupDeps,
  scan: Scan,
  witnessed: StorePosition | undefined,
  alerts: Alerts,
): Promise<boolean> {
  const position = await deps.store.position()
  const unrecorded = (await payeesOf(deps, witnessed)).filter((payee) => !position.payees.includes(payee))
  if (unrecorded.length > 0) await deps.checkpoint.addPayees(unrecorded)
  const isBehind = witnessed !== undefined && isOlder(position, witnessed)
  if (isBehind) alerts.olderCopy(position, witnessed)
  scan.isBehind = isBehind
  const isTrusted = witnessed !== undefined && !isBehind && deps.isWitnessApart
  scan.orphans = await listUndecided(deps, scan.orphans)
  const isThrough = await scanOn(deps, scan, !isBehind, async (found) =>
    isTrusted ? await bookUnknown(deps, found, alerts) : found,
  )
  // An earlier process may have booked some of them while it sold.
  scan.orphans = await listUndecided(deps, scan.orphans)
  for (const orphan of scan.orphans) alerts.orphan(orphan)
  return isThrough && scan.orphans.length === 0 && !isBehind
}

/** Reads the chain up to the newest block, and keeps the payments that `sort` returns; `false` if it was interrupted. */
async function scanOn(
  deps: RestoredBackupDeps,
  scan: Scan,
  mayReach: boolean,
  sort: (found: readonly OrphanPayment[]) => Promise<readonly OrphanPayment[]>,
): Promise<boolean> {
  const start = await findNextHeight(deps)
  if (start === 'silent') return false
  const payees = await deps.checkpoint.payees()
  for (let from = scan.next === undefined || scan.next < start ? start : scan.next; ;) {
    const window = await findOrphans(deps, payees, from)
    if (window === 'silent' || scan.isOver) return false
    scan.orphans = [...scan.orphans, ...(await sort(window.orphans))]
    if (scan.isOver) return false
    scan.next = window.next
    from = window.next
    // This range need not be read again, not even after a restart.
    if (mayReach && scan.orphans.length === 0) await deps.checkpoint.reach(window.next - 1n)
    if (window.isAll) return true
  }
}

/** The payments that are still unknown, not booked or paid back, and not accepted by the operator. */
async function listUndecided(
  { checkpoint, payouts }: RestoredBackupDeps,
  orphans: readonly OrphanPayment[],
): Promise<readonly OrphanPayment[]> {
  const open: OrphanPayment[] = []
  const seen = (await checkpoint.height()) ?? 0n
  for (const orphan of orphans)
    if (orphan.height > seen && !(await checkpoint.knows(orphan)) && (await payouts.noteOf(orphan)) === undefined)
      open.push(orphan)
  return open
}

/** Books money without a purchase in a current store; none of it needs the operator's decision. */
async function bookUnknown(
  { checkpoint, payouts, clock, terms }: RestoredBackupDeps,
  found: readonly OrphanPayment[],
  alerts: Alerts,
): Promise<readonly []> {
  for (const orphan of found) {
    const now = clock.now()
    const acceptedAt = await checkpoint.acceptedAt()
    if (acceptedAt !== undefined && now - acceptedAt < LOST_FOR_MS) {
      await payouts.owe(unclaimedOf(orphan, terms, now), orphan.tx, now).catch(ignoreOwed)
      alerts.late(orphan)
    } else if (await payouts.note(orphan, STRAY_NOTE, now)) alerts.stray(orphan)
  }
  return []
}

/** Another process may have booked the payment just before. */
function ignoreOwed(error: unknown): void {
  if (!(error instanceof StaleWriteError)) throw error
}

type Alerts = ReturnType<typeof createOnceAlerts>

/** Alerts the operator about each payment once. */
function createOnceAlerts(logger: Logger) {
  const alerted = new Set<string>()
  const alertOnce = (about: string, event: string, facts: Parameters<Logger['alert']>[1]) => {
    if (!alerted.has(about)) logger.alert(event, facts)
    alerted.add(about)
  }
  const createMoneyAlert = (event: string, what: string) => (orphan: OrphanPayment) => {
    const { payer, nonce, tx, amount } = orphan
    alertOnce(nonce, event, { payer, nonce, tx, amount: amount.toString(), what })
  }
  return {
    orphan: createMoneyAlert('orphan', UNDECIDED),
    stray: createMoneyAlert(
      'stray',
      'money arrived without a known purchase; it is booked as stray, and sales continue',
    ),
    late: createMoneyAlert(
      'orphan',
      'money arrived just after a restored copy was accepted, and may be a sale that the copy lost; it is booked as a credit owed to its payer, and sales continue',
    ),
    olderCopy: (found: Progress, seen: Progress) =>
      alertOnce(`${seen.change} ${seen.payment}`, 'older-copy', {
        change: found.change,
        payment: found.payment,
        seenChange: seen.change,
        seenPayment: seen.payment,
        what: OLDER_COPY,
      }),
  }
}

/** Reads the witness. If that fails, alerts the operator and continues without one. */
async function readWitness({ witness, logger }: RestoredBackupDeps): Promise<StorePosition | undefined> {
  try {
    return await witness.read()
  } catch {
    logger.alert('witness-failed', { what: 'cannot read the witness; check WITNESS_PATH' })
    return undefined
  }
}
