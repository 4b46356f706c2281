/** Which blocks can be had, and holding one for a payment; every function must be called inside a transaction. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Listing } from '../../../server/domain/purchase/listing.ts'
import type { Address, Hash, Payment, PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Availability, ClaimResult, Landed, Purchase } from '../../../server/domain/purchase/purchase.ts'
import { blocksHeld, blocksIn, type Holding, type Target } from '../../../server/domain/purchase/target.ts'
import { type BlockIndex } from '../../../shared/wall.ts'
import { isTooMuch, RECEIPT_KEPT_MS } from '../../limits.ts'
import { firstPlace } from '../../places.ts'
import {
  authorizationRow,
  integer,
  isStale,
  outlasts,
  SELECT_PURCHASE,
  targetColumns,
  type PurchaseRow,
  type Size,
} from '../../rows.ts'
import { changeMany, changeOne, one, type Connection } from '../connection.ts'
import { nameForPurchase } from '../wall/painters.ts'
import { find, known, preparePayments, readPurchase, type Stored } from './payments.ts'
import { openPlace, preparePlaces } from './places.ts'

/** Reads and writes of the blocks' and payments' tables that holding a block needs. */
export type Holds = ReturnType<typeof prepareHolds>

/** Prepares them. */
export function prepareHolds(connection: Connection) {
  return {
    ...preparePlaces(connection),
    ...preparePayments(connection),
    ...readings(connection),
    ...writings(connection),
    connection,
  }
}

// What a payer has not been answered, but what a run is at for a client; and what the payer's client calls by the same name.
// Three indexes hold these, whatever else the payer bought.
const UNANSWERED = `
  SELECT id FROM payments WHERE payer = $payer AND identifier = $identifier AND state IN ('reserved', 'sold')
  UNION ALL
  SELECT id FROM payments WHERE payer = $payer AND state = 'reserved'
    AND (uncertain = 1 OR nonce NOT IN (SELECT value FROM json_each($attended)))
  UNION ALL
  SELECT id FROM payments WHERE payer = $payer AND unanswered = 1
    AND nonce NOT IN (SELECT value FROM json_each($attended)) AND (claimed_at > $since OR block IS $target)`

// Who asks for a block again means its purchase, whatever it was asked for by; other receipts are kept for a while.
const OF_TARGET = `
  nonce <> $nonce AND (
    (size = $size AND (target IS $target OR (state = 'sold' AND block IS $target))) OR identifier = $identifier)`

type Columns = ReturnType<typeof targetColumns>

function readings(connection: Connection) {
  type Prior = PaymentKey & Columns & { since: UnixMs; attended: string; identifier: string | null }
  return {
    heldBy: connection.prepare<{ size: Size }, { payer: Address }>(
      `SELECT size FROM payments WHERE payer = $payer AND state = 'reserved'`,
    ),
    holders: connection.prepare<PaymentKey, Columns>(
      `SELECT payer, nonce FROM payments
      WHERE state = 'reserved' AND block = coalesce($target, block) AND size = $size`,
    ),
    // A receipt can be handed over at once, so it goes before a purchase that still has to end.
    prior: connection.prepare<PurchaseRow, Prior>(`
      ${SELECT_PURCHASE} WHERE p.id IN (SELECT id FROM payments WHERE id IN (${UNANSWERED}) AND ${OF_TARGET})
      ORDER BY p.state = 'sold' DESC, p.id LIMIT 1`),
    anyPrior: connection.prepare<unknown, Prior>(
      `SELECT 1 FROM payments WHERE id IN (${UNANSWERED}) AND ${OF_TARGET} LIMIT 1`,
    ),
  }
}

function writings(connection: Connection) {
  type Authorization = ReturnType<typeof authorizationRow>
  type Row = Columns & {
    block: number
    head: number
    now: UnixMs
    state: 'reserved' | 'released'
    identifier: string | null
  }
  type First = Authorization & Omit<Listing, 'painter'> & Row
  return {
    insert: connection.prepare<{ id: number }, First>(`
      INSERT INTO payments (payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before, signature,
        target, size, block, name, framework, message, link, pixels, head, created_at, state, identifier)
      VALUES ($payer, $nonce, $pay_to, $asset, $network, $scheme, $amount, $valid_after, $valid_before, $signature,
        $target, $size, $block, $name, $framework, $message, $link, $pixels, $head, $now, $state, $identifier)
      RETURNING id`),
    renew: connection.prepare<unknown, Omit<Authorization, 'payer' | 'nonce'> & { id: number }>(`
      UPDATE payments SET pay_to = $pay_to, asset = $asset, network = $network, scheme = $scheme, amount = $amount,
        valid_after = $valid_after, valid_before = $valid_before, signature = $signature
      WHERE id = $id AND state = 'released'`),
    takeUp: connection.prepare<unknown, { id: number; block: number }>(
      `UPDATE payments SET state = 'reserved', dead = 0, block = $block, attempt = attempt + 1
      WHERE id = $id AND state = 'released'`,
    ),
    hold: connection.prepare<unknown, { id: number; blocks: string }>(
      `UPDATE blocks SET state = 'reserved', payment = $id
      WHERE i IN (SELECT value FROM json_each($blocks)) AND state = 'open'`,
    ),
    giveUp: connection.prepare<unknown, { id: number; dead: boolean }>(
      `UPDATE payments SET state = 'released', uncertain = 0, dead = $dead WHERE id = $id AND state = 'reserved'`,
    ),
    open: connection.prepare<unknown, { id: number }>(
      `UPDATE blocks SET state = 'open', payment = NULL WHERE state = 'reserved' AND payment = $id`,
    ),
    bury: connection.prepare<unknown, { id: number; dead: boolean }>(
      `UPDATE payments SET dead = max(dead, $dead) WHERE id = $id AND state = 'released'`,
    ),
  }
}

