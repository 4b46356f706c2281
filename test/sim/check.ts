/** What must hold in every history, in the words of the promises. Nothing here asks how the server came to its answer. */

import { HOLDS_MAX } from '../../db/limits.ts'
import { keyOf, type Payment, type Target } from '../../server/domain/payment.ts'
import { isSold, type Outcome, type Purchase, type SoldPurchase } from '../../server/domain/purchase.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Life } from './commons.ts'
import type { Book, Sale } from './ledger-model.ts'
import type { Order } from './payers.ts'
import { SIGNED } from './samples.ts'
import { settled } from './scheduler.ts'
import type { Watcher } from './server.ts'
import { isDead, truth, type Spending, type World } from './world.ts'

/** One broken promise ends the history. */
export class Violation extends Error {
  override name = 'Violation'
}

function promise(held: boolean, words: string, key?: string): asserts held {
  if (!held) throw new Violation(key === undefined ? words : `${words}: payment ${key.slice(-4)}`)
}

const known: ReadonlySet<string> = new Set(['sweep-failed', 'work-failed', 'log-out-of-reach'])

// What tells a payer that nothing was charged, or asks for money.
const denials = new Set([
  'payment_required',
  'facilitator_unavailable',
  'block_taken',
  'purchase_pending',
  'wall_busy',
  'sold_out',
  'invalid_listing',
])

/** What has been seen so far, kept over crashes: the checker never dies. */
export type Witness = {
  readonly world: World
  readonly book: Book
  readonly signed: readonly Payment[]
  readonly unspent: Set<string> // payments that a server was once told are unspent
  readonly leftWaiting: Map<string, number> // step at which a payer was told to wait, or hung up, while the block was held
  readonly leftLate: Map<string, Life | undefined> // who was at it when its payer left while its sale or delivery was written
  readonly runAt: Map<string, number> // step at which the last run about a payment began
  readonly claiming: Map<string, Asking>
  readonly surveyedAt: Map<string, number>
  readonly settledAt: Map<string, number> // step of the last settlement asked for
  readonly askedAt: Map<string, number> // step of the last look at the chain that was answered
  readonly toldAt: Map<string, number> // the same, of any server
  readonly paidAt: Map<string, number> // step of the last look that showed the money
  readonly verifiedAt: Map<string, number>
  readonly lastVerdict: Map<string, string>
  readonly olderInDoubt: Map<string, { readonly key: string; readonly step: number }>
  readonly alarms: Set<string>
  skewed: boolean // whether the clock was ever set
  readonly claimed: Map<string, { readonly step: number; readonly by: Life | undefined }>
  readonly ended: Set<string> // payments given back because the chain showed an end
  readonly lookedAt: Map<string, number> // step at which the chain was last asked, answered or not
  life: Life | undefined // of the server that is watched
  isTwin: boolean // whether there are two
  readonly siblingOf: Map<string, string> // which older purchase the last survey for a payment showed
  isWaitedFor: (key: string) => boolean // whether a client waits for the receipt of a payment
}

export const witnessOf = (world: World, book: Book, signed: readonly Payment[]): Witness => ({
  world,
  book,
  signed,
  unspent: new Set(),
  leftWaiting: new Map(),
  leftLate: new Map(),
  runAt: new Map(),
  claiming: new Map(),
  surveyedAt: new Map(),
  settledAt: new Map(),
  askedAt: new Map(),
  toldAt: new Map(),
  paidAt: new Map(),
  verifiedAt: new Map(),
  lastVerdict: new Map(),
  olderInDoubt: new Map(),
  alarms: new Set(),
  skewed: false,
  claimed: new Map(),
  ended: new Set(),
  lookedAt: new Map(),
  life: undefined,
  isTwin: false,
  siblingOf: new Map(),
  isWaitedFor: () => true,
})

