/** The availability of targets, and holding them for payments. */

import { StaleWriteError, StoreUnavailable } from '../../server/domain/failure.ts'
import {
  type ClaimRequest,
  findPositionOnEmptyWall,
  exceedsHoldLimits,
  isStale,
  RECEIPT_KEPT_MS,
  keepLongerAuthorization,
  findPurchaseToResolveFirst,
} from '../../server/domain/purchase/claim-rules.ts'
import { matchesExceptPicture, type Listing } from '../../server/domain/purchase/listing.ts'
import type { Payment, PaymentKey, UnixMs } from '../../server/domain/purchase/payment.ts'
import type {
  AvailabilityCheck,
  ClaimResult,
  Purchase,
  UnclaimedPayment,
} from '../../server/domain/purchase/purchase.ts'
import { listHeldBlocks, countBlocks, type Target } from '../../server/domain/purchase/target.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { getRank, renderSumSql, computeChecksums } from '../row-checksums.ts'
import {
  toAuthorizationRow,
  toInteger,
  PAYMENT_ID,
  PURCHASE_SOURCES,
  toPurchase,
  type PurchaseRow,
  SELECT_PURCHASE,
  renderPurchaseSql,
  toTargetColumns,
} from '../rows.ts'
import { changeRows, queryFirst, doNothing, toSqliteText, queryRows, runTogether, type Tx } from '../tx.ts'
import { storePurchasePainter } from '../wall/painters.ts'
import { type Lost, lockOpenPlace, type SoldBlocks, readSpace, renderSpaceSql } from './places.ts'

/** The payments for which a target is held. */
export const listHolders = (target: Target): Tx<readonly PaymentKey[]> =>
  queryRows<PaymentKey>(HOLDERS, toTargetColumns(target))

const HOLDERS = `
  SELECT payer, nonce FROM payments
  WHERE state = 'reserved' AND block = coalesce($target, block) AND w = $w AND h = $h`

// The payer's held purchases, unanswered ones of the same target, the one whose receipt answered this payment, and any
// with the same identifier; the order of precedence is not decided here. Four indexes find them, so the cost does not
// depend on what else the payer bought.
const OPEN_PURCHASES = `
  ${renderPurchaseSql(`, (SELECT nonce FROM reused_receipts
    WHERE payer = $payer AND nonce = $nonce AND payment = p.id) AS reused_for`)} WHERE p.id IN (
    SELECT id FROM payments WHERE payer = $payer AND state = 'reserved'
    UNION ALL SELECT id FROM payments
      WHERE payer = $payer AND unanswered = 1 AND w = $w AND h = $h
        AND (block = $target OR (target IS NOT DISTINCT FROM $target AND claimed_at > $since))
    UNION ALL SELECT payment FROM reused_receipts WHERE payer = $payer AND nonce = $nonce
    UNION ALL SELECT id FROM payments WHERE payer = $payer AND identifier = $identifier AND state IN ('reserved', 'sold'))`

const toPurchaseValues = ({ target, payment, now }: ClaimRequest) => ({
  payer: payment.payer,
  nonce: payment.nonce,
  identifier: payment.identifier ?? null,
  since: now - RECEIPT_KEPT_MS,
  ...toTargetColumns(target),
})

function* listOpenPurchases(asking: ClaimRequest): Tx<readonly Purchase[]> {
  const text = `${OPEN_PURCHASES} ORDER BY p.id`
  return (yield* queryRows<PurchaseRow>(text, toPurchaseValues(asking), PURCHASE_SOURCES)).map(toPurchase)
}

/** Checks whether a target can be bought, and which of the payer's purchases must be resolved first. */
export function* checkAvailability(asking: ClaimRequest, sold: SoldBlocks): Tx<AvailabilityCheck> {
  const spaceText = renderSpaceSql(asking.target)
  const [open, purchases] =
    spaceText === undefined
      ? yield* runTogether(readSpace(asking.target, sold), listOpenPurchases(asking))
      : yield* checkAvailabilityInOneStatement(spaceText, asking)
  return {
    space: open === 'open' && exceedsHoldLimits(purchases, asking.target) ? 'full' : open,
    prior: findPurchaseToResolveFirst(purchases, asking),
  }
}

/** The availability of a block, and the payer's open purchases: every unpaid request needs both. */
function* checkAvailabilityInOneStatement(
  spaceText: string,
  asking: ClaimRequest,
): Tx<readonly [Lost | 'open', readonly Purchase[]]> {
  const found = yield* queryRows<PurchaseRow & { readonly space: Lost | 'open' }>(
    `SELECT ${spaceText} AS space, CAST($target AS integer) AS asked, open_purchases.*
    FROM (SELECT 1 AS always) AS always LEFT JOIN (${OPEN_PURCHASES}) AS open_purchases ON true ORDER BY open_purchases.id`,
    toPurchaseValues(asking),
    { ...PURCHASE_SOURCES, blocks: 'asked' },
  )
  const [top] = found
  if (top === undefined) throw new Error('the availability query returned no row')
  return [top.space, found.filter(hasPurchase).map(toPurchase)]
}

