/** What must hold in every history, in the words of the promises. Nothing here asks how the script came to its answer. */

import { keyOf, type Payment, type Target } from '../../server/domain/payment.ts'
import {
  isSold,
  type Answer,
  type Order,
  type Outcome,
  type Purchase,
  type Request,
  type SoldPurchase,
} from '../../server/domain/purchase.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Book, Sale } from './ledger-model.ts'
import type { Run, Watcher } from './process.ts'
import { SIGNED } from './samples.ts'
import { truth, type Spending, type World } from './world.ts'

/** One broken promise ends the history. */
export class Violation extends Error {
  override name = 'Violation'
}

function promise(held: boolean, words: string, key?: string): asserts held {
  if (!held) throw new Violation(key === undefined ? words : `${words}: payment ${key.slice(-4)}`)
}

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
  readonly storeSound: boolean // the store never fails in this history
  readonly unspentAt: Map<string, bigint> // lowest height at which a payment was read as unspent
  readonly toldToWait: Set<string>
}

export const witnessOf = (world: World, book: Book, signed: readonly Payment[]): Witness => ({
  world,
  book,
  signed,
  storeSound: world.faults.storeBusy === 0 && world.faults.storeBroken === 0,
  unspentAt: new Map(),
  toldToWait: new Set(),
})

/** Watches what a process asks for while it happens. */
export const watcherOf = (witness: Witness): Watcher => ({
  async asked(request, reply, run) {
    if (!('answer' in reply)) return
    const { answer } = reply
    if (run.frames.length === 1) remember(witness, request, answer, run)
    if (request.do === 'settle') {
      const held = await witness.book.ledger.find(request.purchase.payment)
      promise(held?.state.kind === 'reserved', 'money is asked to move only for a held block', keyOf(run.about))
    }
    if (request.do === 'release') checkRelease(witness, request.purchase)
    if (request.do === 'claim' && typeof answer === 'object' && 'kind' in answer && answer.kind === 'claimed')
      await checkClaim(witness, request.payment, request.target)
  },
})

function remember({ world, unspentAt }: Witness, request: Request, answer: Answer, run: Run): void {
  if (request.do === 'settle') run.settledAt = world.step
  if (request.do === 'survey' && typeof answer === 'object' && 'sibling' in answer)
    run.olderInDoubt = answer.sibling?.state.kind === 'reserved' ? answer.sibling.payment : undefined
  if ((request.do !== 'ask-chain' && request.do !== 'read-chain') || !heard(answer)) return
  run.lookedAt = world.step
  run.sawPaid ||= typeof answer === 'object' && 'kind' in answer && answer.kind === 'paid'
  if (request.do === 'read-chain' && typeof answer === 'object' && 'spent' in answer && !answer.spent) {
    const key = keyOf(request.key)
    if (!unspentAt.has(key)) unspentAt.set(key, answer.head)
  }
}

function checkRelease({ world }: Witness, { payment, head }: Purchase): void {
  const ended = !world.doubtful.has(keyOf(payment)) || truth(world, payment, head).kind === 'void'
  promise(ended, 'a settlement in doubt never frees a block', keyOf(payment))
}

async function checkClaim(
  { book, signed, storeSound, toldToWait }: Witness,
  payment: Payment,
  target: Target,
): Promise<void> {
  for (const other of signed) {
    if (other.payer !== payment.payer || other.nonce === payment.nonce) continue
    const held = await book.ledger.find(other)
    if (held?.target !== target || held.state.kind !== 'reserved') continue
    const waits = held.state.doubted || (storeSound && toldToWait.has(keyOf(other)))
    promise(!waits, 'I7: no second purchase of a payer for a target while one is in doubt', keyOf(payment))
  }
}

const heard = (answer: unknown) =>
  answer !== 'silent' &&
  !(typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'silent')

