/**
 * Checks the promises of every history. A charge is judged by the transfers on the model chain, including pending ones
 * and those that others broadcast. Payers are judged by the responses they got. The intentions of a server do not
 * count.
 */

import { isFailure, type Failure } from '../../../server/domain/failure.ts'
import { HELD_BLOCKS_MAX, HOLDS_MAX } from '../../../server/domain/purchase/claim-rules.ts'
import type { Draft, Listing } from '../../../server/domain/purchase/listing.ts'
import { toPaymentKey, type Payment, type Target } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Outcome, type Purchase, type SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import { isBlock, resolveTarget, getPosition } from '../../../server/domain/purchase/target.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { readSettledResult } from '../../support/scheduler.ts'
import { listBlocksFrom, countBlocks, isNext, findNearestPlace } from './areas.ts'
import type { Life } from './commons.ts'
import type { Book, Sale } from './ledger-model.ts'
import type { Crowd, Order } from './people/payers.ts'
import { deniesCharge, SIGNED, DENIALS } from './samples.ts'
import type { Verb, Watcher } from './server.ts'
import {
  formatAuthorization,
  canNeverSettle,
  isSpentByLonger,
  isUnderWay,
  getMaxLag,
  isChainStalled,
  type Spending,
  type World,
} from './world.ts'

/** A broken promise, which ends the history. */
export class Violation extends Error {
  override name = 'Violation'
}

export function assertPromise(held: boolean, words: string, key?: string): asserts held {
  if (!held) throw new Violation(key === undefined ? words : `${words}: payment ${key.slice(-4)}`)
}

const known: ReadonlySet<string> = new Set(['work-failed', 'outage', 'older-copy', 'witness-failed'])

const passing: ReadonlySet<string> = new Set(['facilitator_unavailable', 'server_busy'])

// The error codes of orders that are rejected before any block is held.
const beforeClaim: ReadonlySet<string> = new Set(['invalid_listing', 'invalid_image'])

/** The observations so far, which survive the crashes of servers. */
export type Witness = {
  readonly world: World
  readonly book: Book
  readonly wall: readonly BlockIndex[]
  readonly signed: readonly Payment[]
  readonly unspent: Set<string> // payments that the chain reported to some server as unspent
  /** By payment and server: step of the last successful query that showed the payment's end. */
  readonly ends: Map<string, Map<Life, number>>
  /** The same for queries that showed the money of the payment at our address. */
  readonly paid: Map<string, Map<Life, number>>
  /**
   * Step since which a payer lacks the result of a payment, because the payer was asked to wait, hung up or was cut
   * off.
   */
  readonly left: Map<string, number>
  readonly receipts: Set<string> // payments whose receipt was sent to a waiting client
  readonly promised: Set<string> // authorizations whose payers were promised a block or a credit if the money moves
  readonly handed: Set<string> // payments that were answered with the receipt of another payment
  readonly claimed: Map<string, { readonly step: number; readonly by: Life | undefined }>
  readonly lookedAt: Map<string, number> // by payment: step of the last query to the chain, successful or not
  readonly alerts: Set<string>
  readonly strays: Set<string> // payments without a purchase, about which the operator got an alert
  readonly accepted: Set<string> // payments that the operator accepted as lost by an older copy
  mustWait: () => boolean // whether the book shows that it is an older copy, and nobody has accepted it
  readonly owing: Map<string, Target> // by payment that settled late: the target that it should get
  readonly credited: Set<string>
  /** When each payment was stored, and for how much. */
  readonly written: Map<string, { readonly step: number; readonly amount: bigint }>
  readonly presented: Set<string> // authorizations that clients have sent to the wall
  readonly sent: Map<string, Draft[]> // by payment: every listing that was sent with it
  readonly kept: Map<string, Listing> // by payment: the listing that was stored first
  readonly bound: ReadonlyMap<string, Order> // the orders that payments are bound to
  // Facts about one server, or by server:
  life: Life | undefined
  readonly claiming: Map<string, Asking>
  /** By payment: when the server last queried the payer's open purchases. */
  readonly askedOpen: Map<string, { readonly step: number; readonly now: number }>
  /** By payment and server: step of the first successful query that showed the payment unspent. */
  readonly sights: Map<string, Map<Life, number>>
  readonly verifiedAt: Map<string, number>
  readonly answeredAt: Map<string, number> // by payment: step of the last successful query to the chain
  /** By payment with a claimed success: whether the last read since that claim showed the payment as unspent. */
  readonly denied: Map<string, boolean>
}