/** Whether the row of the outer join has a purchase. */
const hasPurchase = (row: PurchaseRow): boolean => (row as { readonly id: number | null }).id !== null

/**
 * Holds a block or a whole area for a new or released payment. A released payment keeps its first target and listing.
 * If its listing has no picture and the new listing only adds one, it gets that picture.
 */
export function* claim(asking: ClaimRequest, listing: Listing, head: bigint, sold: SoldBlocks): Tx<ClaimResult> {
  const { payment, now } = asking
  const [stored, id, ...found] = yield* runTogether(
    findPurchase(payment),
    takeNextId(),
    listOpenPurchases(asking),
    lockOpenPlace(asking.target, sold),
  )
  const released = stored?.purchase
  if (released !== undefined && released.state.kind !== 'released')
    throw new StaleWriteError(`a ${released.state.kind} payment cannot be claimed`)
  const target = released?.target ?? asking.target
  const own = { ...asking, target }
  const [purchases, place] =
    target === asking.target ? found : yield* runTogether(listOpenPurchases(own), lockOpenPlace(target, sold))
  if (findPurchaseToResolveFirst(purchases, own) !== undefined) return { kind: 'prior' }
  if (place.kind !== 'open') return { kind: 'lost', space: place.kind }
  if (exceedsHoldLimits(purchases, target)) return { kind: 'lost', space: 'full' }
  const purchase = yield* stored === undefined
    ? holdForNewPayment({ payment, target, listing, head }, id, place.block, now)
    : holdForReleasedPayment(
        stored,
        payment,
        matchesExceptPicture(stored.purchase.listing, listing) ? listing.pixels : null,
        place.block,
      )
  return { kind: 'claimed', purchase }
}

function* holdForNewPayment(first: UnclaimedPayment, id: NextId, block: BlockIndex, now: UnixMs): Tx<Purchase> {
  yield* runTogether(insertPayment(first, id, block, 'reserved', now), holdBlocks(first, id, block))
  return { ...first, block, state: { kind: 'reserved', uncertain: false, attempt: 1 } }
}

/**
 * The number of the next payment. Only SQLite needs it in advance, because the blocks are written at the same time,
 * with checksums that cover it.
 */
type NextId = number | null

function* takeNextId(): Tx<NextId> {
  return (yield* queryFirst<{ id: number }>(NEXT_ID))?.id ?? null
}

const NEXT_ID = toSqliteText('SELECT coalesce(max(id), 0) + 1 AS id FROM payments')

const HOLD_AGAIN = `
  UPDATE payments SET state = 'reserved', dead = 0, block = $block, attempt = attempt + 1, pay_to = $pay_to, asset = $asset,
    network = $network, scheme = $scheme, amount = $amount, valid_after = $valid_after, valid_before = $valid_before,
    signature = $signature, pixels = coalesce(pixels, $pixels)
  WHERE payer = $payer AND nonce = $nonce AND state = 'released'`

function* holdForReleasedPayment(
  { id, purchase: released }: Stored,
  signed: Payment,
  pixels: Listing['pixels'],
  block: BlockIndex,
): Tx<Purchase> {
  const payment = keepLongerAuthorization(released.payment, signed)
  const [, , { purchase }] = yield* runTogether(
    changeRows('a released payment to hold', HOLD_AGAIN, { ...toAuthorizationRow(payment), pixels, block }),
    holdBlocks(released, id, block),
    readKnownPurchase(payment),
  )
  return purchase
}

const HOLD = `
  UPDATE blocks SET state = 'reserved', payment = ${PAYMENT_ID}{sqlite , sum = ${renderSumSql('held.key')}}
  FROM {each integer $blocks} AS held WHERE blocks.i = held.value AND blocks.state = 'open'`

const NOBODYS = { agent: null, pixels: null, message: null, link: null, changed: null }

/** Holds every block, or fails and holds none. The same transaction has already read the blocks as open. */
function* holdBlocks({ payment: { payer, nonce }, target }: UnclaimedPayment, id: NextId, block: BlockIndex): Tx<void> {
  const held = listHeldBlocks({ target, block })
  const [i, rank] = [(at: number) => held[at] ?? -1, (at: number) => getRank(held[at] ?? -1)]
  const computeSums = () =>
    computeChecksums('blocks', held.length, { i, rank, state: 'reserved', payment: id, ...NOBODYS })
  yield* changeRows('open blocks to hold', HOLD, { payer, nonce, blocks: held, sums: computeSums }, held.length)
}

const INSERT = `
  INSERT INTO payments ({sqlite id,} payer, nonce, pay_to, asset, network, scheme, amount, valid_after, valid_before, signature,
    target, w, h, block, name, framework, message, link, pixels, head, created_at, state, identifier, order_text, salt)
  VALUES ({sqlite $id,} $payer, $nonce, $pay_to, $asset, $network, $scheme, $amount, $valid_after, $valid_before, $signature,
    $target, $w, $h, $block, $name, $framework, $message, $link, $pixels, $head, $now, $state, $identifier, $order_text,
    $salt)`

