import { expect, test } from 'bun:test'
import { STRAY_NOTE } from '../../../../server/domain/purchase/account.ts'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { matchesOrder, type Order, formatOrderText, formatPictureDigest } from '../../../../shared/order.ts'
import { hashPixels } from '../../../../shared/signing.ts'
import { openNearlySoldWall } from '../../../support/nearly-sold.ts'
import {
  parseBlockOrThrow,
  toHash,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { bindPayment } from '../../../support/service/bound.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import { HOST, openWall, createPaidInit, createPaymentFor, type Wall } from '../../../support/service/wall.ts'

// Goal: from public data alone, anybody can find every payment of the wall on the chain, and recompute each bound
// nonce.

const readDeeds = async (
  wall: Wall,
  query: { readonly after?: number; readonly owedAfter?: number; readonly limit?: number } = {},
) => {
  const { data } = await wall.client.api.deeds.get({ query: { after: 0, owedAfter: 0, limit: 100, ...query } })
  if (data === null) throw new Error('there are no deeds')
  return data
}

const buyBlock = async (wall: Wall, path: string, payment: Payment) =>
  expect((await wall.sendRequest(`GET ${path}`, createPaidInit(payment))).status).toBe(200)

const PX = 'aB'.repeat(100)
const ROWS = Uint8Array.from({ length: 600 }, (_, i) => i % 7)

test('each payment that bought something has one deed, with everything needed to find the payment on the chain', async () => {
  const wall = await openWall()
  expect(await readDeeds(wall)).toEqual({
    nextAfter: 0,
    hasMore: false,
    payTo: ['0x00000000000000000000000000000000000A11cE'],
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    network: 'eip155:8453',
    deeds: [],
    owed: [],
    hasMoreOwed: false,
  })
  await buyBlock(wall, '/blocks/3,4?message=hi', createTestPayment(0xab, 1))
  const area = bindPayment(
    { area: '80,45,3x2', message: 'hi', pixels: formatPictureDigest(hashPixels(ROWS)) },
    createPaymentFor(6, 2),
  )
  const body = { at: '80,45', w: 3, h: 2, message: 'hi', pixels: ROWS.toBase64() }
  expect((await wall.sendRequest('POST /areas', createBodyInit(body, createPaidInit(area).headers))).status).toBe(200)
  const { deeds, nextAfter } = await readDeeds(wall)
  const alike = { payTo: '0x00000000000000000000000000000000000A11cE', claimedAt: NOW, settled: true }
  expect(deeds).toEqual([
    {
      ...alike,
      seq: 1,
      blocks: { coord: '3,4' },
      wallet: '0x0000…00AB',
      tx: toHash(1),
      nonce: toHash(1),
      amount: '1000000',
    },
    {
      ...alike,
      seq: 2,
      blocks: { at: '80,45', w: 3, h: 2 },
      wallet: '0x0000…0002',
      tx: toHash(2),
      nonce: area.nonce,
      amount: '6000000',
      salt: toHash(2),
      order: { host: HOST, area: '80,45,3x2', message: 'hi', pixels: formatPictureDigest(hashPixels(ROWS)) },
    },
  ])
  expect(nextAfter).toBe(2)
})

test('the nonce of a bound order can be recomputed from its deed alone', async () => {
  const wall = await openWall()
  const order = { block: 'next', name: 'Ada', message: 'hello', px: PX.toLowerCase(), painter: createWalletAddress(9) }
  await buyBlock(
    wall,
    `/blocks/next?name=Ada&message=hello&px=${PX}&painter=${createWalletAddress(9)}`,
    bindPayment(order, createTestPayment(1, 1)),
  )
  const [deed] = (await readDeeds(wall)).deeds
  expect(deed).toMatchObject({ blocks: { coord: '79,44' }, order: { host: HOST, ...order } })
  expect(deed).not.toHaveProperty('hidden')
  expect(deed).not.toHaveProperty('placedElsewhere')
  expect(matchesOrder(deed?.nonce ?? '', formatOrderText(deed?.order as Order), deed?.salt ?? '')).toBe(true)
  expect(await (await wall.sendRequest('GET /blocks/79,44')).json()).toMatchObject({ bound: true })
})

test('deeds can be read page by page from any number onwards, and each deed is listed once', async () => {
  const wall = await openWall()
  for (const at of [1, 2, 3]) await buyBlock(wall, `/blocks/${at},1`, createTestPayment(at, at))
  await wall.sendRequest('POST /areas', createBodyInit({ w: 2, h: 1 }, createPaidInit(createPaymentFor(2, 4)).headers))
  const readPage = async (after: number, limit: number) => {
    const { deeds, nextAfter, hasMore } = await readDeeds(wall, { after, limit })
    return [deeds.map(({ seq }) => seq), nextAfter, hasMore]
  }
  expect(await readPage(0, 2)).toEqual([[1, 2], 2, true])
  expect(await readPage(2, 2)).toEqual([[3, 4], 4, false])
  expect(await readPage(4, 2)).toEqual([[], 4, false])
  expect(await readPage(99, 200)).toEqual([[], 99, false])
})

test('proxies may cache a page of deeds for two seconds, but must not serve it stale', async () => {
  const response = await (await openWall()).sendRequest('GET /api/deeds')
  expect(response.headers.get('cache-control')).toBe('public, max-age=0, s-maxage=2')
})

test('a deed omits content that the operator hid, and names the omitted fields, even after that content is shown again', async () => {
  const wall = await openWall()
  const order = {
    block: '3,4',
    name: 'Ada',
    framework: 'loom',
    message: 'hello',
    link: 'https://ada.example/',
    px: PX.toLowerCase(),
  }
  const query = `name=Ada&framework=loom&message=hello&link=https://ada.example/&px=${PX}`
  await buyBlock(wall, `/blocks/3,4?${query}`, bindPayment(order, createTestPayment(1, 1)))
  const block = parseBlockOrThrow('3,4')
  const readShownDeed = async () => {
    await wall.sendRequest('GET /blocks/3,4')
    const [deed] = (await readDeeds(wall)).deeds
    return [deed?.order, deed?.hidden]
  }
  expect(await readShownDeed()).toEqual([{ host: HOST, ...order }, undefined])
  await wall.db.moderation.moderate(block, 'hide', ['pixels', 'message'], NOW)
  await wall.db.moderation.moderateWallet(createWalletAddress(1), { act: 'hide', parts: ['name'] }, NOW)
  await buyBlock(wall, '/blocks/5,5', createTestPayment(2, 2))
  const hidden = [{ host: HOST, ...order, name: null, message: null, px: null }, ['name', 'message', 'px']]
  expect(await readShownDeed()).toEqual(hidden)
  await wall.db.moderation.moderate(block, 'unhide', ['pixels', 'message'], NOW)
  await buyBlock(wall, '/blocks/6,6', createTestPayment(2, 3))
  expect(await readShownDeed()).toEqual(hidden)
})

test('the deed of a payment that settled late shows that the purchase got a different position from the one requested', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'refused', reason: 'invalid_exact_evm_insufficient_balance' }
  const late = bindPayment({ block: '3,4' }, createTestPayment(1, 1))
  expect((await wall.sendRequest('GET /blocks/3,4', createPaidInit(late))).status).toBe(402)
  wall.facilitator.settling = 'honest'
  await buyBlock(wall, '/blocks/3,4', createTestPayment(2, 2))
  wall.chain.transferPayment(late)
  expect((await wall.sendRequest('GET /blocks/3,4', createPaidInit(late))).status).toBe(409)
  const [, deed] = (await readDeeds(wall)).deeds
  expect(deed).toMatchObject({ nonce: late.nonce, placedElsewhere: true, order: { host: HOST, block: '3,4' } })
  expect(deed?.blocks).not.toEqual({ coord: '3,4' })
})