export const createWitness = (
  world: World,
  book: Book,
  wall: readonly BlockIndex[],
  { signed, bound }: Pick<Crowd, 'signed' | 'bound'>,
): Witness => ({
  world,
  book,
  wall,
  signed,
  unspent: new Set(),
  sights: new Map(),
  ends: new Map(),
  paid: new Map(),
  left: new Map(),
  receipts: new Set(),
  promised: new Set(),
  handed: new Set(),
  claimed: new Map(),
  lookedAt: new Map(),
  alerts: new Set(),
  strays: new Set(),
  accepted: new Set(),
  mustWait: () => false,
  owing: new Map(),
  credited: new Set(),
  written: new Map(),
  presented: new Set(),
  sent: new Map(),
  kept: new Map(),
  bound,
  ...createServerFacts(),
})

const createServerFacts = () => ({
  life: undefined,
  claiming: new Map(),
  askedOpen: new Map(),
  verifiedAt: new Map(),
  answeredAt: new Map(),
  denied: new Map(),
})

/** The observations of one of several servers: its own facts, and those that all servers share. */
export const createServerWitness = (witness: Witness): Witness =>
  Object.assign(Object.create(witness) as Witness, createServerFacts())

type Asking = { readonly target: Target; readonly payment: Payment; readonly now: number }
type Selling = { readonly settled: boolean }
type Releasing = { readonly purchase: Purchase; readonly isFinal: boolean }

export const findRow = ({ book }: Pick<Witness, 'book'>, key: string): Purchase | undefined => book.findRow(key)

const hasKind = (answer: unknown): answer is { readonly kind: string } =>
  typeof answer === 'object' && answer !== null && 'kind' in answer

const getStep = (steps: ReadonlyMap<string, number>, key: string) => steps.get(key) ?? -1

/** Creates a watcher that records and checks the calls of a server as it makes them. */
export function createWatcher(witness: Witness): Watcher {
  const { world } = witness
  return {
    onQuery(verb, key, what) {
      if (verb === 'claim') witness.claiming.set(key, what as Asking)
      if (verb === 'release') checkRelease(witness, key, what as Releasing)
      if (verb === 'fulfilLatePayment') recordOwedPlace(witness, what as Purchase)
      if (verb === 'finalize') checkSale(witness, key, what as Selling)
      if (verb === 'readPaymentStatus') witness.lookedAt.set(key, world.step)
      if (verb === 'verify' || verb === 'settle') checkPresented(witness, what as Payment)
      if (verb === 'verify') witness.verifiedAt.set(key, world.step)
      if (verb !== 'settle') return
      const kind = findRow(witness, key)?.state.kind
      // A block that was claimed earlier also counts: the payment's run may not know yet that the chain showed the
      // payment's end and that the block was released.
      const isHad = kind === 'reserved' || kind === 'sold' || witness.claimed.has(key)
      assertPromise(isHad, 'a settlement is requested only for a block held or sold', key)
    },
    onOpenQuery(key, now) {
      witness.askedOpen.set(key, { step: world.step, now })
    },
    onIntrusion(key) {
      assertPromise(false, 'no server settles a payment that another one works on', key)
    },
    onDeniedSpending(key, { step, height }) {
      const spending = world.spendings.get(key)
      const wasSeen = spending !== undefined && spending.step <= step && spending.height <= height
      assertPromise(!wasSeen, 'a payment in a block that was seen is not reported as unspent', key)
    },
    onWritten(verb, key, answer) {
      if (verb === 'claim' && hasKind(answer) && answer.kind === 'claimed') checkClaim(witness, key)
      if (verb === 'fulfilLatePayment') checkOwedPlace(witness, key)
      const isBare = verb !== 'recordUnclaimed' || findRow(witness, key)?.listing.pixels === null
      assertPromise(isBare, 'a rejected order is stored without its picture', key)
      if (moves.has(verb)) checkWholeAreas(witness)
      if (moves.has(verb) || verb === 'recordUnclaimed') {
        checkListing(witness, key)
        checkAmount(witness, key)
      }
    },
    onAnswer(verb, key, answer, askedAt) {
      if (verb === 'settle' && hasKind(answer) && answer.kind === 'success') witness.denied.set(key, false)
      // If a stalled chain shows a payment as unspent, that does not disprove the settlement.
      if (verb === 'readAuthorization' && witness.denied.has(key))
        witness.denied.set(key, isUnspent(answer) && !isChainStalled(world))
      if (verb === 'readAuthorization' && typeof answer === 'object' && answer !== null && 'spent' in answer)
        recordChainAnswer(witness, key, answer.spent === true ? 'spent' : 'unspent', askedAt)
      if (verb === 'readPaymentStatus' && hasKind(answer) && answer.kind !== 'silent')
        recordChainAnswer(witness, key, isExpiry(answer) ? 'expired' : answer.kind, askedAt)
    },
    onAlert(event, key) {
      if (event === 'payment-lost') witness.alerts.add(key)
      if (event === 'orphan' || event === 'stray') return void witness.strays.add(key)
      if (event === 'payment-lost' || event === 'payment-vanished') return
      assertPromise(known.has(event), `an alert that means something: ${event}`)
      assertPromise(event !== 'work-failed', 'I11: no exception in a loop')
      assertPromise(event !== 'outage' || world.hasStalled, 'a chain that moves is not reported as standing still')
    },
  }
}

