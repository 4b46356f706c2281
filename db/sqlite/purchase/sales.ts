/** Sales: what makes a held block its payer's for ever; every function must be called inside a transaction. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Hash, PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Purchase, type SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import { blocksHeld, ownTarget, placeOf, targetOf } from '../../../server/domain/purchase/target.ts'
import { FACE_PARTS, NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import { changeMany, changeOne, one, type Connection } from '../connection.ts'
import { enterAgent } from '../wall/agent-rows.ts'
import { nextEntry, writeSales } from '../wall/log.ts'
import { moderate } from '../wall/moderation.ts'
import { isBanned, moderateWallet } from '../wall/wallet-moderation.ts'
import { takeUp } from './holds.ts'
import { find, known, type Stored } from './payments.ts'
import { openPlace } from './places.ts'

/** Sells a held block. A sale that is already made is answered as it is, once noted that it was seen on the chain. */
export function finalize(
  connection: Connection,
  key: PaymentKey,
  tx: Hash,
  settled: boolean,
  now: UnixMs,
): SoldPurchase {
  const stored = known(connection, key)
  const { state } = stored.purchase
  if (state.kind === 'reserved') sell(connection, stored, { tx, settled }, now)
  if (state.kind === 'sold' && settled && !state.settled) confirm(connection, key, tx)
  return sold(connection, key)
}

/** Notes in which transaction the chain shows a sale's payment. */
export function confirm(connection: Connection, { payer, nonce }: PaymentKey, tx: Hash): void {
  changeOne(connection.prepare(CONFIRM), { payer, nonce, tx }, 'a sale to confirm')
}

const CONFIRM = `
  UPDATE payments SET settled = 1, tx = $tx, looks = max(looks, settled)
  WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`

/** Notes for good in which transaction the chain shows a sale's payment. */
export function markFinal(connection: Connection, { payer, nonce }: PaymentKey, tx: Hash): void {
  changeOne(connection.prepare(MARK_FINAL), { payer, nonce, tx }, 'a sale to mark as final')
}

const MARK_FINAL = `
  UPDATE payments SET settled = 1, tx = $tx, looks = 2 WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`

/** Notes that the chain does not show a sale's payment; after look 2 it is not looked for again. */
export function markMissing(connection: Connection, { payer, nonce }: PaymentKey, looks: 0 | 2): void {
  changeOne(connection.prepare(MARK_MISSING), { payer, nonce, looks }, 'a sale that is not paid')
}

const MARK_MISSING = `
  UPDATE payments SET settled = 0, looks = $looks WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`

/** Gives a payment that landed while nothing was held for it its block or area, else the next open one, else a credit. */
export function fulfilLatePayment(connection: Connection, key: PaymentKey, tx: Hash, now: UnixMs): Purchase {
  const stored = known(connection, key)
  const { kind } = stored.purchase.state
  if (kind === 'sold' || kind === 'credited') return stored.purchase
  if (kind === 'reserved') throw new StaleWriteError('a block is held for the payment')
  const { target } = stored.purchase
  const own = openPlace(connection, ownTarget(stored.purchase))
  const block = typeof own === 'string' ? openPlace(connection, targetOf('next', placeOf(target))) : own
  if (typeof block === 'string') {
    changeOne(connection.prepare(CREDIT), { id: stored.id, tx }, 'a released payment to credit')
  } else {
    takeUp(connection, stored.id, { target, block })
    sell(connection, known(connection, key), { tx, settled: true }, now)
  }
  return known(connection, key).purchase
}

const CREDIT = `UPDATE payments SET state = 'credited', dead = 0, tx = $tx WHERE id = $id AND state = 'released'`

function sell(connection: Connection, { id, purchase }: Stored, proof: { tx: Hash; settled: boolean }, now: UnixMs) {
  const { payment, listing } = purchase
  const { name, framework, pixels, message, link } = listing
  const blocks = blocksHeld(purchase)
  const entry = nextEntry(connection, now)
  const { seq } = one(connection.prepare<{ seq: number }>('SELECT coalesce(max(seq), 0) + 1 AS seq FROM changes'), {})
  const agent = enterAgent(connection, payment.payer, { name, framework }, entry)
  writeSales(connection, { ...entry, seq, agent: agent.id, ...agent.persona, pixels, message, link }, blocks)
  changeMany(connection.prepare(DEED), { id }, blocks.length, 'held blocks to sell')
  changeOne(connection.prepare(SELL), { id, ...proof, seq, at: entry.at }, 'a held payment to sell to')
  if (!isBanned(connection, agent.id)) return
  for (const block of blocks) moderate(connection, block, 'hide', saidParts(FACE_PARTS, listing), now)
  moderateWallet(connection, payment.payer, { act: 'hide', parts: saidParts(NAME_PARTS, listing) }, now)
}

// A block shows what the log says of its sale.
const DEED = `
  UPDATE blocks SET state = 'claimed', (agent, pixels, message, link, changed) =
    (SELECT agent, pixels, message, link, number FROM changes WHERE block = blocks.i AND kind = 'sale')
  WHERE state = 'reserved' AND payment = $id`

const SELL = `
  UPDATE payments SET state = 'sold', uncertain = 0, tx = $tx, seq = $seq, claimed_at = $at, settled = $settled,
    unanswered = 1
  WHERE id = $id AND state = 'reserved'`

function sold(connection: Connection, key: PaymentKey): SoldPurchase {
  const purchase = find(connection, key)?.purchase
  if (purchase === undefined || !isSold(purchase))
    throw new StaleWriteError('only a held or sold payment can be finalized')
  return purchase
}

/** Writes that the payer of a held block is told to wait. */
export function markUncertain(connection: Connection, { payer, nonce }: PaymentKey): Purchase {
  if (connection.prepare(MARK_UNCERTAIN).run({ payer, nonce }).changes === 1)
    return known(connection, { payer, nonce }).purchase
  throw new StaleWriteError(`a ${known(connection, { payer, nonce }).purchase.state.kind} payment cannot be uncertain`)
}

const MARK_UNCERTAIN = `
  UPDATE payments SET uncertain = 1 WHERE payer = $payer AND nonce = $nonce AND state = 'reserved'`

/** Notes that the receipt of a sale went out to its payer. */
export function markAnswered(connection: Connection, { payer, nonce }: PaymentKey): void {
  connection
    .prepare(`UPDATE payments SET unanswered = 0 WHERE payer = $payer AND nonce = $nonce AND unanswered = 1`)
    .run({ payer, nonce })
}
