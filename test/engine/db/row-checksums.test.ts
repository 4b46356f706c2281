import { expect, test } from 'bun:test'
import { createPorts } from '../../../db/sqlite/open.ts'
import { listDamagedRows } from '../../../db/sqlite/row-checksums.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { connectToBlankWall } from '../../support/blank-wall.ts'
import { catchFailure, reserveTarget, recordLatePayment, sellBlock } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: the rows that a purchase writes match their checksums, and earlier damage is noticed before a sale. Method: the
// tables of a wall in memory are checked as at a start; a wrong checksum stands in for damage.

const NOBODYS_SUM = 'zeroblob(8)'

const PICTURE = trustPixels(
  Uint8Array.from({ length: 600 }, (_, at) => at % 240),
  6,
)

test('every row that a purchase writes matches its checksum, whatever the outcome of the purchase', async () => {
  const connection = connectToBlankWall()
  const wall = createPorts(connection)
  await sellBlock(wall, '3,4', 1, 1, createTestListing({ name: 'Zoë', message: 'déjà vu 🧱', link: null }))
  await sellBlock(wall, 'next', 2, 2, SILENT)
  const area = await reserveTarget(
    wall,
    '80,45,3x2',
    createTestPayment(1, 3),
    createTestListing({ pixels: PICTURE, message: '🧱'.repeat(10) }),
  )
  expect(listDamagedRows(connection)).toEqual([])
  await wall.ledger.finalize(area, toHash(3), false, NOW)
  const released = await reserveTarget(
    wall,
    'next,3x2',
    createTestPayment(3, 4),
    createTestListing({ pixels: PICTURE, name: null }),
  )
  await wall.ledger.release(released, false)
  await reserveTarget(wall, 'next,3x2', createTestPayment(3, 4), createTestListing({ pixels: PICTURE }))
  const late = { payment: createTestPayment(4, 5), target: '10,10,2x1', listing: SILENT, head: HEAD } as const
  await recordLatePayment(wall, late, toHash(5))
  await wall.moderation.moderateWallet(createWalletAddress(1), { act: 'ban' }, NOW)
  await sellBlock(wall, '7,7', 1, 6)
  expect(listDamagedRows(connection)).toEqual([])
  connection.close()
})

test('if purchases in one commit take the same blocks one after the other, the rows match their checksums', async () => {
  const connection = connectToBlankWall()
  const { ledger } = createPorts(connection)
  const first = await reserveTarget({ ledger }, '80,45,3x2', createTestPayment(1, 1), SILENT)
  const [, second] = await Promise.all([
    ledger.release(first, true),
    ledger.claim('80,45,3x2', createTestPayment(2, 2), SILENT, HEAD, NOW, []),
  ])
  expect(second).toMatchObject({ kind: 'claimed' })
  expect(listDamagedRows(connection)).toEqual([])
  connection.close()
})

test('if the row of a block is damaged, an area with that block can be neither held nor sold', async () => {
  for (const isHeld of [false, true]) {
    const connection = connectToBlankWall()
    const { ledger, ledgerReader } = createPorts(connection)
    const held = isHeld ? await reserveTarget({ ledger }, '80,45,3x2', createTestPayment(1, 1), SILENT) : undefined
    connection.run(`UPDATE blocks SET sum = ${NOBODYS_SUM} WHERE i = ${parseBlockOrThrow('81,46')}`)
    const writing = held
      ? ledger.finalize(held, toHash(1), true, NOW)
      : ledger.claim('80,45,3x2', createTestPayment(1, 1), SILENT, HEAD, NOW, [])
    expect(await catchFailure(writing)).toBeInstanceOf(StoreUnavailable)
    expect(await ledgerReader.listHeld()).toHaveLength(isHeld ? 6 : 0)
    expect((await ledger.find(createTestPayment(1, 1)))?.state.kind).toBe(held?.state.kind)
    connection.close()
  }
})
