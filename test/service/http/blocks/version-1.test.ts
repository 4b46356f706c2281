import { describe, expect, test } from 'bun:test'
import { isPaymentRequiredV1, isPaymentRequiredV2 } from '@x402/core/schemas'
import type { Payment } from '../../../../server/domain/purchase/payment.ts'
import { toHash, createTestPayment } from '../../../support/samples.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import {
  readErrorCode,
  decodeDemand,
  encodeHeader,
  readJson,
  openWall,
  createPaymentFor,
  toPayload,
} from '../../../support/service/wall.ts'

// Goal: clients that support only version 1 of x402 can buy like all other clients. Method: their requests and
// responses over HTTP; real clients of both versions buy in test/e2e/purchase.test.ts.

/** A payment as a client of version 1 encodes it. */
const createOlderPayload = (payment: Payment) => ({
  x402Version: 1,
  scheme: 'exact',
  network: 'base',
  payload: toPayload(payment).payload,
})

const createOlderHeader = (payment: Payment) => ({ 'X-PAYMENT': encodeHeader(createOlderPayload(payment)) })

const createNewerHeader = (payment: Payment) => ({ 'PAYMENT-SIGNATURE': encodeHeader(toPayload(payment)) })

const decodeHeader = (header: string | null) => JSON.parse(atob(header ?? ''))

test('a 402 has a demand of version 1 in its body, and a demand of version 2 in its header', async () => {
  const wall = await openWall()
  for (const target of ['next?name=Ada', '3,4']) {
    const response = await wall.sendRequest(`GET /blocks/${target}`)
    const body = await readJson(response)
    const demand = decodeDemand(response)
    expect(isPaymentRequiredV1(body as Parameters<typeof isPaymentRequiredV1>[0])).toBe(true)
    expect(isPaymentRequiredV2(demand)).toBe(true)
    expect(body['accepts']).toEqual([
      {
        scheme: 'exact',
        network: 'base',
        maxAmountRequired: '1000000',
        resource: `https://wall.test/blocks/${target}`,
        description: demand.resource?.description,
        mimeType: 'application/json',
        payTo: demand.accepts[0]?.payTo,
        maxTimeoutSeconds: 300,
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        extra: { name: 'USD Coin', version: '2', primaryType: 'TransferWithAuthorization' },
      },
    ])
  }
})

test('a payment of version 1 buys a block and gets the headers of both versions, and a resend in version 2 counts as the same payment', async () => {
  const wall = await openWall()
  const payment = createTestPayment(0xab, 1)
  const response = await wall.sendRequest('GET /blocks/3,4?name=Ada', { headers: createOlderHeader(payment) })
  expect(response.status).toBe(200)
  const settled = { success: true, transaction: toHash(1), payer: '0x00000000000000000000000000000000000000AB' }
  expect(decodeHeader(response.headers.get('x-payment-response'))).toEqual({ ...settled, network: 'base' })
  expect(decodeHeader(response.headers.get('payment-response'))).toMatchObject({ ...settled, network: 'eip155:8453' })
  const receipt = await response.text()
  const again = await wall.sendRequest('GET /blocks/3,4', { headers: createNewerHeader(payment) })
  expect([again.status, again.headers.has('x-payment-response')]).toEqual([200, false])
  expect(await again.text()).toBe(receipt)
  expect(wall.facilitator.settled).toHaveLength(1)
})

test('a payment of version 1 buys an area for the price of all its blocks', async () => {
  const wall = await openWall()
  const payment = createPaymentFor(6, 1)
  const response = await wall.sendRequest(
    'POST /areas',
    createBodyInit({ at: '3,4', w: 3, h: 2 }, createOlderHeader(payment)),
  )
  expect([response.status, await readJson(response)]).toMatchObject([200, { area: '3,4,3x2' }])
})