const isUnspent = (answer: unknown) =>
  typeof answer === 'object' && answer !== null && 'spent' in answer && answer.spent === false

const isExpiry = (answer: object) => 'why' in answer && String(answer.why).includes('expired')

function checkSale({ paid, denied }: Witness, key: string, { settled: isSettled }: Selling): void {
  if (isSettled) assertPromise(paid.has(key), 'only a payment that the chain showed is recorded as settled', key)
  else assertPromise(denied.get(key) !== true, 'nothing is sold for a payment that the chain denied', key)
}

/** Records what the chain reported to a server about a payment, as of the step at which the query arrived. */
function recordChainAnswer(witness: Witness, key: string, shown: string, askedAt: number): void {
  const { world, life, answeredAt, sights, unspent, ends, paid } = witness
  answeredAt.set(key, askedAt)
  if (shown === 'unspent') unspent.add(key)
  // An authorization that expired unused shows nothing about a longer authorization of the same nonce.
  if (life === undefined || shown === 'expired') return
  if (shown === 'unspent') {
    // The wall does not believe a stalled chain that shows a payment as unspent.
    if (!isChainStalled(world))
      getOrCreateSteps(sights, key).set(life, getOrCreateSteps(sights, key).get(life) ?? askedAt)
  } else {
    getOrCreateSteps(ends, key).set(life, askedAt)
    if (shown === 'paid') getOrCreateSteps(paid, key).set(life, askedAt)
  }
}

function getOrCreateSteps(steps: Map<string, Map<Life, number>>, key: string): Map<Life, number> {
  const known = steps.get(key) ?? new Map<Life, number>()
  steps.set(key, known)
  return known
}

/** Whether any living server could know what happened at `step`; if `by` is given, whether that server could. */
const couldKnow = (steps: Witness['ends'], key: string, step: number, by?: Life): boolean =>
  [...(steps.get(key) ?? [])].some(
    ([life, at]) => at >= step && (by === undefined ? life.diedAt === undefined : life === by),
  )

function checkRelease(witness: Witness, key: string, { purchase, isFinal }: Releasing): void {
  const { world, paid, life } = witness
  const moved = findSpending(world, key)
  assertPromise(
    isRevivedUnseen(witness, key) || !isUnderWay(world, purchase.payment),
    'a settlement that may still settle never releases a block',
    key,
  )
  const isTold = moved !== undefined && life !== undefined && (paid.get(key)?.get(life) ?? -1) >= moved.step
  assertPromise(!isTold, 'a block that was paid for is not released', key)
  // A longer authorization of the same nonce that was never recorded is found when its payer sends it, or by the search
  // for orphans.
  const mayLand = !canNeverSettle(world, purchase.payment) && !isSpentByLonger(world, purchase.payment)
  assertPromise(!isFinal || !mayLand, 'a payment that may still settle is watched', key)
}

/**
 * Whether a reorganisation undid the cancellation or other use of an authorization, and the chain has not responded to
 * a query about the payment since.
 */
const isRevivedUnseen = ({ world, answeredAt }: Witness, key: string): boolean =>
  (world.revived.get(key) ?? -1) >= getStep(answeredAt, key) && world.revived.has(key)

/** The transfer that moved a payment's money to the wall, if any. */
function findSpending({ spendings }: World, key: string): Spending | undefined {
  const spending = spendings.get(key)
  return spending?.kind === 'transfer' ? spending : undefined
}

/** Checks that a payment that a facilitator gets is one that a client has sent to the wall. */
function checkPresented({ presented }: Witness, payment: Payment): void {
  const isPresented = presented.has(formatAuthorization(payment))
  assertPromise(isPresented, 'a facilitator gets a payment only as its client sent it', toPaymentKey(payment))
}