/** What is seen of one of several servers: what it knows itself, and beside that what everybody has seen. */
export const seatOf = (witness: Witness): Witness =>
  Object.assign(Object.create(witness) as Witness, {
    runAt: new Map(),
    claiming: new Map(),
    surveyedAt: new Map(),
    askedAt: new Map(),
    verifiedAt: new Map(),
    lastVerdict: new Map(),
    olderInDoubt: new Map(),
    siblingOf: new Map(),
    life: undefined,
    isTwin: true,
  })

type Asking = { readonly target: Target; readonly payment: Payment }
type Selling = { readonly settled: boolean }
type Releasing = { readonly purchase: Purchase; readonly dead: boolean }

const rowOf = ({ book }: Pick<Witness, 'book'>, key: string): Purchase | undefined => book.row(key)

const hasKind = (answer: unknown): answer is { readonly kind: string } =>
  typeof answer === 'object' && answer !== null && 'kind' in answer

/** Watches what a server does while it does it. */
export function watcherOf(witness: Witness): Watcher {
  const { world } = witness
  return {
    asks(verb, key, what) {
      if (verb === 'claim') witness.claiming.set(key, what as Asking)
      if (verb === 'finalize' && (what as Selling).settled)
        promise(witness.lastVerdict.get(key) === 'paid', 'settled is said only of what the chain showed', key)
      if (verb === 'release') checkRelease(witness, key, what as Releasing)
      if (verb === 'verdict') witness.lookedAt.set(key, world.step)
      if (verb === 'find') witness.runAt.set(key, world.step)
      if (verb === 'availability') witness.surveyedAt.set(key, world.step)
      if (verb === 'verify') witness.verifiedAt.set(key, world.step)
      if (verb === 'settle') {
        witness.settledAt.set(key, world.step)
        const kind = rowOf(witness, key)?.state.kind
        // A run that was overtaken does not know yet that the chain showed an end, and the block was given back.
        const isHad = kind === 'reserved' || kind === 'sold' || (witness.isTwin && witness.ended.has(key))
        promise(isHad, 'money is asked to move only for a block held or sold', key)
      }
    },
    heard(verb, key, answer) {
      if (verb === 'read' && typeof answer === 'object' && answer !== null && 'spent' in answer) {
        for (const seen of [witness.askedAt, witness.toldAt]) seen.set(key, world.step)
        if (answer.spent === false) witness.unspent.add(key)
      }
      if (verb === 'verdict' && hasKind(answer) && answer.kind !== 'silent') {
        for (const seen of [witness.askedAt, witness.toldAt]) seen.set(key, world.step)
        witness.lastVerdict.set(key, answer.kind)
        if (answer.kind === 'paid') witness.paidAt.set(key, world.step)
        // Whatever was sent for it came to nothing, unless a reorganisation undoes that.
        if (answer.kind === 'void') world.doubtful.delete(key)
      }
      if (verb === 'claim' && hasKind(answer) && answer.kind === 'claimed') checkClaim(witness, key)
      if (verb === 'availability') noteAvailability(witness, key, answer)
      if (verb === 'markAnswered' && witness.isWaitedFor(key)) witness.leftWaiting.delete(key)
      // What is given back holds up nobody; sent again, the payment is waited for by whoever sent it.
      if (verb === 'release') witness.leftWaiting.delete(key)
    },
    alarm(event, key) {
      if (event !== 'payment-vanished' && event !== 'payment-lost') {
        promise(known.has(event), `an alarm that means something: ${event}`)
        promise(event !== 'work-failed', 'I11: no exception in a loop')
        return
      }
      if (event === 'payment-lost') witness.alarms.add(key)
    },
  }
}

function noteAvailability({ olderInDoubt, siblingOf, world }: Witness, key: string, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null || !('prior' in answer)) return
  const sibling = answer.prior as Purchase | undefined
  if (sibling === undefined) siblingOf.delete(key)
  else siblingOf.set(key, keyOf(sibling.payment))
  if (sibling?.state.kind === 'reserved') olderInDoubt.set(key, { key: keyOf(sibling.payment), step: world.step })
  else olderInDoubt.delete(key)
}

