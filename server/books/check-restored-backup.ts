/**
 * Checks whether the store is current, or an older copy that was restored. There are two signs: the witness, which knows how
 * far the store had come, and the chain, which shows what was paid since.
 */

import { StoreUnavailable } from '../domain/failure.ts'
import { STRAY_NOTE } from '../domain/purchase/account.ts'
import { isOlder, type Progress, type StorePosition } from '../domain/store-position.ts'
import type { Chain, Clock, Facilitator, Logger, Payouts, Store, StoreReplaced, Witness } from '../ports.ts'
import { findOrphans, nextHeight, type FindOrphanDeps, type OrphanPayment } from './find-orphan-payments.ts'

// How often the transfers to a current store are booked.
const LOOK_EVERY_MS = 60_000

export type RestoredBackupDeps = FindOrphanDeps & {
  readonly chain: Pick<Chain, 'broadcaster'>
  readonly store: Pick<Store, 'position'>
  readonly witness: Pick<Witness, 'read' | 'isApart'>
  readonly payouts: Payouts
  readonly facilitator: Pick<Facilitator, 'signers'>
  readonly clock: Clock
  readonly logger: Logger
}

export type RestoredBackupCheck = {
  /** Continues the check, and answers whether the store is known to be current. Must be called again and again. */
  isCurrent(): Promise<boolean>
  /** Payments without a known purchase that are not accounted for. */
  orphans(): readonly OrphanPayment[]
  /** Whether the store is behind its witness. */
  isOlder(): boolean
  /** What keeps the store from counting as current, as far as it is known; `null` when nothing is. */
  reason(): string | null
  /** Must be called when the store may have been replaced. The check then begins again. */
  replaced({ progress, seen, isOlder }: StoreReplaced): void
}

/**
 * Makes the check of this process.
 *
 * A store behind its witness is an older copy: nothing is sold until the operator accepts it. Money without a known purchase
 * is a sign of an older copy, too, if there is no witness, or if our own facilitator sent it and the witness lies on the
 * device of the database: a snapshot restores both together. If the witness lies apart, it would know, so sales go on and
 * the operator gets an alert. All other money is stray: it is booked, the operator gets an alert, and sales go on. So it is
 * with all money that arrives later, because a purchase is written before its money moves.
 */
