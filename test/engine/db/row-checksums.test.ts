import { expect, test } from 'bun:test'
import { createPorts } from '../../../db/sqlite/open.ts'
import { listDamagedRows } from '../../../db/sqlite/row-checksums.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { connectBlank } from '../../support/blank-wall.ts'
import { failureOf, hold, landUnclaimed, sell } from '../../support/engine.ts'
import { blockOf, hash, HEAD, listingOf, NOW, paymentOf, SILENT, createWalletAddress } from '../../support/samples.ts'

// Goal: the rows that a purchase writes fit their checksums, and earlier damage is noticed before a sale.
// Method: the tables of a wall in memory are checked as at a start; damage is a checksum that fits no row.

const NOBODYS_SUM = 'zeroblob(8)'

const PICTURE = trustPixels(
  Uint8Array.from({ length: 600 }, (_, at) => at % 240),
  6,
)

test('every row that a purchase writes fits its checksum, whatever the outcome of the purchase', async () => {
  const connection = connectBlank()
  const wall = createPorts(connection)
  await sell(wall, '3,4', 1, 1, listingOf({ name: 'Zoë', message: 'déjà vu 🧱', link: null }))
  await sell(wall, 'next', 2, 2, SILENT)
  const area = await hold(wall, '80,45,3x2', paymentOf(1, 3), listingOf({ pixels: PICTURE, message: '🧱'.repeat(10) }))
  expect(listDamagedRows(connection)).toEqual([])
  await wall.ledger.finalize(area, hash(3), false, NOW)
  const released = await hold(wall, 'next,3x2', paymentOf(3, 4), listingOf({ pixels: PICTURE, name: null }))
  await wall.ledger.release(released, false)
  await hold(wall, 'next,3x2', paymentOf(3, 4), listingOf({ pixels: PICTURE }))
  const late = { payment: paymentOf(4, 5), target: '10,10,2x1', listing: SILENT, head: HEAD } as const
  await landUnclaimed(wall, late, hash(5))
  await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'ban' }, NOW)
  await sell(wall, '7,7', 1, 6)
  expect(listDamagedRows(connection)).toEqual([])
  connection.close()
})

test('purchases of one commit that take the same blocks one after the other leave rows that fit their checksums', async () => {
  const connection = connectBlank()
  const { ledger } = createPorts(connection)
  const first = await hold({ ledger }, '80,45,3x2', paymentOf(1, 1), SILENT)
  const [, second] = await Promise.all([
    ledger.release(first, true),
    ledger.claim('80,45,3x2', paymentOf(2, 2), SILENT, HEAD, NOW, []),
  ])
  expect(second).toMatchObject({ kind: 'claimed' })
  expect(listDamagedRows(connection)).toEqual([])
  connection.close()
})

test('if a block of an area is damaged, the area is neither held nor sold', async () => {
  for (const isHeld of [false, true]) {
    const connection = connectBlank()
    const { ledger, ledgerReader } = createPorts(connection)
    const held = isHeld ? await hold({ ledger }, '80,45,3x2', paymentOf(1, 1), SILENT) : undefined
    connection.run(`UPDATE blocks SET sum = ${NOBODYS_SUM} WHERE i = ${blockOf('81,46')}`)
    const writing = held
      ? ledger.finalize(held, hash(1), true, NOW)
      : ledger.claim('80,45,3x2', paymentOf(1, 1), SILENT, HEAD, NOW, [])
    expect(await failureOf(writing)).toBeInstanceOf(StoreUnavailable)
    expect(await ledgerReader.held()).toHaveLength(isHeld ? 6 : 0)
    expect((await ledger.find(paymentOf(1, 1)))?.state.kind).toBe(held?.state.kind)
    connection.close()
  }
})
