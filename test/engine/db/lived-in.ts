/** Fills a wall with all kinds of data: sales, edits, hidden parts, open purchases, texts of every kind. */

import type { Engine } from '../../../db/engine.ts'
import type { Listing } from '../../../server/domain/purchase/listing.ts'
import { reserveTarget, sellBlock, findStoredPurchase, recordLatePayment } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  createPixels,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

/** Texts that an encoding, an escape or a sort order could damage. */
const ODD_TEXTS = [
  `it's "so"; DROP TABLE blocks; -- \\x00 \\u0000 $1 {"a":[null]} %s`,
  'ÿ\u0300é e\u0301 Ω ß ﬃ 𝕎 aa Å \ufeff',
  '👩🏽‍🚀🏴󠁧󠁢󠁳󠁣󠁴󠁿 1️⃣',
  'مرحبا שלום 你好 \u{10ffff}\u{ffff}',
  '\\',
  ' ',
]

const chooseText = (at: number) => ODD_TEXTS[at % ODD_TEXTS.length] ?? ''

function createListing(at: number): Listing {
  if (at % 7 === 0) return SILENT
  return createTestListing({
    name: at % 3 === 0 ? null : chooseText(at),
    framework: at % 2 === 0 ? null : chooseText(at + 1),
    message: chooseText(at + 2),
    link: at % 5 === 0 ? null : `https://ada.example/?q=${at}%27#'`,
    pixels: at % 4 === 0 ? null : createPixels(at % 200),
    painter: at % 6 === 0 ? createWalletAddress(100 + at) : null,
  })
}

/** Sells the next `count` blocks to a dozen wallets, with edits, names, moderation and a chain checkpoint. */
export async function addHistory(wall: Engine, count: number): Promise<void> {
  for (let at = 1; at <= count; at += 1) {
    const payer = 1 + ((at * at) % 12)
    const { block } = await sellBlock(wall, 'next', payer, at, createListing(at), NOW + at)
    if (at % 3 === 0)
      await wall.blocks.edit(block, createTestEdit(at, { message: chooseText(at), link: null }), NOW + at)
    if (at % 8 === 0) await wall.blocks.edit(block, createTestEdit(100_000 + at, { pixels: createPixels(9) }), NOW + at)
    if (at % 10 === 0) await wall.moderation.moderate(block, 'hide', ['message', 'pixels'], NOW + at)
    if (at % 20 === 0) await wall.moderation.moderate(block, 'unhide', ['pixels'], NOW + at)
    if (at % 11 === 0)
      await wall.agents.namePainter(createWalletAddress(payer), {
        painter: at % 2 === 0 ? null : createWalletAddress(at),
        ts: NOW + at,
      })
    if (at % 9 === 0)
      await wall.agents.register(createWalletAddress(payer), createTestIdentity(at, { name: chooseText(at) }), NOW + at)
  }
  await wall.moderation.moderateWallet(createWalletAddress(2), { act: 'hide', parts: ['name'] }, NOW + count)
  await wall.moderation.moderateWallet(createWalletAddress(5), { act: 'ban' }, NOW + count)
  await wall.moderation.recordAct({ at: NOW, who: 'ada', act: 'ban', what: 'wallet', parts: '', why: 'spam' })
  await wall.checkpoint.advanceTo(25_000_000n)
}

/** Leaves a purchase in each state that is not final, and a sale in each state that is checked again. */
export async function addOpenPurchases(wall: Engine, first: number): Promise<void> {
  const { ledger, payouts } = wall
  const createPaymentAt = (offset: number) => createTestPayment(20 + offset, first + offset)
  await reserveTarget(wall, 'next', createPaymentAt(0))
  await ledger.markUncertain(await reserveTarget(wall, parseBlockOrThrow('0,0'), createPaymentAt(1), createListing(1)))
  await ledger.release(await reserveTarget(wall, parseBlockOrThrow('1,0'), createPaymentAt(2)), false)
  await ledger.release(await reserveTarget(wall, 'next', createPaymentAt(3)), true)
  const late = await reserveTarget(wall, parseBlockOrThrow('2,0'), createPaymentAt(4))
  await ledger.release(late, false)
  await ledger.fulfilLatePayment(late, toHash(first + 4), NOW)
  const unseen = await ledger.finalize(
    await reserveTarget(wall, 'next', createPaymentAt(5)),
    toHash(first + 5),
    false,
    NOW,
  )
  await ledger.finalize(
    await ledger.markUncertain(await reserveTarget(wall, 'next', createPaymentAt(6))),
    toHash(first + 6),
    true,
    NOW,
  )
  await ledger.markFinal(
    await ledger.finalize(await reserveTarget(wall, 'next', createPaymentAt(7)), toHash(1), true, NOW),
    toHash(2),
  )
  await ledger.writeOff(await findStoredPurchase(wall, unseen.payment))
  await payouts.recordReference(createPaymentAt(0), chooseText(0), NOW)
  await payouts.recordReference(createPaymentAt(9), 'refund of what no purchase is known for', NOW)
}

/** Records two payments that settled when every block was sold, and pays one of them back. */
export async function addCredits(engine: Engine, first: number): Promise<void> {
  for (const nonce of [first, first + 1]) {
    const payment = createTestPayment(40, nonce)
    await recordLatePayment(engine, { payment, target: 'next', listing: createListing(nonce), head: 1n }, toHash(nonce))
  }
  await engine.payouts.recordReference(createTestPayment(40, first), 'transfer 0xabc', NOW + 1)
}
