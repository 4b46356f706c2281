import { expect, test } from 'bun:test'
import { acceptRestoredBackup, findLostPayments } from '../../../server/books/accept-restored-backup.ts'
import { STRAY_BY_HAND, STRAY_NOTE } from '../../../server/domain/purchase/account.ts'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { StorePosition } from '../../../server/domain/store-position.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { reserveTarget } from '../../support/engine.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { HEAD, NOW, createTestPayment, TERMS, createWalletAddress } from '../../support/samples.ts'

// Goal: an operator who accepts a restored copy sees all payments that may be lost, and they become credits. Method: a
// chain and a wall in memory, and payments that only the chain knows.

async function openWorld() {
  const [chain, engine] = [createFakeChain(), await openBlankWall()]
  const written: StorePosition[] = []
  const witness = { write: async (position: StorePosition) => void written.push(position) }
  await engine.checkpoint.advanceTo(HEAD)
  return { ...engine, chain, terms: TERMS, witness, written, clock: createFakeClock(NOW) }
}

/** The lost payments; throws if the chain is silent. */
async function listLostPayments(
  world: Awaited<ReturnType<typeof openWorld>>,
  witnessed?: StorePosition,
  others?: readonly Address[],
) {
  const lost = await findLostPayments(world, witnessed, others)
  if (lost === 'silent') throw new Error('the chain is silent')
  return lost
}

test('before a copy is accepted, payments that may be lost or were booked as stray are listed, and known or resolved payments are left out', async () => {
  const world = await openWorld()
  await reserveTarget(world, 'next', createTestPayment(1, 1))
  for (const n of [1, 2, 3, 4, 5]) world.chain.transferPayment(createTestPayment(n, n))
  await world.payouts.recordReference(createTestPayment(3, 3), STRAY_NOTE, NOW)
  await world.payouts.recordReference(createTestPayment(4, 4), STRAY_BY_HAND, NOW)
  await world.payouts.recordReference(createTestPayment(5, 5), 'refund 0x1', NOW)
  const { orphans } = await listLostPayments(world)
  expect(orphans.map(({ payer, isBooked }) => [payer, isBooked])).toEqual([
    [createWalletAddress(2), false],
    [createWalletAddress(3), true],
  ])
  expect(await world.checkpoint.readHeight()).toBe(HEAD)
})

test('accepting a copy also searches an address that only the witness contains, and stores it in the new witness', async () => {
  const world = await openWorld()
  const since = createWalletAddress(9)
  world.chain.transferPayment(createTestPayment(2, 2, { to: since, amount: 370_000n }))
  expect((await listLostPayments(world)).orphans).toEqual([])
  const lost = await listLostPayments(world, { change: 9, payment: 9, height: HEAD, payees: [since] })
  expect(lost.orphans).toMatchObject([{ payer: createWalletAddress(2), payTo: since, amount: 370_000n }])
  await acceptRestoredBackup(world, lost)
  expect(world.written).toMatchObject([{ height: HEAD + 1n, payees: [since, TERMS.payTo] }])
})

test('accepting a copy also searches every address that the operator names, and knows these addresses from then on', async () => {
  const world = await openWorld()
  const earlier = [createWalletAddress(8), createWalletAddress(9)]
  for (const [n, to] of earlier.entries()) world.chain.transferPayment(createTestPayment(n + 2, n + 2, { to }))
  const lost = await listLostPayments(world, undefined, earlier)
  expect(lost.orphans.map(({ payTo }) => payTo)).toEqual(earlier)
  await acceptRestoredBackup(world, lost)
  for (const n of [2, 3])
    expect(await world.ledger.find(createTestPayment(n, n))).toMatchObject({ state: { kind: 'credited' } })
  expect(await world.checkpoint.listPayees()).toEqual(expect.arrayContaining(earlier))
})

test('accepting a copy credits each lost payment, even one that the wall had booked as stray, and stores the accepted height', async () => {
  const world = await openWorld()
  const tx = world.chain.transferPayment(createTestPayment(2, 2))
  world.chain.transferPayment(createTestPayment(3, 3))
  await world.payouts.recordReference(createTestPayment(3, 3), STRAY_NOTE, NOW)
  await acceptRestoredBackup(world, await listLostPayments(world))
  expect(await world.ledger.find(createTestPayment(2, 2))).toMatchObject({ state: { kind: 'credited', tx } })
  expect(await world.ledger.find(createTestPayment(3, 3))).toMatchObject({ state: { kind: 'credited' } })
  expect([await world.checkpoint.readHeight(), await world.checkpoint.readAcceptanceTime()]).toEqual([HEAD + 2n, NOW])
  expect((await listLostPayments(world)).orphans).toEqual([])
})