function* insertPayment(
  { payment, target, listing, head }: UnclaimedPayment,
  id: NextId,
  block: BlockIndex,
  state: 'reserved' | 'released',
  now: UnixMs,
): Tx<void> {
  const { painter, ...shown } = listing
  const values = {
    ...toAuthorizationRow(payment),
    ...shown,
    ...toTargetColumns(target),
    id,
    block,
    head: toInteger(head),
    now,
    state,
    identifier: payment.identifier ?? null,
    ...toOrderColumns(payment),
  }
  yield* runTogether(
    changeRows('a payment to write', INSERT, values),
    painter === null ? doNothing() : storePurchasePainter(payment, painter),
  )
}

/** The order that a payment is bound to, as columns. */
function toOrderColumns({ binding }: Payment) {
  if (binding === undefined) return { order_text: null, salt: null }
  if (binding === 'mismatch')
    throw new RangeError('a payment that was signed for an order other than the requested one cannot be stored')
  return { order_text: binding.text, salt: binding.salt }
}

/** Stores a payment for which nothing was held, as if it had been released. */
export function* recordUnclaimed(unclaimed: UnclaimedPayment, now: UnixMs): Tx<Purchase> {
  const [stored, id] = yield* runTogether(findPurchase(unclaimed.payment), takeNextId())
  if (stored !== undefined) throw new StaleWriteError('the payment is already known')
  const block = findPositionOnEmptyWall(unclaimed.target)
  yield* insertPayment(unclaimed, id, block, 'released', now)
  return { ...unclaimed, block, state: { kind: 'released', isFinal: false } }
}

const HELD_BLOCKS = `
  SELECT i FROM blocks WHERE payment = ${PAYMENT_ID} AND state = 'reserved'
  ORDER BY i {lock}`

/**
 * Locks the blocks that are held for a payment, in the order of their numbers. Throws `StoreUnavailable` if one is
 * damaged.
 */
export function* lockHeldBlocks({ payer, nonce }: PaymentKey): Tx<void> {
  yield* queryRows(HELD_BLOCKS, { payer, nonce }, { blocks: 'i' })
}

const MARK_DEAD = `
  UPDATE payments SET dead = CASE WHEN dead = 1 THEN 1 ELSE $dead END
  WHERE payer = $payer AND nonce = $nonce AND state = 'released'`

const OPEN = `
  UPDATE blocks SET state = 'open', payment = NULL
  WHERE state = 'reserved' AND payment = ${PAYMENT_ID}`

const RELEASE = `
  UPDATE payments SET state = 'released', uncertain = 0, dead = $dead
  WHERE payer = $payer AND nonce = $nonce AND state = 'reserved'`

/**
 * Releases the blocks held for a payment. If they are already released and `isFinal` is true, records that the payment
 * can never settle.
 */
export function* release(before: Purchase, isFinal: boolean): Tx<void> {
  const { payment } = before
  const [{ purchase }] = yield* runTogether(readKnownPurchase(payment), lockHeldBlocks(payment))
  const { state, target } = purchase
  if (isStale(purchase, before)) throw new StaleWriteError('another run has changed the payment since this run read it')
  const values = { payer: payment.payer, nonce: payment.nonce, dead: isFinal }
  if (state.kind === 'released') return yield* changeRows('a released payment', MARK_DEAD, values)
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be released`)
  yield* runTogether(
    changeRows('held blocks to release', OPEN, values, countBlocks(target)),
    changeRows('a held payment to release', RELEASE, values),
  )
}

type Stored = { readonly id: number; readonly purchase: Purchase }

const FIND = `${SELECT_PURCHASE} WHERE p.id = ${PAYMENT_ID}`

// If a payment's `payer` or `nonce` is damaged, the other value still identifies the payment.
const DAMAGED = toSqliteText(`
  SELECT 1 FROM payments WHERE {damaged payments id} AND (payer = $payer OR nonce = $nonce) LIMIT 1`)

/** The purchase of a payment, if it was ever claimed. Throws `StoreUnavailable` if its row is damaged. */
export function* findPurchase({ payer, nonce }: PaymentKey): Tx<Stored | undefined> {
  const row = yield* queryFirst<PurchaseRow>(FIND, { payer, nonce }, PURCHASE_SOURCES)
  if (row !== undefined) return { id: row.id, purchase: toPurchase(row) }
  // A damaged payment must not count as unknown.
  if ((yield* queryFirst(DAMAGED, { payer, nonce })) !== undefined)
    throw new StoreUnavailable('a damaged payment has the same payer or nonce as this one')
  return undefined
}

/** The purchase of a payment. Throws if the payment was never claimed. */
export function* readKnownPurchase(key: PaymentKey): Tx<Stored> {
  const stored = yield* findPurchase(key)
  if (stored === undefined) throw new Error('no purchase is stored for the payment')
  return stored
}