/** Checks that a server, before it sells, has queried the chain about each purchase that its earlier life left open. */
function checkReconciliation(witness: Witness): void {
  const { claimed, lookedAt, life } = witness
  const startedAt = life?.startedAt ?? 0
  for (const [key, { by }] of claimed) {
    // Other living servers check their own holds. The holds of a server that died after this one started may be newer
    // than the check.
    if (by === life || (by?.diedAt ?? Infinity) > startedAt) continue
    if (findRow(witness, key)?.state.kind !== 'reserved') continue
    assertPromise((lookedAt.get(key) ?? -1) > startedAt, 'purchases left open are checked before the next sale', key)
  }
}

const RECEIPT_KEPT_MS = 10 * 60_000

function checkClaim(witness: Witness, claimed: string): void {
  assertPromise(!witness.mustWait(), 'an older copy sells nothing before it is accepted', claimed)
  assertPromise(
    !witness.handed.has(claimed),
    'a payment that was answered with an earlier receipt is never claimed',
    claimed,
  )
  checkHoldLimit(witness, claimed)
  checkReconciliation(witness)
  witness.claimed.set(claimed, { step: witness.world.step, by: witness.life })
  const asked = witness.claiming.get(claimed)
  if (asked === undefined) return
  const { payer, nonce, identifier } = asked.payment
  for (const other of witness.signed) {
    if (identifier === undefined || other.payer !== payer || other.nonce === nonce) continue
    const row = findRow(witness, toPaymentKey(other))
    const isOpen = row?.state.kind === 'reserved' || row?.state.kind === 'sold'
    assertPromise(
      !isOpen || other.identifier !== identifier,
      'purchases with the same payment identifier are made once',
      claimed,
    )
  }
  checkPlace(witness, claimed, [findRow(witness, claimed)?.target ?? asked.target])
  const { step } = witness.askedOpen.get(claimed) ?? NEVER
  for (const key of findUnansweredPurchases(witness, asked.payment, asked.target, { step, now: asked.now }))
    assertPromise(false, 'I7: no payer is charged again while an older purchase is unanswered', key)
}

const NEVER = { step: -1, now: 0 }

/**
 * The keys of a payer's older purchases of the same target, held or sold, whose client was left without the receipt
 * before `step`. Sold purchases count only while the wall, by the server's clock, remembers the owed receipt.
 */
function findUnansweredPurchases(
  witness: Witness,
  { payer, nonce }: Payment,
  target: Target,
  { step, now }: { readonly step: number; readonly now: number },
): readonly string[] {
  return witness.signed
    .filter((other) => other.payer === payer && other.nonce !== nonce)
    .map(toPaymentKey)
    .filter((key) => Math.max(witness.left.get(key) ?? Infinity, witness.claimed.get(key)?.step ?? Infinity) < step)
    .filter((key) => isOpen(findRow(witness, key), target, now))
}

function isOpen(row: Purchase | undefined, target: Target, now: number): boolean {
  if (row?.target !== target) return false
  return row.state.kind === 'reserved' || (row.state.kind === 'sold' && now - row.state.claimedAt < RECEIPT_KEPT_MS)
}

function checkHoldLimit(witness: Witness, key: string): void {
  const payer = findRow(witness, key)?.payment.payer
  const held = witness.signed.filter(
    (payment) => payment.payer === payer && findRow(witness, toPaymentKey(payment))?.state.kind === 'reserved',
  )
  const blocks = held.reduce(
    (sum, payment) => sum + countBlocks(findRow(witness, toPaymentKey(payment))?.target ?? 'next'),
    0,
  )
  assertPromise(held.length <= HOLDS_MAX && blocks <= HELD_BLOCKS_MAX, 'no payer holds more than the limit', key)
}

// The writes that can change which payment holds a block.
const moves: ReadonlySet<Verb> = new Set<Verb>(['claim', 'release', 'finalize', 'fulfilLatePayment'])

/**
 * Checks that the blocks with a holder in the book are exactly those of all held and sold purchases, with one payment
 * for each block.
 */
function checkWholeAreas({ book, signed }: Witness): void {
  const holders = new Map<BlockIndex, string>()
  for (const key of signed.map(toPaymentKey)) {
    const row = book.findRow(key)
    if (row === undefined || (row.state.kind !== 'reserved' && row.state.kind !== 'sold')) continue
    for (const block of listBlocksFrom(row.target, row.block)) {
      assertPromise(!holders.has(block), 'I1: a block is held for one payment', key)
      holders.set(block, key)
    }
  }
  const held = book.readHolders()
  const isSame = held.size === holders.size && held.entries().every(([block, key]) => holders.get(block) === key)
  assertPromise(isSame, 'I1: an area is held, sold and released whole')
}

