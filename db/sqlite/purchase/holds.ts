/** Which blocks can be had, and holding one for a payment; every function must be called inside a transaction. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Listing } from '../../../server/domain/purchase/listing.ts'
import type { Address, Hash, Payment, PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import type { Availability, ClaimResult, Purchase, UnclaimedPayment } from '../../../server/domain/purchase/purchase.ts'
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
import { find, known, readPurchase, type Stored } from './payments.ts'
import { openPlace } from './places.ts'

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

const IS_PRIOR = `id IN (${UNANSWERED}) AND ${OF_TARGET}`

// A receipt can be handed over at once, so it goes before a purchase that still has to end.
const PRIOR = `
  ${SELECT_PURCHASE} WHERE p.id IN (SELECT id FROM payments WHERE ${IS_PRIOR})
  ORDER BY p.state = 'sold' DESC, p.id LIMIT 1`

const ANY_PRIOR = `SELECT 1 FROM payments WHERE ${IS_PRIOR} LIMIT 1`

/** The payments for which a target is held. */
export const holders = ({ prepare }: Connection, target: Target): PaymentKey[] =>
  prepare<PaymentKey>(`
    SELECT payer, nonce FROM payments
    WHERE state = 'reserved' AND block = coalesce($target, block) AND size = $size`).all(targetColumns(target))

/** Whether a target can be bought, and which purchase of the payer's goes before. */
export function availability(
  connection: Connection,
  target: Target,
  payment: Payment,
  now: UnixMs,
  attended: readonly Hash[],
): Availability {
  const block = openPlace(connection, target)
  const space = typeof block === 'string' ? block : isFull(connection, payment.payer, target) ? 'full' : 'open'
  const row = connection.prepare<PurchaseRow>(PRIOR).get(priorOf(target, payment, now, attended))
  return { space, prior: row === null ? undefined : readPurchase(connection, row) }
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
  connection: Connection,
  asked: Target,
  payment: Payment,
  listing: Listing,
  head: bigint,
  now: UnixMs,
  attended: readonly Hash[],
): ClaimResult {
  const released = find(connection, payment)
  if (released !== undefined && released.purchase.state.kind !== 'released')
    throw new StaleWriteError(`a ${released.purchase.state.kind} payment cannot be claimed`)
  const target = released?.purchase.target ?? asked
  if (connection.prepare(ANY_PRIOR).get(priorOf(target, payment, now, attended)) !== null) return { kind: 'prior' }
  const block = openPlace(connection, target)
  if (typeof block === 'string') return { kind: 'lost', space: block }
  if (isFull(connection, payment.payer, target)) return { kind: 'lost', space: 'full' }
  if (released === undefined) {
    const id = insert(connection, { payment, target, listing, head }, block, 'reserved', now)
    holdAll(connection, id, { target, block })
  } else {
    renew(connection, released, payment)
    takeUp(connection, released.id, { target, block })
  }
  return { kind: 'claimed', purchase: known(connection, payment).purchase }
}

/** Keeps a payment for which nothing was held, as if it had been released. */
export function recordUnclaimed(connection: Connection, unclaimed: UnclaimedPayment, now: UnixMs): Purchase {
  const { payment, target } = unclaimed
  if (find(connection, payment) !== undefined) throw new StaleWriteError('the payment is known')
  insert(connection, unclaimed, firstPlace(target), 'released', now)
  return known(connection, payment).purchase
}

function insert(
  connection: Connection,
  { payment, target, listing, head }: UnclaimedPayment,
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
  const { id } = one(connection.prepare<{ id: number }>(INSERT), row)
  if (painter !== null) nameForPurchase(connection, id, painter)
  return id
}

const INSERT = `
  INSERT INTO payments (payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before, signature,
    target, size, block, name, framework, message, link, pixels, head, created_at, state, identifier)
  VALUES ($payer, $nonce, $pay_to, $asset, $network, $scheme, $amount, $valid_after, $valid_before, $signature,
    $target, $size, $block, $name, $framework, $message, $link, $pixels, $head, $now, $state, $identifier)
  RETURNING id`

/** Holds an open block or area for a released payment. */
export function takeUp(connection: Connection, id: number, holding: Holding): void {
  changeOne(connection.prepare(TAKE_UP), { id, block: holding.block }, 'a released payment to take up')
  holdAll(connection, id, holding)
}

const TAKE_UP = `
  UPDATE payments SET state = 'reserved', dead = 0, block = $block, attempt = attempt + 1
  WHERE id = $id AND state = 'released'`

/** Holds every block or, by failing, none. */
function holdAll(connection: Connection, id: number, holding: Holding): void {
  const blocks = blocksHeld(holding)
  changeMany(connection.prepare(HOLD), { id, blocks: JSON.stringify(blocks) }, blocks.length, 'open blocks to hold')
}

const HOLD = `
  UPDATE blocks SET state = 'reserved', payment = $id
  WHERE i IN (SELECT value FROM json_each($blocks)) AND state = 'open'`

/** Gives a held block back, or notes that a payment released before can never land. */
export function release(connection: Connection, { payment, state: before }: Purchase, isFinal: boolean): void {
  const { id, purchase } = known(connection, payment)
  const { state } = purchase
  if (state.kind === 'released') return changeOne(connection.prepare(BURY), { id, dead: isFinal }, 'a released payment')
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be released`)
  if (isStale(state, before)) throw new StaleWriteError('somebody else has taken the payment up')
  changeMany(connection.prepare(OPEN), { id }, blocksIn(purchase.target), 'held blocks to give back')
  changeOne(connection.prepare(GIVE_UP), { id, dead: isFinal }, 'a held payment to release')
}

const BURY = `UPDATE payments SET dead = max(dead, $dead) WHERE id = $id AND state = 'released'`

const OPEN = `UPDATE blocks SET state = 'open', payment = NULL WHERE state = 'reserved' AND payment = $id`

const GIVE_UP = `
  UPDATE payments SET state = 'released', uncertain = 0, dead = $dead WHERE id = $id AND state = 'reserved'`

/** Keeps the authorization of a released payment that was signed for anew. */
function renew(connection: Connection, { id, purchase }: Stored, payment: Payment): void {
  if (!outlasts(payment, purchase.payment)) return
  const { payer: _payer, nonce: _nonce, ...authorization } = authorizationRow(payment)
  changeOne(connection.prepare(RENEW), { id, ...authorization }, 'a released payment to renew')
}

const RENEW = `
  UPDATE payments SET pay_to = $pay_to, asset = $asset, network = $network, scheme = $scheme, amount = $amount,
    valid_after = $valid_after, valid_before = $valid_before, signature = $signature
  WHERE id = $id AND state = 'released'`

/** Whether a payer holds so much that the target would be too much. */
function isFull(connection: Connection, payer: Address, target: Target): boolean {
  const held = connection.prepare<{ size: Size }>(HELD).all({ payer })
  return isTooMuch(
    held.map(({ size }) => size),
    target,
  )
}

const HELD = `SELECT size FROM payments WHERE payer = $payer AND state = 'reserved'`