test('a request with both payment headers is accepted only if both contain the same payment', async () => {
  const wall = await openWall()
  const askWithBoth = (one: Payment, other: Payment) =>
    wall.sendRequest('GET /blocks/3,4', { headers: { ...createOlderHeader(one), ...createNewerHeader(other) } })
  const refused = await askWithBoth(createTestPayment(1, 1), createTestPayment(1, 2))
  expect(await readErrorCode(refused)).toBe('invalid_payment')
  expect(
    await readErrorCode(
      await wall.sendRequest('GET /blocks/3,4', {
        headers: { 'X-PAYMENT': 'x', ...createNewerHeader(createTestPayment(1, 1)) },
      }),
    ),
  ).toBe('invalid_payment')
  expect(wall.facilitator.verified).toEqual([])
  expect((await askWithBoth(createTestPayment(1, 1), createTestPayment(1, 1))).status).toBe(200)
})

describe('a payment of version 1', () => {
  test.each([
    ['of version 2', toPayload(createTestPayment(1, 1))],
    ['with the network name of version 2', { ...createOlderPayload(createTestPayment(1, 1)), network: 'eip155:8453' }],
    ['of another scheme', { ...createOlderPayload(createTestPayment(1, 1)), scheme: 'upto' }],
    ['that is null', null],
  ])('a payload %s is rejected in the header of version 1', async (_, payload) => {
    const wall = await openWall()
    expect(
      await readErrorCode(
        await wall.sendRequest('GET /blocks/3,4', { headers: { 'X-PAYMENT': encodeHeader(payload) } }),
      ),
    ).toBe('invalid_payment')
    expect(wall.facilitator.verified).toEqual([])
  })

  test('a payment of version 1 with a wrong amount gets new terms, with the reason in both the header and the body', async () => {
    const wall = await openWall()
    const headers = createOlderHeader(createTestPayment(1, 1, { amount: 1n }))
    const response = await wall.sendRequest('GET /blocks/3,4', { headers })
    expect(response.status).toBe(402)
    const reason = 'the amount is not exactly 1.00 USDC'
    expect(await readJson(response)).toMatchObject({ x402Version: 1, reason })
    expect(decodeDemand(response).error).toBe(reason)
  })

  test('a payment of version 1 never buys with HEAD, and never gets a page', async () => {
    const wall = await openWall()
    const headers = { ...createOlderHeader(createTestPayment(1, 1, { amount: 1n })), accept: 'text/html' }
    expect((await wall.sendRequest('GET /blocks/3,4', { headers })).headers.get('content-type')).toBe(
      'application/json',
    )
    expect(
      (await wall.sendRequest('HEAD /blocks/3,4', { headers: createOlderHeader(createTestPayment(1, 1)) })).status,
    ).toBe(402)
    expect(wall.facilitator.verified).toEqual([])
  })
})

test('each request with a payment is counted under its version of x402', async () => {
  const versions: number[] = []
  const wall = await openWall({ countPaid: (version) => void versions.push(version) })
  await wall.sendRequest('GET /blocks/3,4')
  await wall.sendRequest('GET /blocks/3,4', { headers: createOlderHeader(createTestPayment(1, 1)) })
  await wall.buyBlock('/blocks/5,4', 2)
  expect(versions).toEqual([1, 2])
})

test('a payment of version 1 with an unknown outcome gets that outcome in the headers of both versions', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear', tx: toHash(7) }
  const response = await wall.sendRequest('GET /blocks/3,4', { headers: createOlderHeader(createTestPayment(0xab, 1)) })
  const pending = {
    success: false,
    errorReason: 'settlement_pending',
    transaction: toHash(7),
    payer: '0x00000000000000000000000000000000000000AB',
  }
  expect(response.status).toBe(503)
  expect(decodeHeader(response.headers.get('x-payment-response'))).toEqual({ ...pending, network: 'base' })
  expect(decodeHeader(response.headers.get('payment-response'))).toEqual({ ...pending, network: 'eip155:8453' })
})
