/** Sales: they make a payer the permanent owner of blocks. */

import { StaleWriteError } from '../../server/domain/failure.ts'
import { listLateTargets } from '../../server/domain/purchase/claim-rules.ts'
import type { Address, Hash, PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import {
  isSold,
  type Purchase,
  type Sold,
  type SoldPurchase,
  type UnclaimedPayment,
} from '../../server/domain/purchase/purchase.ts'
import { listHeldBlocks, type Holding } from '../../server/domain/purchase/target.ts'
import { applyProfileEdit } from '../../server/domain/wall/edit.ts'
import { CONTENT_PARTS, NAME_PARTS, pickGivenParts } from '../../server/domain/wall/moderation.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { getRank, renderSumSql, computeChecksums } from '../row-checksums.ts'
import { PAYMENT_ID, type Agent } from '../rows.ts'
import { changeRows, countChangedRows, runTogether, type Text, type Tx } from '../tx.ts'
import { storeAgent, findAgent } from '../wall/agents.ts'
import { toContentColumns, takeNextEntry, writeSales } from '../wall/log.ts'
import { moderateAgent, readModeration } from '../wall/moderated-agents.ts'
import { moderate } from '../wall/moderation.ts'
import { readKnownPurchase, lockHeldBlocks, recordUnclaimed } from './holds.ts'
import { lockOpenPlace, type SoldBlocks } from './places.ts'

type Proof = { readonly tx: Hash; readonly settled: boolean }

/**
 * Sells a held block or area. If there is already a sale, returns it; if `settled`, first records that the chain shows
 * its payment.
 */
export function* finalize(key: PaymentKey, tx: Hash, settled: boolean, now: UnixMs): Tx<SoldPurchase> {
  const [{ id, purchase }, , buyer] = yield* runTogether(
    readKnownPurchase(key),
    lockHeldBlocks(key),
    findBuyer(key.payer),
  )
  if (purchase.state.kind === 'reserved')
    return { ...purchase, state: yield* sellBlocks({ id, ...purchase }, HELD, buyer, { tx, settled }, now) }
  if (!isSold(purchase)) throw new StaleWriteError('only a held or sold payment can be finalized')
  if (!settled || purchase.state.settled) return purchase
  yield* confirm(key, tx)
  return { ...purchase, state: { ...purchase.state, settled: true, tx } }
}

const CONFIRM = `
  UPDATE payments SET settled = 1, tx = $tx, looks = CASE WHEN settled > looks THEN settled ELSE looks END
  WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`

/** Records the transaction in which the chain shows a sale's payment. */
export const confirm = ({ payer, nonce }: PaymentKey, tx: Hash): Tx<void> =>
  changeRows('a sale to confirm', CONFIRM, { payer, nonce, tx })

const MARK_FINAL = `
  UPDATE payments SET settled = CASE state WHEN 'sold' THEN 1 ELSE 0 END, tx = $tx, looks = 2
  WHERE payer = $payer AND nonce = $nonce AND state IN ('sold', 'credited')`

/** Records the transaction in which the chain shows the payment of a sale or a credit, and ends its checks. */
export const markFinal = ({ payer, nonce }: PaymentKey, tx: Hash): Tx<void> =>
  changeRows('a sale or a credit to mark as final', MARK_FINAL, { payer, nonce, tx })

const MARK_MISSING = `
  UPDATE payments SET settled = 0, looks = $looks WHERE payer = $payer AND nonce = $nonce AND state = 'sold'`

/** Records that the chain does not show a sale's payment; if `looks` is 2, the payment is not checked again. */
export const markMissing = ({ payer, nonce }: PaymentKey, looks: 0 | 2): Tx<void> =>
  changeRows('a sale to mark as unpaid', MARK_MISSING, { payer, nonce, looks })

const END_CREDIT = `
  UPDATE payments SET state = 'released', dead = 1, tx = NULL
  WHERE payer = $payer AND nonce = $nonce AND state = 'credited'`

/** Records that the chain will never show the payment of a sale or a credit. A sale stays; a credit ends. */
export function* writeOff({ payer, nonce }: PaymentKey): Tx<void> {
  if ((yield* countChangedRows(END_CREDIT, { payer, nonce })) === 0) yield* markMissing({ payer, nonce }, 2)
}

/**
 * Fulfils a payment that settled while nothing was held for it: with its own block or area, else the next open one,
 * else a credit.
 */
export function* fulfilLatePayment(key: PaymentKey, tx: Hash, now: UnixMs, sold: SoldBlocks): Tx<Purchase> {
  const [{ id, purchase }, buyer] = yield* runTogether(readKnownPurchase(key), findBuyer(key.payer))
  const { kind } = purchase.state
  if (kind === 'sold' || kind === 'credited') return purchase
  if (kind === 'reserved') throw new StaleWriteError('a block is held for the payment')
  const [own, nearest] = listLateTargets(purchase)
  const there = yield* lockOpenPlace(own, sold)
  const place = there.kind === 'open' ? there : yield* lockOpenPlace(nearest, sold)
  if (place.kind === 'open') {
    const given = { ...purchase, block: place.block }
    return { ...given, state: yield* sellBlocks({ id, ...given }, RELEASED, buyer, { tx, settled: true }, now) }
  }
  yield* creditPayment(key, tx)
  return { ...purchase, state: { kind: 'credited', tx } }
}

/** Stores a settled payment, for which nothing was ever held, as a credit. */
export function* creditUnclaimed(unclaimed: UnclaimedPayment, tx: Hash, now: UnixMs): Tx<void> {
  yield* recordUnclaimed(unclaimed, now)
  yield* creditPayment(unclaimed.payment, tx)
}

const creditPayment = ({ payer, nonce }: PaymentKey, tx: Hash): Tx<void> =>
  changeRows('a released payment to credit', CREDIT, { payer, nonce, tx })

const CREDIT = `
  UPDATE payments SET state = 'credited', dead = 0, tx = $tx
  WHERE payer = $payer AND nonce = $nonce AND state = 'released'`

/** The statements that sell blocks in a given state and record the sale in their payment. */
type Before = { readonly claim: Text; readonly sell: Text }

// The states are literals, because each of SQLite's indexes covers only blocks in one state. If the state were bound,
// SQLite would plan the statement again for each value.
const createSaleStatements = (payment: 'reserved' | 'released', block: 'reserved' | 'open'): Before => ({
  claim: `
    UPDATE blocks SET state = 'claimed', payment = ${PAYMENT_ID},
      agent = $agent, pixels = substr({bytes $pixels}, ${PIXELS_PER_BLOCK} * sold.key + 1, ${PIXELS_PER_BLOCK}),
      message = $message, link = $link, changed = $number + sold.key{sqlite , sum = ${renderSumSql('sold.key')}}
    FROM {each integer $blocks} AS sold WHERE blocks.i = sold.value AND blocks.state = '${block}'`,
  sell: `
    UPDATE payments SET state = 'sold', uncertain = 0, dead = 0, block = $block, tx = $tx, seq = $seq, claimed_at = $at,
      settled = $settled, unanswered = 1
    WHERE payer = $payer AND nonce = $nonce AND state = '${payment}'`,
})

const HELD = createSaleStatements('reserved', 'reserved')
const RELEASED = createSaleStatements('released', 'open')

type Buyer = { readonly agent: Agent; readonly isBanned: boolean }

function* findBuyer(wallet: Address): Tx<Buyer | undefined> {
  const agent = yield* findAgent(wallet)
  if (agent === undefined) return undefined
  return { agent, isBanned: (yield* readModeration(agent.id)).isBanned }
}

/** A payment that is about to receive its blocks, with its row number. */
type Selling = Holding & Pick<Purchase, 'payment' | 'listing'> & { readonly id: number }

function* sellBlocks(selling: Selling, was: Before, buyer: Buyer | undefined, proof: Proof, now: UnixMs): Tx<Sold> {
  const { id, payment, listing, block } = selling
  const { payer, nonce } = payment
  const { pixels, message, link } = listing
  const sold = listHeldBlocks(selling)
  const entry = yield* takeNextEntry(now, {
    entries: sold.length,
    sales: sold.length,
    agents: buyer === undefined ? 1 : 0,
  })
  const agent = computeAgentAfterSale(payer, listing, buyer?.agent, entry)
  const profile = { name: agent.name, framework: agent.framework }
  const content = { pixels, message, link }
  const { number, at, seq } = entry
  // The same transaction has already read these blocks, which verified their old checksums.
  const computeSums = () =>
    computeChecksums('blocks', sold.length, {
      ...toContentColumns(content),
      i: (at) => sold[at] ?? -1,
      rank: (at) => getRank(sold[at] ?? -1),
      state: 'claimed',
      payment: id,
      agent: agent.id,
      changed: (at) => number + at,
    })
  yield* runTogether(
    storeAgent(agent, buyer?.agent, entry),
    writeSales({ ...entry, agent: agent.id, profile, content }, sold),
    changeRows(
      'blocks to sell',
      was.claim,
      { payer, nonce, ...content, agent: agent.id, number, blocks: sold, sums: computeSums },
      sold.length,
    ),
    changeRows('a payment to mark as sold', was.sell, { payer, nonce, ...proof, block, seq, at }),
  )
  if (buyer?.isBanned === true) yield* hideListing(agent, sold, listing, now)
  return { kind: 'sold', ...proof, claimedAt: at, ...profile, unanswered: true }
}

/** The buyer after a sale: names given in the listing replace the old ones; the other names stay. */
function computeAgentAfterSale(
  wallet: Address,
  listing: Purchase['listing'],
  before: Agent | undefined,
  { number, agent: id }: { readonly number: number; readonly agent: number },
): Agent {
  const { name, framework } = listing
  if (before === undefined) return { id, wallet, name, framework, changed: number, signed_at: null }
  return {
    ...before,
    ...applyProfileEdit(before, listing),
    changed: name === null && framework === null ? before.changed : number,
  }
}

function* hideListing(agent: Agent, sold: readonly BlockIndex[], listing: Purchase['listing'], now: UnixMs): Tx<void> {
  for (const block of sold) yield* moderate(block, 'hide', pickGivenParts(CONTENT_PARTS, listing), now)
  yield* moderateAgent(agent, { act: 'hide', parts: pickGivenParts(NAME_PARTS, listing) }, now)
}

const MARK_UNCERTAIN = `
  UPDATE payments SET uncertain = 1 WHERE payer = $payer AND nonce = $nonce AND state = 'reserved'`

/** Records that the payer of a held block was asked to wait. */
export function* markUncertain({ payer, nonce }: PaymentKey): Tx<Purchase> {
  const { purchase } = yield* readKnownPurchase({ payer, nonce })
  const { state } = purchase
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be marked as uncertain`)
  if (!state.uncertain) yield* changeRows('a held payment to mark as uncertain', MARK_UNCERTAIN, { payer, nonce })
  return { ...purchase, state: { ...state, uncertain: true } }
}