/**
 * Checks that the wall keeps watching the amount that was stored first. If a nonce was signed for two amounts, the
 * transfer of the first amount may be in progress.
 */
function checkAmount({ world, book, written, accepted }: Witness, key: string): void {
  const amount = book.findRow(key)?.payment.amount
  if (amount === undefined || accepted.has(key)) return
  const first = written.get(key) ?? { step: world.step, amount }
  written.set(key, first)
  assertPromise(amount === first.amount, 'I4: a payment is watched for the amount that was stored first', key)
}

/**
 * Checks that a purchase shows its first stored listing, even if somebody else resends its payment. Checks also that a
 * bound order is bought as signed.
 */
function checkListing({ book, sent, kept, bound }: Witness, key: string): void {
  const row = book.findRow(key)
  if (row === undefined) return
  const { listing, target } = row
  const ordered = bound.get(key)
  const isOrdered = ordered === undefined || (ordered.target === target && matchesDraft(ordered.listing, listing))
  assertPromise(isOrdered, 'a bound order is bought as it was signed, or not at all', key)
  // A rejected order is stored without its picture, which is added if the order is sent again.
  const before = kept.get(key) ?? listing
  const first = before.pixels === null ? { ...before, pixels: listing.pixels } : before
  kept.set(key, first)
  const isSent = sent.get(key)?.some((draft) => equalsDraft(draft, listing)) === true
  assertPromise(isSent && isSameListing(first, listing), 'a purchase shows the listing that was sent for it', key)
}

const isSameListing = (one: Listing, other: Listing) =>
  one.message === other.message && one.painter === other.painter && String(one.pixels) === String(other.pixels)

const matchesDraft = (draft: Order['listing'], listing: Listing) => !isFailure(draft) && equalsDraft(draft, listing)

/** Whether a listing equals a draft; the listing may lack the picture. */
const equalsDraft = ({ picture, pixels, message, painter }: Draft, listing: Listing): boolean => {
  const colour = picture?.sent.kind === 'file' ? picture.sent.bytes[1] : pixels?.[0]
  const isPainted = listing.pixels === null || listing.pixels.every((index) => index === colour)
  return listing.message === message && listing.painter === painter && isPainted
}

/**
 * Records the expected position of a payment that settled late. A payment that another server has served since is owed
 * nothing.
 */
function recordOwedPlace(witness: Witness, released: Purchase): void {
  const key = toPaymentKey(released.payment)
  if (findRow(witness, key)?.state.kind === 'released') witness.owing.set(key, resolveTarget(released))
}

/**
 * Checks that a payment that settled late got its own position, the nearest open one of its size, or else one credit.
 */
function checkOwedPlace(witness: Witness, key: string): void {
  const { owing, credited } = witness
  const row = findRow(witness, key)
  const own = owing.get(key)
  owing.delete(key)
  if (row === undefined || own === undefined || credited.has(key)) return
  if (row.state.kind === 'sold') {
    // Requests from before this step could not know that the payment has a block.
    witness.claimed.set(key, { step: witness.world.step, by: witness.life })
    return checkPlace(witness, key, [own, row.target])
  }
  const held = witness.book.readHolders()
  const place = findNearestPlace(witness.wall, row.target, (block) => held.has(block))
  assertPromise(row.state.kind === 'credited' && place === undefined, 'a credit is owed only if nothing is open', key)
  credited.add(key)
}

/**
 * Checks that a payer got the first of these targets that is not `next`, if it was open, or else the open place nearest
 * to the centre.
 */
function checkPlace({ book, wall }: Witness, key: string, places: readonly Target[]): void {
  const row = book.findRow(key)
  if (row === undefined) return
  const held = book.readHolders()
  const isTaken = (block: BlockIndex) => held.has(block) && held.get(block) !== key
  const own = places.find((place) => !isNext(place))
  const at = own === undefined ? undefined : getPosition(own).at
  const hasOwn = typeof at === 'number' && !listBlocksFrom(row.target, at).some(isTaken)
  const expected = hasOwn ? at : findNearestPlace(wall, row.target, isTaken)
  assertPromise(row.block === expected, 'a payer gets the requested place, or else the nearest open one', key)
}

/** Records that nobody waits for a response about a payment any more, unless its receipt was already sent. */
export function markAbandoned({ left, receipts, world }: Witness, payment: Payment): void {
  if (!receipts.has(toPaymentKey(payment))) left.set(toPaymentKey(payment), world.step)
}

