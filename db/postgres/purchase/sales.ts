/** Sales: what makes a held block its payer's for ever. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { Hash, PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { isSold, type Purchase, type Sold, type SoldPurchase } from '../../../server/domain/purchase/purchase.ts'
import { blocksHeld, ownTarget, placeOf, targetOf } from '../../../server/domain/purchase/target.ts'
import type { Persona } from '../../../server/domain/wall/log.ts'
import { FACE_PARTS, NAME_PARTS, saidParts } from '../../../server/domain/wall/moderation.ts'
import { partOf, trustPixels } from '../../../shared/pixels.ts'
import { changeRow } from '../../changes.ts'
import type { SummedRow } from '../../row-checksums.ts'
import type { FaceRow } from '../../rows.ts'
import { nextEntry } from '../counters.ts'
import { agentAfter, findAgent } from '../wall/agent-rows.ts'
import { moderate } from '../wall/moderation.ts'
import { isBanned, moderateWallet } from '../wall/wallet-moderation.ts'
import { amend, amendAll, put, putAll, writeAll, type Work, type Write } from '../writes.ts'
import { find, known } from './payments.ts'
import { lockBlocks, openBlocks, type BlockRow } from './places.ts'

/** What a sale rests on. */
type Proof = { readonly tx: Hash; readonly settled: boolean }

/** Sells a held block or area. A sale that is already made is answered as it is, once noted that it was seen on the chain. */
export async function finalize(
  work: Work,
  key: PaymentKey,
  tx: Hash,
  settled: boolean,
  now: UnixMs,
): Promise<SoldPurchase> {
  const held = await known(work, key)
  const { purchase } = held
  const { state } = purchase
  if (state.kind === 'reserved') {
    const blocks = await lockBlocks(work.queries, blocksHeld(purchase))
    const change = (after: SummedRow<'payments'>) => amend('payments', held.row, after)
    const proof = { tx, settled }
    return { ...purchase, state: await sell(work, { payment: held.row, blocks, change }, proof, now) }
  }
  if (!isSold(purchase)) throw new StaleWriteError('only a held or sold payment can be finalized')
  if (!settled || purchase.state.settled) return purchase
  await confirm(work, key, tx)
  return { ...purchase, state: { ...purchase.state, settled: true, tx } }
}

/** Notes in which transaction the chain shows a sale's payment. */
export const confirm = (work: Work, key: PaymentKey, tx: Hash): Promise<void> =>
  look(work, key, 'a sale to confirm', ({ settled, looks }) => ({
    settled: 1,
    tx,
    looks: Math.max(Number(looks), Number(settled)),
  }))

/** Notes for good in which transaction the chain shows a sale's payment. */
export const markFinal = (work: Work, key: PaymentKey, tx: Hash): Promise<void> =>
  look(work, key, 'a sale to mark as final', () => ({ settled: 1, tx, looks: 2 }))

/** Notes that the chain does not show a sale's payment; after look 2 it is not looked for again. */
export const markMissing = (work: Work, key: PaymentKey, looks: 0 | 2): Promise<void> =>
  look(work, key, 'a sale that is not paid', () => ({ settled: 0, looks }))

async function look(
  work: Work,
  key: PaymentKey,
  what: string,
  changes: (row: SummedRow<'payments'>) => Partial<SummedRow<'payments'>>,
): Promise<void> {
  const { row, purchase } = await known(work, key)
  if (!isSold(purchase)) throw new Error(`${what}: the payment is ${purchase.state.kind}`)
  await writeAll(work.queries, [amend('payments', row, changes(row))])
}