/** The payments for which a target is held. */
export const holders = (sql: Holds, target: Target): PaymentKey[] => sql.holders.all(targetColumns(target))

/** Whether a target can be bought, and which purchase of the payer's goes before. */
export function availability(
  sql: Holds,
  target: Target,
  payment: Payment,
  now: UnixMs,
  attended: readonly Hash[],
): Availability {
  const block = openPlace(sql, target)
  const space = typeof block === 'string' ? block : isFull(sql, payment.payer, target) ? 'full' : 'open'
  const row = sql.prior.get(priorOf(target, payment, now, attended))
  return { space, prior: row === null ? undefined : readPurchase(sql, row) }
}

const priorOf = (target: Target, { payer, nonce, identifier }: Payment, now: UnixMs, attended: readonly Hash[]) => ({
  payer,
  nonce,
  ...targetColumns(target),
  since: now - RECEIPT_KEPT_MS,
  attended: JSON.stringify(attended),
  identifier: identifier ?? null,
})

/** Holds a block or a whole area for a payment that is new, or was released; a released one keeps its first target and listing. */
export function claim(
  sql: Holds,
  asked: Target,
  payment: Payment,
  listing: Listing,
  head: bigint,
  now: UnixMs,
  attended: readonly Hash[],
): ClaimResult {
  const released = find(sql, payment)
  if (released !== undefined && released.purchase.state.kind !== 'released')
    throw new StaleWriteError(`a ${released.purchase.state.kind} payment cannot be claimed`)
  const target = released?.purchase.target ?? asked
  if (sql.anyPrior.get(priorOf(target, payment, now, attended)) !== null) return { kind: 'prior' }
  const block = openPlace(sql, target)
  if (typeof block === 'string') return { kind: 'lost', space: block }
  if (isFull(sql, payment.payer, target)) return { kind: 'lost', space: 'full' }
  if (released === undefined) {
    const id = insert(sql, { payment, target, listing, head }, block, 'reserved', now)
    holdAll(sql, id, { target, block })
  } else {
    renew(sql, released, payment)
    takeUp(sql, released.id, { target, block })
  }
  return { kind: 'claimed', purchase: known(sql, payment).purchase }
}

/** Writes down a payment that landed before anything was held for it, as if it had been released. */
export function remember(sql: Holds, landed: Landed, now: UnixMs): Stored {
  insert(sql, landed, firstPlace(landed.target), 'released', now)
  return known(sql, landed.payment)
}

function insert(
  sql: Holds,
  { payment, target, listing, head }: Landed,
  block: BlockIndex,
  state: 'reserved' | 'released',
  now: UnixMs,
): number {
  const { painter, ...said } = listing
  const row = {
    ...authorizationRow(payment),
    ...said,
    ...targetColumns(target),
    block,
    head: integer(head),
    now,
    state,
    identifier: payment.identifier ?? null,
  }
  const { id } = one(sql.insert, row)
  if (painter !== null) nameForPurchase(sql.connection, id, painter)
  return id
}

/** Holds an open block or area for a released payment. */
export function takeUp(sql: Holds, id: number, holding: Holding): void {
  changeOne(sql.takeUp, { id, block: holding.block }, 'a released payment to take up')
  holdAll(sql, id, holding)
}

/** Holds every block or, by failing, none. */
function holdAll(sql: Holds, id: number, holding: Holding): void {
  const blocks = blocksHeld(holding)
  changeMany(sql.hold, { id, blocks: JSON.stringify(blocks) }, blocks.length, 'open blocks to hold')
}

/** Gives a held block back, or notes that a payment released before can never land. */
export function release(sql: Holds, { payment, state: before }: Purchase, isFinal: boolean): void {
  const { id, purchase } = known(sql, payment)
  const { state } = purchase
  if (state.kind === 'released') return changeOne(sql.bury, { id, dead: isFinal }, 'a released payment')
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be released`)
  if (isStale(state, before)) throw new StaleWriteError('somebody else has taken the payment up')
  changeMany(sql.open, { id }, blocksIn(purchase.target), 'held blocks to give back')
  changeOne(sql.giveUp, { id, dead: isFinal }, 'a held payment to release')
}

/** Keeps the authorization of a released payment that was signed for anew. */
function renew(sql: Holds, { id, purchase }: Stored, payment: Payment): void {
  if (!outlasts(payment, purchase.payment)) return
  const { payer: _payer, nonce: _nonce, ...authorization } = authorizationRow(payment)
  changeOne(sql.renew, { id, ...authorization }, 'a released payment to renew')
}

/** Whether a payer holds so much that the target would be too much. */
function isFull(sql: Holds, payer: Address, target: Target): boolean {
  const held = sql.heldBy.all({ payer }).map(({ size }) => size)
  return isTooMuch(held, target)
}