/** Records that somebody waits for a response about a payment. */
export function markAttended({ left }: Witness, payment: Payment): void {
  left.delete(toPaymentKey(payment))
}

/** Records a payment that a client sends, and the listing sent with it. */
export function recordSentOrder({ presented, sent }: Witness, { payment, listing }: Order): void {
  presented.add(formatAuthorization(payment))
  if (!isFailure(listing)) sent.set(toPaymentKey(payment), [...(sent.get(toPaymentKey(payment)) ?? []), listing])
}

/** Records that the receipt of a payment was sent; the server cannot know whether the receipt arrived. */
export function recordReceipt({ left, receipts }: Witness, payment: Payment): void {
  left.delete(toPaymentKey(payment))
  receipts.add(toPaymentKey(payment))
}

/**
 * The facts when a payment was sent: the step, the height of the chain, and the payment addresses that the wall knew.
 */
export type Asked = {
  readonly startedAt: number
  readonly height: number
  readonly payees: ReadonlySet<string>
  readonly isKnown: boolean // whether the book had the payment already
}

/** Compares one response to a buyer with the facts at that moment. */
export function checkAnswer(witness: Witness, { payment, target }: Order, outcome: Outcome, asked: Asked): void {
  if (outcome.kind === 'bought') {
    if (toPaymentKey(outcome.purchase.payment) !== toPaymentKey(payment)) witness.handed.add(toPaymentKey(payment))
    checkReceipt(payment, target, outcome.purchase, findRow(witness, toPaymentKey(outcome.purchase.payment)))
    return
  }
  const { code, details } = outcome
  const isOfKnown = code === 'order_mismatch' && asked.isKnown && !witness.world.hasOperator
  assertPromise(!isOfKnown, 'a known payment is never reported as not sent', toPaymentKey(payment))
  const owed = findRow(witness, toPaymentKey(payment))?.payment.amount
  const isWhole = code !== 'payment_credited' || details?.['amount'] === String(owed)
  assertPromise(isWhole, 'a credit is reported in full', toPaymentKey(payment))
  const key = toPaymentKey(payment)
  const isDenied = details?.['charged'] === 'unknown' && deniesCharge(outcome.message)
  assertPromise(!isDenied, 'no message denies a charge that may have been made', key)
  if (outcome.message.includes('If it moves, you get')) witness.promised.add(formatAuthorization(payment))
  const charged = details?.['charged']
  const mayBeCharged =
    findSpending(witness.world, key) !== undefined ||
    witness.world.undone.has(key) ||
    findRow(witness, key)?.state.kind === 'sold'
  assertPromise(charged !== 'yes' || mayBeCharged, 'a payment that is reported as charged was charged', key)
  assertPromise(
    code !== 'payment_unmatched' || findRow(witness, key) === undefined,
    'a known purchase is never reported as unmatched',
    key,
  )
  if (DENIALS.has(code) || charged === 'no') checkDenial(witness, { payment, target }, outcome, asked)
}

/**
 * Checks that the payer was not charged if the response says so or asks for payment, even if somebody else broadcast
 * the payment. The exception is a payment that moved before the wall first saw it: it is never honoured. A transfer
 * that no query to the chain has shown yet does not count, because no server can know of it.
 */