function checkRelease({ world, lastVerdict, ended: ends }: Witness, key: string, { purchase, dead }: Releasing): void {
  // Where an end was undone by a reorganisation, what is given back is watched, and gets its block or a credit.
  const ended = !world.doubtful.has(key) || lastVerdict.get(key) === 'void' || (world.undone.has(key) && !dead)
  promise(ended, 'a settlement in doubt never frees a block', key)
  if (lastVerdict.get(key) === 'void') ends.add(key)
  promise(!dead || isDead(world, purchase.payment), 'a payment that may yet land is watched', key)
}

/** What an earlier life of the server left open was looked at, by whatever run, before anything is sold. */
function checkReconciled(witness: Witness): void {
  const { claimed, lookedAt, life } = witness
  const startedAt = life?.startedAt ?? 0
  for (const [key, { by }] of claimed) {
    // What a living server holds is its own business, and what one left that died later came after the look.
    if (by === life || (by?.diedAt ?? Infinity) > startedAt) continue
    if (rowOf(witness, key)?.state.kind !== 'reserved') continue
    promise((lookedAt.get(key) ?? -1) > startedAt, 'what was left open is looked at first', key)
  }
}

const RECEIPT_KEPT_MS = 10 * 60_000

function checkClaim(witness: Witness, claimed: string): void {
  checkHolds(witness, claimed)
  const asked = witness.claiming.get(claimed)
  if (asked === undefined) return
  const { payment, target } = asked
  const { world, signed, leftWaiting, surveyedAt, skewed } = witness
  const surveyed = surveyedAt.get(keyOf(payment)) ?? -1
  checkReconciled(witness)
  witness.ended.delete(claimed)
  witness.claimed.set(claimed, { step: world.step, by: witness.life })
  for (const other of signed) {
    if (other.payer !== payment.payer || other.nonce === payment.nonce) continue
    const held = rowOf(witness, keyOf(other))
    if (held?.target !== target) continue
    const key = keyOf(other)
    const isWaiting = (leftWaiting.get(key) ?? Infinity) < surveyed
    const isOpen = held.state.kind === 'reserved' && (held.state.uncertain || isWaiting)
    promise(!isOpen, 'I7: no second purchase of a payer for a target while one is in doubt', key)
    if (held.state.kind !== 'sold' || skewed) continue
    const isOld = world.scheduler.elapsed() + 1_700_000_000_000 - held.state.claimedAt >= RECEIPT_KEPT_MS - 60_000
    promise(
      isOld || !isWaiting || isUnknowable(witness, key),
      'nobody is charged anew before an owed receipt was handed over',
      key,
    )
  }
}

/**
 * Who left while the sale, or the delivery of its receipt, was being written is owed the receipt from the next write on.
 * Until that only its own server knows, and if it dies nobody does, as when a process dies right before an answer.
 */
const isUnknowable = ({ leftLate, isTwin }: Witness, key: string): boolean =>
  leftLate.has(key) && (isTwin || leftLate.get(key)?.diedAt !== undefined)

function checkHolds(witness: Witness, key: string): void {
  const payer = rowOf(witness, key)?.payment.payer
  if (witness.signed.length <= HOLDS_MAX) return
  const held = witness.signed.filter(
    (payment) => payment.payer === payer && rowOf(witness, keyOf(payment))?.state.kind === 'reserved',
  )
  promise(held.length <= HOLDS_MAX, 'nobody holds more blocks than one may', key)
}

/** Notes that a client hung up while nobody else waited for the same payment. */
export function noteHangUp(witness: Witness, payment: Payment): void {
  const key = keyOf(payment)
  const row = rowOf(witness, key)
  noteLate(witness, key)
  if (row?.state.kind === 'reserved') witness.leftWaiting.set(key, witness.world.step)
}

