/**
 * Checks whether the store is current, or an older copy that was restored. There are two signs: the witness, which
 * knows how far the store had come, and the chain, which shows later payments.
 */

import { StaleWriteError, StoreUnavailable } from '../domain/failure.ts'
import { STRAY_NOTE } from '../domain/purchase/account.ts'
import { VALIDITY_MAX_SECONDS } from '../domain/purchase/payment.ts'
import { isOlder, type Progress, type StorePosition } from '../domain/store-position.ts'
import type { Clock, Logger, Payouts, Store, StoreReplaced, Witness } from '../ports.ts'
import {
  findOrphans,
  findNextHeight,
  listPayees,
  toUnclaimedPayment,
  type FindOrphanDeps,
  type OrphanPayment,
} from './find-orphan-payments.ts'

// How often the chain is searched for unknown payments while the store is current.
const LOOK_EVERY_MS = 60_000

// How long after an acceptance a lost payment may still be found: its longest validity, plus two intervals between
// checks.
const LOST_FOR_MS = Number(VALIDITY_MAX_SECONDS) * 1000 + 2 * LOOK_EVERY_MS

export type RestoredBackupDeps = FindOrphanDeps & {
  readonly store: Pick<Store, 'readPosition'>
  readonly witness: Pick<Witness, 'read'>
  /**
   * Whether, according to the operator, the witness is on a device of its own, so that no snapshot restores both it and
   * the store.
   */
  readonly isWitnessApart: boolean
  readonly payouts: Payouts
  readonly clock: Clock
  readonly logger: Logger
}

export type RestoredBackupCheck = {
  /** Continues the check, and returns whether the store is known to be current. Must be called repeatedly. */
  isCurrent(): Promise<boolean>
  /** Payments without a known purchase about which the operator must decide. */
  listOrphans(): readonly OrphanPayment[]
  /** Whether the store is behind its witness. */
  isOlder(): boolean
  /** Why the store does not count as current; `null` if it does, or if the reason is not known. */
  findReason(): string | null
  /** Must be called when the store may have been replaced. The check then begins again. */
  onReplaced({ progress, seen, isOlder }: StoreReplaced): void
}

/**
 * Makes the check of this process.
 *
 * A store behind its witness is an older copy: it sells nothing until the operator accepts it. A store that is level
 * with a witness on a separate device is current. Any other store may have been restored together with its witness.
 * Such a store sells nothing until every authorization that paid the wall since the last recorded height has a
 * purchase, or has been resolved by the operator. Once a store is current, money without a purchase is stray, because a
 * purchase is stored before its money moves. Such money is booked, the operator gets an alert, and sales continue. In
 * the minutes after the operator has accepted a copy, payments that the copy lost may still arrive, so such money
 * becomes a credit instead.
 */