function checkDenial(
  witness: Witness,
  { payment, target }: Pick<Order, 'payment' | 'target'>,
  { code, details }: Failure,
  { startedAt, height, payees }: Asked,
): void {
  const charged = details?.['charged']
  const { world, ends, life } = witness
  const key = toPaymentKey(payment)
  const row = findRow(witness, key)
  assertPromise(
    row?.state.kind !== 'sold' && row?.state.kind !== 'credited',
    `I6: no ${code} for a sold or credited payment`,
    key,
  )
  assertPromise(
    row?.state.kind !== 'reserved' || !beforeClaim.has(code),
    `I6: no ${code} while a block is held for the payment`,
    key,
  )
  assertPromise(
    isRevivedUnseen(witness, key) || !isUnderWay(world, payment),
    `I6: no ${code} while the wall settles the payment`,
    key,
  )
  const maySettle = !canNeverSettle(world, payment) && !isSpentByLonger(world, payment)
  assertPromise(
    charged !== 'no' || !world.verified.has(formatAuthorization(payment)) || !maySettle,
    'a payment that a facilitator has is not reported as uncharged while it may move',
    key,
  )
  const moved = findSpending(world, key)
  // A temporary rejection that stores nothing, and says nothing about money, is only about its own request.
  const isOfRequest = row === undefined && passing.has(code) && details?.['charged'] !== 'no'
  // If a nonce has two authorizations, only the one that moved the money is a charge.
  if (moved !== undefined && moved.amount === payment.amount && !isOfRequest) {
    // Every server knows the stored facts; of other facts, each server knows only its own observations.
    const own = life === undefined ? Infinity : (witness.sights.get(key)?.get(life) ?? Infinity)
    const isSeen = row !== undefined || own <= moved.step
    // Another server's observation about a released payment is stored only once that server has acted on it.
    const isOthers = row !== undefined && row.state.kind !== 'released'
    const isToldOf = isSeen && couldKnow(ends, key, moved.step, isOthers ? undefined : life)
    assertPromise(!isToldOf, `I6: no ${code} once the money was seen to move`, key)
    const verifiedAt = getStep(witness.verifiedAt, key)
    const isBlind = isSeen && verifiedAt >= startedAt && verifiedAt >= moved.step
    const isUnasked =
      (code === 'payment_required' || charged === 'no') && isBlind && getStep(witness.answeredAt, key) < verifiedAt
    assertPromise(!isUnasked, `I6: no ${code} for money that moved before the verification`, key)
  }
  const isHere = moved !== undefined && moved.amount === payment.amount && moved.height < height - getMaxLag(world)
  const isTold = row !== undefined || details?.['charged'] !== 'no' || !payees.has(payment.to)
  assertPromise(!isHere || isTold, `I6: no ${code} for money that arrived long ago`, key)
  // A payment that was stored before, or can no longer settle, gets a response about itself, not about older purchases.
  const isKnown = (witness.written.get(key)?.step ?? Infinity) < startedAt
  const isOver = row?.state.kind === 'released' && row.state.isFinal
  if (code !== 'payment_required' || isKnown || isOver || payment.signature !== SIGNED) return
  for (const other of findUnansweredPurchases(witness, payment, target, witness.askedOpen.get(key) ?? NEVER)) {
    const mayMove =
      findSpending(world, other) !== undefined ||
      witness.signed.some((one) => toPaymentKey(one) === other && !canNeverSettle(world, one))
    assertPromise(!mayMove, 'no payer is asked for money that an older payment has moved or may still move', other)
  }
}

function checkReceipt(payment: Payment, target: Target, receipt: SoldPurchase, row: Purchase | undefined): void {
  const key = toPaymentKey(payment)
  assertPromise(row !== undefined && isSold(row), 'I5: a receipt is for a stored sale', key)
  assertPromise(receipt.payment.payer === payment.payer, "I5: a receipt is for the payer's own block", key)
  const isOfNonce = toPaymentKey(receipt.payment) === key
  const isForAmount = !isOfNonce || receipt.payment.amount === payment.amount
  assertPromise(isForAmount, 'I5: a payment that is signed again for another amount gets no receipt', key)
  assertPromise(receipt.block === row.block, 'I5: a receipt matches the stored sale', key)
  assertPromise(receipt.target === row.target, 'I5: a receipt is for everything that was bought', key)
  const asked = isNext(target) ? row.target === target : resolveTarget(receipt) === target
  assertPromise(asked, 'I5: a receipt is for the requested block', key)
}

/** The totals of a history: payments that moved money, sold blocks, and sold areas. */
export type Sums = { readonly charged: number; readonly sold: number; readonly areas: number }