export function checkRestoredBackup(deps: RestoredBackupDeps): RestoredBackupCheck {
  const { clock } = deps
  const tell = alertsOnce(deps.logger)
  let scan = newScan()
  let isCurrent = false
  let lookedAt = 0
  let witnessed: Promise<StorePosition | undefined> | undefined
  const prove = async () => {
    const mine = scan
    witnessed ??= readWitness(deps)
    const isProven = await provePresent(deps, mine, await witnessed, tell)
    if (!mine.isOver) isCurrent = isProven
  }
  return {
    async isCurrent() {
      try {
        const isDue = clock.elapsed() - lookedAt >= LOOK_EVERY_MS
        if (!isCurrent || isDue) lookedAt = clock.elapsed()
        if (!isCurrent) await prove()
        else {
          scan.orphans = await unaccounted(deps, scan.orphans)
          if (isDue) await accountFor(deps, scan, tell)
        }
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
      if (scan.isBehind) return OLDER
      return scan.orphans.length === 0 ? null : UNKNOWN
    },
    replaced({ progress, seen, isOlder }) {
      if (isOlder) tell.olderCopy(progress, seen)
      isCurrent = false
      witnessed = undefined
      scan.isOver = true
      scan = newScan(isOlder)
    },
  }
}

const OLDER =
  'the database is older than the last state this wall has recorded; restore the newest copy, or run accept-restore'
const UNKNOWN =
  'money arrived without a known purchase; list it with pixel-wall books, then run resolve --all --stray or accept-restore'

/** How far this process has read the chain, and the payments it found that are not accounted for yet. */
type Scan = {
  next: bigint | undefined
  orphans: readonly OrphanPayment[]
  isBehind: boolean // the store is behind its witness, or behind what this process has seen
  isOver: boolean // once the store may have been replaced, so that this scan no longer counts
}

const newScan = (isBehind = false): Scan => ({ next: undefined, orphans: [], isBehind, isOver: false })

/** Whether the store is not behind its witness, and the chain shows no sign of an older copy. */
async function provePresent(
  deps: RestoredBackupDeps,
  scan: Scan,
  witnessed: StorePosition | undefined,
  tell: Alerts,
): Promise<boolean> {
  const position = await deps.store.position()
  const isBehind = witnessed !== undefined && isOlder(position, witnessed)
  if (isBehind) tell.olderCopy(position, witnessed)
  scan.isBehind = isBehind
  scan.orphans = await unaccounted(deps, scan.orphans)
  const isThrough = await scanOn(deps, scan, !isBehind, async (found) => {
    if (witnessed === undefined || isBehind) return found
    const sent = await sortBySender(deps, found)
    if (sent !== 'silent') for (const stray of sent.byOthers) await bookStray(deps, stray, tell)
    return sent === 'silent' ? sent : sent.byOurs
  })
  // Some of what was found anew may have been booked by an earlier process.
  scan.orphans = await unaccounted(deps, scan.orphans)
  const maySell = scan.orphans.length === 0 || (witnessed !== undefined && (await deps.witness.isApart()))
  for (const orphan of scan.orphans) tell.orphan(orphan, maySell && !isBehind)
  return isThrough && maySell && !isBehind
}

/** Books what has arrived since as stray: the store is current, so it is no forgotten sale. */
async function accountFor(deps: RestoredBackupDeps, scan: Scan, tell: Alerts): Promise<void> {
  await scanOn(deps, scan, true, async (found) => {
    for (const stray of found) await bookStray(deps, stray, tell)
    return []
  })
}

/** Reads the chain up to the newest block, and keeps the payments that `sort` returns; `false` if it did not get there. */
async function scanOn(
  deps: RestoredBackupDeps,
  scan: Scan,
  mayReach: boolean,
  sort: (found: readonly OrphanPayment[]) => Promise<readonly OrphanPayment[] | 'silent'>,
): Promise<boolean> {
  const start = await nextHeight(deps)
  if (start === 'silent') return false
  for (let from = scan.next === undefined || scan.next < start ? start : scan.next; ;) {
    const window = await findOrphans(deps, from)
    const kept = window === 'silent' ? window : await sort(window.orphans)
    if (window === 'silent' || kept === 'silent' || scan.isOver) return false
    scan.orphans = [...scan.orphans, ...kept]
    scan.next = window.next
    from = window.next
    // What was read need not be read again, not even after a restart.
    if (mayReach && scan.orphans.length === 0) await deps.checkpoint.reach(window.next - 1n)
    if (window.isAll) return true
  }
}

/** The payments that are still unknown, not booked as stray or settled by hand, and not accepted by the operator. */
async function unaccounted(
  { checkpoint, payouts }: RestoredBackupDeps,
  orphans: readonly OrphanPayment[],
): Promise<readonly OrphanPayment[]> {
  const open: OrphanPayment[] = []
  const seen = (await checkpoint.height()) ?? 0n
  for (const orphan of orphans)
    if (orphan.height > seen && !(await checkpoint.knows(orphan)) && !(await payouts.isNoted(orphan))) open.push(orphan)
  return open
}

async function bookStray({ payouts, clock }: RestoredBackupDeps, stray: OrphanPayment, tell: Alerts): Promise<void> {
  const { payer, nonce } = stray
  if (await payouts.note({ payer, nonce }, STRAY_NOTE, clock.now())) tell.stray(stray)
}

type Alerts = ReturnType<typeof alertsOnce>

/** Alerts to the operator, each one once. */
function alertsOnce(logger: Logger) {
  const told = new Set<string>()
  const once = (about: string, event: string, facts: Parameters<Logger['alert']>[1]) => {
    if (!told.has(about)) logger.alert(event, facts)
    told.add(about)
  }
  return {
    orphan: ({ payer, nonce, tx }: OrphanPayment, maySell: boolean) =>
      once(nonce, 'orphan', {
        payer,
        nonce,
        tx,
        what: `a payment arrived for a block that this database never sold${maySell ? '; the witness shows no lost sale, so sales continue' : ''}`,
      }),
    stray: ({ payer, nonce, tx, amount }: OrphanPayment) =>
      once(nonce, 'stray', {
        payer,
        nonce,
        tx,
        amount: amount.toString(),
        what: 'money arrived without a known purchase; it is booked as stray, and sales continue',
      }),
    olderCopy: (found: Progress, seen: Progress) =>
      once(`${seen.change} ${seen.payment}`, 'older-copy', {
        change: found.change,
        payment: found.payment,
        seenChange: seen.change,
        seenPayment: seen.payment,
        what: OLDER,
      }),
  }
}

/** Reads the witness. If that fails, alerts the operator and goes on without one. */
async function readWitness({ witness, logger }: RestoredBackupDeps): Promise<StorePosition | undefined> {
  try {
    return await witness.read()
  } catch {
    logger.alert('witness-failed', { what: 'cannot read the witness; check WITNESS_PATH' })
    return undefined
  }
}

type BySender = { readonly byOurs: readonly OrphanPayment[]; readonly byOthers: readonly OrphanPayment[] }

/** Separates what our own facilitator sent from what others sent. If that is unknown, it may have been ours. */
async function sortBySender(
  { chain, facilitator }: RestoredBackupDeps,
  found: readonly OrphanPayment[],
): Promise<BySender | 'silent'> {
  if (found.length === 0) return { byOurs: [], byOthers: [] }
  const signers = await facilitator.signers()
  if (signers === 'unavailable') return 'silent'
  if (signers === 'unknown') return { byOurs: found, byOthers: [] }
  const [byOurs, byOthers]: [OrphanPayment[], OrphanPayment[]] = [[], []]
  for (const payment of found) {
    const sender = await chain.broadcaster(payment.tx)
    if (sender === 'silent') return 'silent'
    if (signers.includes(sender)) byOurs.push(payment)
    else byOthers.push(payment)
  }
  return { byOurs, byOthers }
}