test('payments that bought nothing are listed on separate pages, which show a repayment only if its reference is a transaction', async () => {
  const store = await openNearlySoldWall(1)
  const wall = await openWall({}, store)
  await buyBlock(wall, '/blocks/next', createTestPayment(1, 1))
  for (const nonce of [2, 3, 4]) {
    const unclaimed = { payment: createTestPayment(1, nonce), target: 'next' as const, listing: SILENT, head: 0n }
    const released = await store.ledger.recordUnclaimed(unclaimed, NOW)
    await store.ledger.fulfilLatePayment(released, toHash(nonce), NOW)
  }
  await store.payouts.recordReference(createTestPayment(1, 3), toHash(0xbac).toUpperCase().replace('0X', '0x'), NOW)
  await store.payouts.recordReference(createTestPayment(1, 4), 'sent Bob a cheque', NOW)
  await store.payouts.recordReference(createTestPayment(8, 8), STRAY_NOTE, NOW)
  const owed = { wallet: '0x0000…0001', amount: TERMS.amount.toString(), paidOut: null }
  const readPage = async (owedAfter: number, limit: number) => {
    const { owed, hasMoreOwed } = await readDeeds(wall, { after: 3, owedAfter, limit })
    return [owed, hasMoreOwed]
  }
  const first = [
    { ...owed, nonce: toHash(2), tx: toHash(2) },
    { ...owed, nonce: toHash(3), tx: toHash(3), paidOut: toHash(0xbac) },
  ]
  const others = [
    { ...owed, nonce: toHash(4), tx: toHash(4) },
    { wallet: '0x0000…0008', nonce: toHash(8), tx: null, amount: null, paidOut: null },
  ]
  expect(await readPage(0, 2)).toEqual([first, true])
  expect(await readPage(2, 2)).toEqual([others, false])
  expect(await readPage(0, 9)).toEqual([[...first, ...others], false])
})