/** Checks every payment, block and sale once all faults have ended and everything has come to rest. */
export function checkAtRest(witness: Witness, polled: readonly Sale[]): Sums {
  const { world, book, signed, wall, unspent, accepted, strays } = witness
  const owners = new Map<BlockIndex, string>()
  let [charged, areas] = [0, 0]
  for (const payment of signed) {
    const key = toPaymentKey(payment)
    const row = findRow(witness, key)
    if (row === undefined) continue
    const spending = world.spendings.get(key)
    const { kind } = row.state
    // Money moved by another authorization of the nonce buys nothing: the search for orphans finds it. If a
    // reorganisation undoes the transfer of a sale, another authorization can use up the same nonce.
    const isUnpaid = kind === 'released' || (kind === 'sold' && !row.state.settled)
    const isOrphan = isUnpaid && spending?.amount !== row.payment.amount
    // Money that moved before any server saw the payment as unspent buys nothing, unless an older copy lost that
    // observation, or may have lost it.
    const isOwed = unspent.has(key) || accepted.has(key) || (kind === 'credited' && strays.has(key))
    const paid = isOwed && spending?.kind === 'transfer' && !isOrphan
    if (paid) charged += 1
    const blocks = BigInt(countBlocks(row.target))
    const isPriced = world.prices.some((price) => price * blocks === row.payment.amount)
    assertPromise(
      isPriced || kind === 'released' || accepted.has(key) || strays.has(key),
      'I4: a sale or credit was paid at a price per block',
      key,
    )
    assertPromise(!paid || spending.amount === row.payment.amount, 'I4: the received amount is the demanded one', key)
    assertPromise(kind !== 'reserved', 'I9: nothing is held at the end', key)
    assertPromise(!paid || kind === 'sold' || kind === 'credited', 'I3: a payment has a block or a credit', key)
    if (row.state.kind === 'credited') assertPromise(paid && row.state.tx === spending.tx, 'I2: a credit was paid', key)
    assertPromise(row.state.kind !== 'released' || row.state.isFinal, 'I9: nothing is watched permanently', key)
    if (!isSold(row)) continue
    if (!isBlock(row.target)) areas += 1
    for (const block of listBlocksFrom(row.target, row.block)) {
      assertPromise(!owners.has(block), 'I1: a block has one owner', key)
      owners.set(block, key)
    }
    checkDeed(witness, row, paid ? spending : undefined)
  }
  checkPromises(witness)
  for (const block of wall)
    assertPromise(
      (readSettledResult(Promise.resolve(book.ledger.checkSpace(block))) === 'claimed') === owners.has(block),
      'I1: a claimed block was sold once',
    )
  checkWholeAreas(witness)
  checkFeed(witness, polled, owners)
  return { charged, sold: owners.size, areas }
}

/** Checks that every payer who was promised a block or a credit has one, if the payment moved. */
function checkPromises(witness: Witness): void {
  const { world, promised } = witness
  for (const { payment } of world.mined.values()) {
    if (!promised.has(formatAuthorization(payment)) || findSpending(world, toPaymentKey(payment)) === undefined)
      continue
    const kind = findRow(witness, toPaymentKey(payment))?.state.kind
    // If an older copy lost the purchase, the operator gets an alert instead.
    const isKept = kind === 'sold' || kind === 'credited' || world.hasOperator
    assertPromise(
      isKept,
      'a payer who was promised a block or a credit gets one if the payment moves',
      toPaymentKey(payment),
    )
  }
}

function checkDeed({ world, alerts }: Witness, { payment, state }: SoldPurchase, paidBy: Spending | undefined): void {
  const key = toPaymentKey(payment)
  if (paidBy !== undefined) {
    assertPromise(state.settled && state.tx === paidBy.tx, 'I2: a sale names the transfer that paid it', key)
    return
  }
  assertPromise(!state.settled, 'I2: an unpaid sale is not called settled', key)
  assertPromise(alerts.has(key), 'I2: the operator gets an alert for an unpaid sale', key)
  const onWord = world.claims.has(`${key} ${state.tx}`)
  assertPromise(
    onWord || world.undone.has(key),
    'I2: an unpaid sale relied on a facilitator, or on blocks that were replaced',
    key,
  )
}

function checkFeed({ book, signed }: Witness, polled: readonly Sale[], owners: ReadonlyMap<BlockIndex, string>): void {
  const sales = readSettledResult(book.listSales(0))
  assertPromise(
    sales.every(({ seq }, at) => seq === at + 1),
    'I8: the feed is numbered without gaps',
  )
  assertPromise(
    sales.every(({ at }, i) => at >= (sales[i - 1]?.at ?? 0)),
    'I8: the times of the feed never go back',
  )
  const seen = JSON.stringify([...polled, ...readSettledResult(book.listSales(polled.length))])
  assertPromise(seen === JSON.stringify(sales), 'I8: a follower saw every sale once')
  assertPromise(
    sales.length === owners.size && sales.every(({ block }) => owners.has(block)),
    'I8: the feed equals the sales',
  )
  for (const row of signed.map((payment) => book.findRow(toPaymentKey(payment)))) {
    if (row === undefined || !isSold(row)) continue
    const first = sales.findIndex(({ block }) => block === row.block)
    const own = listBlocksFrom(row.target, row.block).map((block, i) => ({
      seq: first + 1 + i,
      block,
      at: row.state.claimedAt,
      message: row.listing.message,
    }))
    const listed = sales.slice(first, first + own.length)
    assertPromise(
      JSON.stringify(listed) === JSON.stringify(own),
      'I8: an area is sold at once, row by row, as it was sent',
      toPaymentKey(row.payment),
    )
  }
}
