/** Sales: what makes a held block its payer's for ever; every function must be called inside a transaction. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Hash, PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Landed, type Purchase, type SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import { blocksHeld, ownTarget, placeOf, targetOf } from '../../../server/domain/purchase/target.ts'
import { FACE_PARTS, NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import { changeMany, changeOne, one, type Connection } from '../connection.ts'
import { enterAgent } from '../wall/agent-rows.ts'
import { nextEntry, writeSales } from '../wall/log.ts'
import { moderate } from '../wall/moderation.ts'
import { isBanned, moderateWallet } from '../wall/wallet-moderation.ts'
import { remember, takeUp, type Holds } from './holds.ts'
import { find, known, type Stored } from './payments.ts'
import { openPlace } from './places.ts'

/** What selling needs beside what holding needs. */
export type Sales = ReturnType<typeof prepareSales>

/** Prepares it. */
export function prepareSales(connection: Connection) {
  type Sale = { id: number; tx: Hash; seq: number; at: UnixMs; settled: boolean }
  return {
    nextSeq: connection.prepare<{ seq: number }>('SELECT coalesce(max(seq), 0) + 1 AS seq FROM changes'),
    sell: connection.prepare<unknown, Sale>(`
      UPDATE payments SET state = 'sold', uncertain = 0, tx = $tx, seq = $seq, claimed_at = $at, settled = $settled,
        unanswered = 1
      WHERE id = $id AND state = 'reserved'`),
    // A block shows what the log says of its sale.
    deed: connection.prepare<unknown, { id: number }>(`
      UPDATE blocks SET state = 'claimed', (agent, pixels, message, link, changed) =
        (SELECT agent, pixels, message, link, number FROM changes WHERE block = blocks.i AND kind = 'sale')
      WHERE state = 'reserved' AND payment = $id`),
    credit: connection.prepare<unknown, { id: number; tx: Hash }>(
      `UPDATE payments SET state = 'credited', dead = 0, tx = $tx WHERE id = $id AND state = 'released'`,
    ),
    confirm: connection.prepare<unknown, PaymentKey & { tx: Hash }>(
      `UPDATE payments SET settled = 1, tx = $tx, looks = max(looks, settled)
      WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`,
    ),
    markFinal: connection.prepare<unknown, PaymentKey & { tx: Hash }>(
      `UPDATE payments SET settled = 1, tx = $tx, looks = 2 WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`,
    ),
    markMissing: connection.prepare<unknown, PaymentKey & { looks: 0 | 2 }>(
      `UPDATE payments SET settled = 0, looks = $looks WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`,
    ),
    markUncertain: connection.prepare<unknown, PaymentKey>(
      `UPDATE payments SET uncertain = 1 WHERE payer = $payer AND nonce = $nonce AND state = 'reserved'`,
    ),
    markAnswered: connection.prepare<unknown, PaymentKey>(
      `UPDATE payments SET unanswered = 0 WHERE payer = $payer AND nonce = $nonce AND unanswered = 1`,
    ),
  }
}

type Sql = Holds & Sales

/** Sells a held block. A sale that is already made is answered as it is, once noted that it was seen on the chain. */
export function finalize(sql: Sql, key: PaymentKey, tx: Hash, settled: boolean, now: UnixMs): SoldPurchase {
  const stored = known(sql, key)
  const { state } = stored.purchase
  if (state.kind === 'reserved') sell(sql, stored, { tx, settled }, now)
  if (state.kind === 'sold' && settled && !state.settled) confirm(sql, key, tx)
  return sold(sql, key)
}

/** Notes in which transaction the chain shows a sale's payment. */
export function confirm(sql: Sql, { payer, nonce }: PaymentKey, tx: Hash): void {
  changeOne(sql.confirm, { payer, nonce, tx }, 'a sale to confirm')
}

/** Notes for good in which transaction the chain shows a sale's payment. */
export function markFinal(sql: Sql, { payer, nonce }: PaymentKey, tx: Hash): void {
  changeOne(sql.markFinal, { payer, nonce, tx }, 'a sale to mark as final')
}

/** Notes that the chain does not show a sale's payment; after look 2 it is not looked for again. */
export function markMissing(sql: Sql, { payer, nonce }: PaymentKey, looks: 0 | 2): void {
  changeOne(sql.markMissing, { payer, nonce, looks }, 'a sale that is not paid')
}

/** Gives a payment that landed while nothing was held for it its block or area, else the next open one, else a credit. */
export function fulfilLatePayment(sql: Sql, landed: Landed, tx: Hash, now: UnixMs): Purchase {
  const key = landed.payment
  const stored = find(sql, key) ?? remember(sql, landed, now)
  const { kind } = stored.purchase.state
  if (kind === 'sold' || kind === 'credited') return stored.purchase
  if (kind === 'reserved') throw new StaleWriteError('a block is held for the payment')
  const { target } = stored.purchase
  const own = openPlace(sql, ownTarget(stored.purchase))
  const block = typeof own === 'string' ? openPlace(sql, targetOf('next', placeOf(target))) : own
  if (typeof block === 'string') {
    changeOne(sql.credit, { id: stored.id, tx }, 'a released payment to credit')
  } else {
    takeUp(sql, stored.id, { target, block })
    sell(sql, known(sql, key), { tx, settled: true }, now)
  }
  return known(sql, key).purchase
}

function sell(sql: Sql, { id, purchase }: Stored, proof: { tx: Hash; settled: boolean }, now: UnixMs) {
  const { connection } = sql
  const { payment, listing } = purchase
  const { name, framework, pixels, message, link } = listing
  const blocks = blocksHeld(purchase)
  const entry = nextEntry(connection, now)
  const { seq } = one(sql.nextSeq, {})
  const agent = enterAgent(connection, payment.payer, { name, framework }, entry)
  writeSales(connection, { ...entry, seq, agent: agent.id, ...agent.persona, pixels, message, link }, blocks)
  changeMany(sql.deed, { id }, blocks.length, 'held blocks to sell')
  changeOne(sql.sell, { id, ...proof, seq, at: entry.at }, 'a held payment to sell to')
  if (!isBanned(connection, agent.id)) return
  for (const block of blocks) moderate(connection, block, 'hide', saidParts(FACE_PARTS, listing), now)
  moderateWallet(connection, payment.payer, { act: 'hide', parts: saidParts(NAME_PARTS, listing) }, now)
}

function sold(sql: Sql, key: PaymentKey): SoldPurchase {
  const purchase = find(sql, key)?.purchase
  if (purchase === undefined || !isSold(purchase))
    throw new StaleWriteError('only a held or sold payment can be finalized')
  return purchase
}

/** Writes that the payer of a held block is told to wait. */
export function markUncertain(sql: Sql, { payer, nonce }: PaymentKey): Purchase {
  if (sql.markUncertain.run({ payer, nonce }).changes === 1) return known(sql, { payer, nonce }).purchase
  throw new StaleWriteError(`a ${known(sql, { payer, nonce }).purchase.state.kind} payment cannot be uncertain`)
}

/** Notes that the receipt of a sale went out to its payer. */
export function markAnswered(sql: Sql, { payer, nonce }: PaymentKey): void {
  sql.markAnswered.run({ payer, nonce })
}