function noteLate({ world, leftLate, siblingOf, life }: Witness, own: string): void {
  for (const key of [own, siblingOf.get(own)]) {
    if (key === undefined) continue
    const isWritten = ['finalize', 'markAnswered'].some((verb) => world.scheduler.isWaiting(verb, key))
    if (isWritten) leftLate.set(key, life)
    else leftLate.delete(key)
  }
}

/** Holds one answer to a buyer against what is so at that moment. */
export function checkAnswer(witness: Witness, { payment, target }: Order, outcome: Outcome, startedAt: number): void {
  const { world, leftWaiting } = witness
  const key = keyOf(payment)
  const known = rowOf(witness, key)
  if (outcome.kind === 'bought') {
    leftWaiting.delete(keyOf(outcome.purchase.payment))
    checkReceipt(payment, target, outcome.purchase, rowOf(witness, keyOf(outcome.purchase.payment)))
    return
  }
  const { code } = outcome.failure
  if ((code === 'settlement_unknown' || code === 'deed_not_persisted') && known?.state.kind === 'reserved')
    leftWaiting.set(key, world.step)
  if (denials.has(code)) checkDenial(witness, payment, code, known, startedAt)
}

function checkDenial(
  witness: Witness,
  payment: Payment,
  code: string,
  known: Purchase | undefined,
  startedAt: number,
): void {
  const { world } = witness
  const key = keyOf(payment)
  const at = (steps: ReadonlyMap<string, number>) => steps.get(key) ?? -1
  const isPaid = isOurs(witness, key, world.spendings.get(key))
  // Of what another server has seen and not written yet, only its lease tells.
  const isUnwritten = witness.isTwin && (known === undefined || known.state.kind === 'released')
  promise(
    !isPaid || isUnwritten || at(witness.paidAt) < startedAt,
    `I6: no ${code} once the money was seen to move`,
    key,
  )
  // What the chain showed to have ended, no other server's settlement can move any more.
  const isUnlooked = at(witness.settledAt) > at(witness.toldAt) && witness.lastVerdict.get(key) !== 'void'
  promise(!isUnlooked, `I6: no ${code} after a settlement without a look`, key)
  // What the chain showed to one server says nothing of what it shows to the other.
  const shown = witness.isTwin ? -1 : (world.shown.get(key) ?? -1)
  if (known !== undefined && isPaid) promise(shown < startedAt, `I6: no ${code} after the money moved`, key)
  const verified = at(witness.verifiedAt)
  const isRefusal = code === 'payment_required' && verified >= at(witness.runAt)
  promise(
    !isRefusal || at(witness.askedAt) > verified,
    `I6: no ${code} for what was verified without a look since`,
    key,
  )
  const moved = world.spendings.get(key)?.step ?? -1
  const isLate = isPaid && verified >= at(witness.runAt) && moved >= verified && shown >= verified
  promise(!isLate, `I6: no ${code} for what moved after it was verified`, key)
  const open = known !== undefined && world.doubtful.has(key) && truth(world, payment).kind === 'unspent'
  // An end that was seen may have been undone since; the payment is watched, and keeps its block or credit if it lands.
  const wasVoid = witness.lastVerdict.get(key) === 'void' || world.undone.has(key)
  promise(!open || wasVoid, `I6: no ${code} while a settlement in doubt may yet land`, key)
  const older = witness.olderInDoubt.get(key)
  // A payment that the chain showed to have ended is told so, and the next one finds the older purchase again.
  const hasEnded = witness.lastVerdict.get(key) === 'void' && at(witness.askedAt) >= at(witness.runAt)
  if (
    !hasEnded &&
    code === 'payment_required' &&
    older !== undefined &&
    older.step >= at(witness.runAt) &&
    payment.signature === SIGNED
  )
    promise(rowOf(witness, older.key)?.state.kind !== 'reserved', 'nobody pays while an older payment may land', key)
}