/** Holds one answer to a buyer against what is so at that moment. */
export async function checkAnswer(witness: Witness, order: Order, outcome: Outcome, run: Run): Promise<void> {
  const { world, book, toldToWait } = witness
  const key = keyOf(order.payment)
  const known = await book.ledger.find(order.payment)
  if (outcome.kind === 'bought')
    return checkReceipt(order, outcome.purchase, await book.ledger.find(outcome.purchase.payment))
  const { code } = outcome.failure
  if (code === 'settlement_unknown' && known?.state.kind === 'reserved') toldToWait.add(key)
  if (!denials.has(code)) return
  promise(!run.sawPaid, `I6: no ${code} once this run saw the money move`, key)
  promise(run.settledAt <= run.lookedAt, `I6: no ${code} after a settlement without a look at the chain`, key)
  const spending = world.spendings.get(key)
  if (known !== undefined && isOurs(witness, spending, known)) {
    const seen = spending.step < run.startedAt || spending.step < run.lookedAt
    promise(!seen, `I6: no ${code} after the money moved`, key)
  }
  const open =
    known !== undefined && world.doubtful.has(key) && truth(world, order.payment, known.head).kind === 'unspent'
  promise(!open, `I6: no ${code} while a settlement in doubt may yet land`, key)
  if (code === 'payment_required' && run.olderInDoubt !== undefined && order.payment.signature === SIGNED) {
    const older = await book.ledger.find(run.olderInDoubt)
    promise(older?.state.kind !== 'reserved', 'nobody is asked to pay while an older payment may go through', key)
  }
}

function checkReceipt({ payment, target }: Order, receipt: SoldPurchase, row: Purchase | undefined): void {
  const key = keyOf(payment)
  promise(row !== undefined && isSold(row), 'I5: a receipt is for a sale that is written', key)
  promise(receipt.payment.payer === payment.payer, "I5: a receipt is for the payer's own block", key)
  promise(receipt.block === row.block && receipt.state.tx === row.state.tx, 'I5: a receipt says what is written', key)
  const asked = target === 'next' ? row.target === 'next' : receipt.block === target
  promise(asked, 'I5: a receipt is for the block asked for', key)
  const own = receipt.payment.nonce === payment.nonce
  promise(own || row.target === target, "I5: an older purchase's receipt is for the same target", key)
}

/** Whether a payment moved its money to us after we first looked at it. */
const isOurs = (
  { unspentAt }: Witness,
  spending: Spending | undefined,
  { head, payment }: Purchase,
): spending is Spending =>
  spending?.kind === 'transfer' && BigInt(spending.height) > (unspentAt.get(keyOf(payment)) ?? head)

/** What every payment, block and sale must be once all faults have ended and everything has come to rest. */
export async function checkAtRest(
  witness: Witness,
  wall: readonly BlockIndex[],
  polled: readonly Sale[],
): Promise<{ readonly charged: number; readonly sold: number }> {
  const { world, book, signed } = witness
  const owners = new Map<BlockIndex, string>()
  let charged = 0
  let credits = 0
  let onWord = 0
  for (const payment of signed) {
    const key = keyOf(payment)
    const row = await book.ledger.find(payment)
    if (row === undefined) continue
    const spending = world.spendings.get(key)
    const paid = isOurs(witness, spending, row)
    if (paid) charged += 1
    promise(row.state.kind !== 'reserved', 'I9: nothing is held at the end', key)
    promise(
      !paid || row.state.kind === 'sold' || row.state.kind === 'credited',
      'I3: a payment has a block or a credit',
      key,
    )
    if (row.state.kind === 'credited') credits += 1
    if (!isSold(row)) {
      promise(row.state.kind !== 'credited' || (paid && row.state.tx === spending.tx), 'I2: a credit was paid', key)
      promise(row.state.kind !== 'released' || row.state.dead, 'I9: nothing is watched for ever', key)
      continue
    }
    promise(!owners.has(row.block), 'I1: a block has one owner', key)
    owners.set(row.block, key)
    if (paid)
      promise(row.state.settled && row.state.tx === spending.tx, 'I2: a sale names the transfer that paid it', key)
    else {
      onWord += 1
      promise(!row.state.settled, 'I2: what was not paid is not called settled', key)
      promise(
        world.words.has(`${key} ${row.state.tx}`),
        'I2: what was not paid is sold only on a word that was given',
        key,
      )
    }
  }
  promise(charged + onWord === owners.size + credits, 'I4: transfers are claimed blocks and credits')
  for (const block of wall)
    promise(((await book.ledger.space(block)) === 'claimed') === owners.has(block), 'I1: a claimed block was sold once')
  await checkFeed(book, polled, owners)
  return { charged, sold: owners.size }
}

async function checkFeed(book: Book, polled: readonly Sale[], owners: ReadonlyMap<BlockIndex, string>): Promise<void> {
  const sales = await book.sales(0)
  promise(
    sales.every(({ seq }, at) => seq === at + 1),
    'I8: the feed is numbered without gaps',
  )
  const seen = JSON.stringify([...polled, ...(await book.sales(polled.length))])
  promise(seen === JSON.stringify(sales), 'I8: a reader who followed saw every sale once')
  promise(
    sales.length === owners.size && sales.every(({ block }) => owners.has(block)),
    'I8: the feed is what was sold',
  )
}