/** Gives a payment that landed while nothing was held for it its block or area, else the next open one, else a credit. */
export async function fulfilLatePayment(work: Work, key: PaymentKey, tx: Hash, now: UnixMs): Promise<Purchase> {
  const { row, purchase } = await known(work, key)
  const { target, state: before } = purchase
  if (before.kind === 'sold' || before.kind === 'credited') return purchase
  if (before.kind === 'reserved') throw new StaleWriteError('a block is held for the payment')
  const own = await openBlocks(work, ownTarget(purchase))
  const blocks = typeof own === 'string' ? await openBlocks(work, targetOf('next', placeOf(target))) : own
  const change = (after: SummedRow<'payments'>) => amend('payments', row, after)
  if (typeof blocks === 'string') {
    await writeAll(work.queries, [change({ ...row, state: 'credited', dead: 0, tx })])
    return { ...purchase, state: { kind: 'credited', tx } }
  }
  const state = await sell(work, { payment: row, blocks, change }, { tx, settled: true }, now)
  return { ...purchase, block: blocks[0].i, state }
}

/** A payment, the blocks it is to get, which are locked, and how its row is written. */
type Selling = {
  readonly payment: SummedRow<'payments'> & Persona & FaceRow
  readonly blocks: readonly BlockRow[]
  readonly change: (after: SummedRow<'payments'>) => Write
}

async function sell(work: Work, { payment, blocks, change }: Selling, proof: Proof, now: UnixMs): Promise<Sold> {
  for (const block of blocks) work.check('blocks', block)
  const before = await findAgent(work, String(payment.payer))
  const seqs = blocks.length
  const entry = await nextEntry(work.queries, now, {
    entries: seqs,
    seq: seqs,
    ...(before === undefined ? { agent: 1 } : {}),
  })
  const { pixels, message, link } = payment
  const faces = blocks.map((_, i) => ({
    pixels: pixels && partOf(trustPixels(pixels, blocks.length), i),
    message,
    link,
  }))
  const agent = agentAfter(payment, before, entry)
  const persona = { name: agent.name, framework: agent.framework }
  const { number, at } = entry
  const seq = entry.seq - seqs + 1
  const changes = blocks.map(({ i: block }, at_) =>
    changeRow({
      number: number + at_,
      at,
      kind: 'sale',
      seq: seq + at_,
      block,
      agent: agent.id,
      ...persona,
      ...faces[at_],
    }),
  )
  const sale = {
    state: 'sold',
    dead: 0,
    uncertain: 0,
    block: blocks[0]?.i ?? null,
    tx: proof.tx,
    seq,
    claimed_at: at,
    settled: proof.settled ? 1 : 0,
    unanswered: 1,
  }
  const deed = { state: 'claimed', payment: payment.id, agent: agent.id }
  await writeAll(
    work.queries,
    [
      before === undefined ? put('agents', agent) : amend('agents', before, agent),
      ...putAll('changes', changes),
      change({ ...payment, ...sale }),
      ...amendAll('blocks', blocks, (_, i) => ({ ...deed, ...faces[i], changed: number + i })),
    ],
    true,
  )
  if (before !== undefined && (await isBanned(work, agent.id))) {
    for (const { i } of blocks) await moderate(work, i, 'hide', saidParts(FACE_PARTS, payment), now)
    await moderateWallet(work, before.wallet, { act: 'hide', parts: saidParts(NAME_PARTS, payment) }, now)
  }
  const { tx, settled } = proof
  return { kind: 'sold', tx, claimedAt: at, ...persona, settled, unanswered: true }
}

/** Writes that the payer of a held block is told to wait. */
export async function markUncertain(work: Work, key: PaymentKey): Promise<Purchase> {
  const { row, purchase } = await known(work, key)
  const { state } = purchase
  if (state.kind !== 'reserved') throw new StaleWriteError(`a ${state.kind} payment cannot be uncertain`)
  if (!state.uncertain) await writeAll(work.queries, [amend('payments', row, { uncertain: 1 })])
  return { ...purchase, state: { ...state, uncertain: true } }
}

/** Notes that the receipt of a sale went out to its payer. */
export async function markAnswered(work: Work, key: PaymentKey): Promise<void> {
  const sale = await find(work, key)
  if (sale === undefined || !isSold(sale.purchase) || !sale.purchase.state.unanswered) return
  await writeAll(work.queries, [amend('payments', sale.row, { unanswered: 0 })])
}