function checkReceipt(payment: Payment, target: Target, receipt: SoldPurchase, row: Purchase | undefined): void {
  const key = keyOf(payment)
  promise(row !== undefined && isSold(row), 'I5: a receipt is for a sale that is written', key)
  promise(receipt.payment.payer === payment.payer, "I5: a receipt is for the payer's own block", key)
  promise(receipt.block === row.block, 'I5: a receipt says what is written', key)
  const asked = target === 'next' ? row.target === 'next' : receipt.block === target
  promise(asked, 'I5: a receipt is for the block asked for', key)
  const own = receipt.payment.nonce === payment.nonce
  promise(own || row.target === target, "I5: an older purchase's receipt is for the same target", key)
}

/** Whether a payment moved its money to us after a server first saw it unspent. */
const isOurs = ({ unspent }: Witness, key: string, spending: Spending | undefined): spending is Spending =>
  spending?.kind === 'transfer' && unspent.has(key)

/** What every payment, block and sale must be once all faults have ended and everything has come to rest. */
export function checkAtRest(
  witness: Witness,
  wall: readonly BlockIndex[],
  polled: readonly Sale[],
): { readonly charged: number; readonly sold: number } {
  const { world, book, signed } = witness
  const owners = new Map<BlockIndex, string>()
  let [charged, credits, unpaid] = [0, 0, 0]
  for (const payment of signed) {
    const key = keyOf(payment)
    const row = rowOf(witness, key)
    if (row === undefined) continue
    const spending = world.spendings.get(key)
    const paid = isOurs(witness, key, spending)
    if (paid) charged += 1
    const { kind } = row.state
    promise(kind !== 'reserved', 'I9: nothing is held at the end', key)
    promise(!paid || kind === 'sold' || kind === 'credited', 'I3: a payment has a block or a credit', key)
    if (!paid && kind !== 'released') unpaid += 1
    if (kind === 'credited') {
      credits += 1
      const proven = paid ? row.state.tx === spending.tx || world.undone.has(key) : world.undone.has(key)
      promise(proven, 'I2: a credit was paid', key)
    }
    promise(row.state.kind !== 'released' || row.state.dead, 'I9: nothing is watched for ever', key)
    if (!isSold(row)) continue
    promise(!owners.has(row.block), 'I1: a block has one owner', key)
    owners.set(row.block, key)
    checkDeed(witness, row, paid ? spending : undefined)
  }
  promise(charged + unpaid === owners.size + credits, 'I4: transfers are claimed blocks and credits')
  for (const block of wall)
    promise(
      (settled(Promise.resolve(book.ledger.space(block))) === 'claimed') === owners.has(block),
      'I1: a claimed block was sold once',
    )
  checkFeed(book, polled, owners)
  return { charged, sold: owners.size }
}

function checkDeed({ world, alarms }: Witness, { payment, state }: SoldPurchase, paidBy: Spending | undefined): void {
  const key = keyOf(payment)
  if (paidBy !== undefined) {
    promise(state.settled && state.tx === paidBy.tx, 'I2: a sale names the transfer that paid it', key)
    return
  }
  promise(!state.settled, 'I2: what was not paid is not called settled', key)
  promise(alarms.has(key), 'I2: the operator is told of a sale that was not paid', key)
  const onWord = world.words.has(`${key} ${state.tx}`)
  promise(
    onWord || world.undone.has(key),
    'I2: what was not paid is sold only on a word, or on blocks since replaced',
    key,
  )
}

function checkFeed(book: Book, polled: readonly Sale[], owners: ReadonlyMap<BlockIndex, string>): void {
  const sales = settled(book.sales(0))
  promise(
    sales.every(({ seq }, at) => seq === at + 1),
    'I8: the feed is numbered without gaps',
  )
  promise(
    sales.every(({ at }, i) => at >= (sales[i - 1]?.at ?? 0)),
    'I8: the times of the feed never go back',
  )
  const seen = JSON.stringify([...polled, ...settled(book.sales(polled.length))])
  promise(seen === JSON.stringify(sales), 'I8: a reader who followed saw every sale once')
  promise(
    sales.length === owners.size && sales.every(({ block }) => owners.has(block)),
    'I8: the feed is what was sold',
  )
}
