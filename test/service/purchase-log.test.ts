import { expect, test } from 'bun:test'
import { createPaymentHealth } from '../../server/health/payment-health.ts'
import { createReconciler } from '../../server/purchase/reconciler.ts'
import { createSellerWith } from '../support/fakes/seller.ts'
import { toHash, createTestPayment, createWalletAddress } from '../support/samples.ts'
import { openWall, createPaidInit, createPaymentFor } from '../support/service/wall.ts'

type Wall = Awaited<ReturnType<typeof openWall>>

const listFacts = (wall: Wall, event: string) =>
  wall.logger.notes.filter((entry) => entry.event === event).map(({ facts }) => facts)

const LISTING = 'name=Mallory&message=psst&framework=sly&link=https://mallory.example/'

test('a normal purchase is logged as one line, with its block, its transaction and its duration', async () => {
  const wall = await openWall()
  await wall.buyBlock(`/blocks/3,4?${LISTING}`, 1)
  const key = { payer: createWalletAddress(1), nonce: toHash(1) }
  const block = '3,4'
  expect(listFacts(wall, 'step')).toEqual([])
  expect(listFacts(wall, 'purchase')).toEqual([
    { ...key, target: block, outcome: 'bought', block, tx: toHash(1), ms: 0 },
  ])
})

test('an unusual step is logged as a line of its own', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear', by: 'pay.example' }
  await wall.buyBlock('/blocks/3,4', 1)
  const key = { payer: createWalletAddress(1), nonce: toHash(1) }
  expect(listFacts(wall, 'step')).toEqual([
    { ...key, step: 'settle', answer: 'unclear', facilitator: 'pay.example', ms: 0 },
    expect.objectContaining({ ...key, step: 'ask-chain', answer: 'unspent' }),
    expect.objectContaining({ ...key, step: 'mark-uncertain' }),
  ])
  expect(listFacts(wall, 'purchase')).toMatchObject([{ outcome: 'settlement_unknown', facilitator: 'pay.example' }])
})

test('the purchase of an area is logged as one line, with the name of the area', async () => {
  const wall = await openWall()
  await wall.sendRequest('POST /areas', { ...createPaidInit(createPaymentFor(12, 1)), body: '{"w":4,"h":3}' })
  const key = { payer: createWalletAddress(1), nonce: toHash(1) }
  const area = '78,43,4x3'
  expect(listFacts(wall, 'purchase')).toEqual([
    { ...key, target: 'next,4x3', outcome: 'bought', area, tx: toHash(1), ms: 0 },
  ])
})

test('the log lines of a rejection have its code and the facilitator’s reason', async () => {
  const wall = await openWall()
  wall.facilitator.verification = { kind: 'invalid', reason: 'insufficient_funds' }
  await wall.buyBlock('/blocks/next', 1)
  const key = { payer: createWalletAddress(1), nonce: toHash(1) }
  // Nothing is logged besides these entries, so that junk cannot fill the journal.
  expect(wall.logger.notes.filter(({ event }) => event !== 'rail')).toEqual([
    { event: 'step', facts: { ...key, step: 'verify', answer: 'invalid', reason: 'insufficient_funds', ms: 0 } },
    { event: 'step', facts: { ...key, step: 'record-unclaimed', answer: 'released', block: '79,44', ms: 0 } },
    { event: 'step', facts: { ...key, step: 'ask-chain', answer: 'unspent', ms: 0 } },
    { event: 'purchase', facts: { ...key, target: 'next', outcome: 'payment_required', ms: 0 } },
  ])
})

test('a failure of the store is logged only with the name of the error', async () => {
  const wall = await openWall()
  await wall.db.close()
  await wall.sendRequest('GET /blocks/next', createPaidInit(createTestPayment(1, 1)))
  expect(listFacts(wall, 'step')).toEqual([
    expect.objectContaining({ step: 'look-up', answer: 'failed', error: 'StoreUnavailable' }),
  ])
})

test('signatures and buyers’ texts never appear in the log', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear' }
  await wall.buyBlock(`/blocks/3,4?${LISTING}`, 1)
  wall.facilitator.settling = 'honest'
  await wall.buyBlock(`/blocks/3,4?${LISTING}`, 1)
  const journal = JSON.stringify([wall.logger.notes, wall.logger.alerts])
  expect(journal).toContain('mark-uncertain')
  for (const secret of [createTestPayment(1, 1).signature, 'Mallory', 'psst', 'sly', 'mallory.example'])
    expect(journal).not.toContain(secret)
})

test('a sweep logs the purchases that it changes, but not those that it only checks', async () => {
  const wall = await openWall()
  const { db, chain, facilitator, clock, logger } = wall
  facilitator.settling = { kind: 'unclear' }
  await wall.buyBlock('/blocks/3,4', 1)
  const rail = createPaymentHealth({ facilitator, chain, clock, logger })
  const { ledger } = db
  const seller = createSellerWith({ ledger, facilitator, chain, clock, logger, rail })
  const sweep = createReconciler({ ledger, seller, jobs: db.jobs, clock, logger })
  const before = listFacts(wall, 'step').length
  chain.silent = true
  await sweep()
  expect(listFacts(wall, 'step').slice(before)).toEqual([])
  chain.silent = false
  facilitator.settling = 'honest'
  await sweep()
  expect(listFacts(wall, 'step').slice(before)).toMatchObject([
    { step: 'settle', answer: 'success' },
    { step: 'finalize', answer: 'sold' },
  ])
})