export function createRestoredBackupCheck(deps: RestoredBackupDeps): RestoredBackupCheck {
  const { clock } = deps
  const alerts = createOnceAlerts(deps.logger)
  let scan = createScan()
  let isCurrent = false
  let lookedAt = 0
  let witnessed: Promise<StorePosition | undefined> | undefined
  const updateProof = async () => {
    const mine = scan
    witnessed ??= readWitness(deps)
    const isProven = await proveCurrent(deps, mine, await witnessed, alerts)
    if (!mine.isOver) isCurrent = isProven
  }
  return {
    async isCurrent() {
      try {
        const isDue = clock.elapsed() - lookedAt >= LOOK_EVERY_MS
        if (!isCurrent || isDue) lookedAt = clock.elapsed()
        if (!isCurrent) await updateProof()
        else if (isDue) await continueScan(deps, scan, true, (found) => bookUnknown(deps, found, alerts))
      } catch (error) {
        // The next call continues from here.
        if (!(error instanceof StoreUnavailable)) throw error
      }
      return isCurrent
    },
    listOrphans: () => scan.orphans,
    isOlder: () => scan.isBehind,
    findReason() {
      if (isCurrent) return null
      if (scan.isBehind) return OLDER_COPY
      return scan.orphans.length === 0 ? null : UNDECIDED
    },
    onReplaced({ progress, seen, isOlder }) {
      if (isOlder) alerts.alertOlderCopy(progress, seen)
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
  'money without a known purchase arrived while the wall was down, and may be a sale that this database lost: if the database was restored, run pixel-wall accept-restore, else run pixel-wall resolve --all --stray. To prevent this in the future, put WITNESS_PATH on a device of its own and set WITNESS_IS_APART=yes'

/** How far this process has read the chain, and the payments about which the operator must decide. */
type Scan = {
  next: bigint | undefined
  orphans: readonly OrphanPayment[]
  isBehind: boolean // the store is behind its witness, or behind what this process has seen
  isOver: boolean // set once the store may have been replaced, so that the result of this scan is ignored
}

const createScan = (isBehind = false): Scan => ({ next: undefined, orphans: [], isBehind, isOver: false })

/** Whether the store is not behind its witness, and the chain shows no sign of an older copy. */
async function proveCurrent(
  deps: RestoredBackupDeps,
  scan: Scan,
  witnessed: StorePosition | undefined,
  alerts: Alerts,
): Promise<boolean> {
  const position = await deps.store.readPosition()
  const unrecorded = (await listPayees(deps, witnessed)).filter((payee) => !position.payees.includes(payee))
  if (unrecorded.length > 0) await deps.checkpoint.addPayees(unrecorded)
  const isBehind = witnessed !== undefined && isOlder(position, witnessed)
  if (isBehind) alerts.alertOlderCopy(position, witnessed)
  scan.isBehind = isBehind
  const isTrusted = witnessed !== undefined && !isBehind && deps.isWitnessApart
  scan.orphans = await listUndecided(deps, scan.orphans)
  const isThrough = await continueScan(deps, scan, !isBehind, async (found) =>
    isTrusted ? await bookUnknown(deps, found, alerts) : found,
  )
  // An earlier process may have booked some of these payments while it was selling.
  scan.orphans = await listUndecided(deps, scan.orphans)
  for (const orphan of scan.orphans) alerts.alertOrphan(orphan)
  return isThrough && scan.orphans.length === 0 && !isBehind
}

/**
 * Reads the chain up to the newest block, and keeps the payments that `sort` returns; `false` if the scan is over or
 * the chain did not respond.
 */
async function continueScan(
  deps: RestoredBackupDeps,
  scan: Scan,
  mayReach: boolean,
  sort: (found: readonly OrphanPayment[]) => Promise<readonly OrphanPayment[]>,
): Promise<boolean> {
  const start = await findNextHeight(deps)
  if (start === 'silent') return false
  const payees = await deps.checkpoint.listPayees()
  for (let from = scan.next === undefined || scan.next < start ? start : scan.next; ;) {
    const window = await findOrphans(deps, payees, from)
    if (window === 'silent' || scan.isOver) return false
    scan.orphans = [...scan.orphans, ...(await sort(window.orphans))]
    if (scan.isOver) return false
    scan.next = window.next
    from = window.next
    // This range need not be read again, not even after a restart.
    if (mayReach && scan.orphans.length === 0) await deps.checkpoint.advanceTo(window.next - 1n)
    if (window.isAll) return true
  }
}

/** The payments that are still unknown, not booked or paid back, and not accepted by the operator. */
async function listUndecided(
  { checkpoint, payouts }: RestoredBackupDeps,
  orphans: readonly OrphanPayment[],
): Promise<readonly OrphanPayment[]> {
  const open: OrphanPayment[] = []
  const seen = (await checkpoint.readHeight()) ?? 0n
  for (const orphan of orphans)
    if (
      orphan.height > seen &&
      !(await checkpoint.isKnown(orphan)) &&
      (await payouts.findReference(orphan)) === undefined
    )
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
    const acceptedAt = await checkpoint.readAcceptanceTime()
    if (acceptedAt !== undefined && now - acceptedAt < LOST_FOR_MS) {
      await payouts.recordCredit(toUnclaimedPayment(orphan, terms, now), orphan.tx, now).catch(ignoreStaleWrite)
      alerts.alertLate(orphan)
    } else if (await payouts.recordReference(orphan, STRAY_NOTE, now)) alerts.alertStray(orphan)
  }
  return []
}

/** Ignores the error that occurs if another process has just booked the payment. */
function ignoreStaleWrite(error: unknown): void {
  if (!(error instanceof StaleWriteError)) throw error
}

type Alerts = ReturnType<typeof createOnceAlerts>

/** Makes alerts that are sent to the operator only once for each payment or older copy. */
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
    alertOrphan: createMoneyAlert('orphan', UNDECIDED),
    alertStray: createMoneyAlert(
      'stray',
      'money arrived without a known purchase; it is booked as stray, and sales continue',
    ),
    alertLate: createMoneyAlert(
      'orphan',
      'money arrived just after a restored copy was accepted, and may be a sale that the copy lost; it is booked as a credit owed to its payer, and sales continue',
    ),
    alertOlderCopy: (found: Progress, seen: Progress) =>
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
