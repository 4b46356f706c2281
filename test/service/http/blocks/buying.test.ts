import { expect, test } from 'bun:test'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { parsePendingTransaction } from '../../../../server/client/payment.ts'
import { createFailure } from '../../../../server/domain/failure.ts'
import { createSellerStub } from '../../../support/fakes/seller.ts'
import { FORGED, UNCHECKED } from '../../../support/fakes/wallets.ts'
import { toHash, createTestPayment, createWalletAddress } from '../../../support/samples.ts'
import { callTool } from '../../../support/service/agent.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import {
  readErrorCode,
  decodeDemand,
  readJson,
  reportChainFault,
  openWall,
  createPaidInit,
} from '../../../support/service/wall.ts'

const px = '07'.repeat(100)

test('a request for an open block gets terms that an x402 client understands', async () => {
  const wall = await openWall()
  const response = await wall.sendRequest('GET /blocks/007,3')
  expect(response.status).toBe(402)
  const terms = decodeDemand(response)
  const body = await readJson(response)
  expect(body).toMatchObject({
    error: 'payment_required',
    resource: 'https://wall.test/blocks/7,3',
    docs: 'https://wall.test/openapi.json',
    x402Version: 1,
    accepts: [{ scheme: 'exact', network: 'base', maxAmountRequired: '1000000' }],
  })
  expect(terms.accepts).toMatchObject([{ scheme: 'exact', network: 'eip155:8453', amount: '1000000' }])
  expect(terms.resource.url).toBe(String(body['resource']))
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test('the header of a 402 contains the requested URL, and the reason if a payment was not accepted', async () => {
  const wall = await openWall()
  for (const headers of [{}, { accept: 'text/html' }]) {
    const { resource, error } = decodeDemand(
      await wall.sendRequest('GET /blocks/007,3?name=Ada&link=https://ada.example/', { headers }),
    )
    expect([resource.url, error]).toEqual([
      'https://wall.test/blocks/7,3?name=Ada&link=https://ada.example/',
      'payment_required',
    ])
  }
  wall.facilitator.verification = { kind: 'invalid', reason: 'insufficient_funds' }
  const refused = await wall.buyBlock('/blocks/next?name=Ada', 1)
  expect(refused.status).toBe(402)
  expect(decodeDemand(refused)).toMatchObject({
    error: 'insufficient_funds',
    resource: { url: 'https://wall.test/blocks/next?name=Ada' },
  })
})

test('the error for a wallet with too little USDC states the price, and the balance that the chain reports', async () => {
  const wall = await openWall()
  const readRefusal = async (payer: number): Promise<unknown> => (await wall.buyBlock('/blocks/next', payer)).json()
  wall.facilitator.verification = { kind: 'invalid', reason: 'insufficient_funds' }
  wall.chain.holds = 400_000n
  expect(await readRefusal(1)).toMatchObject({
    error: 'payment_required',
    charged: 'unknown',
    balance: '400000',
    message: expect.stringContaining('the wallet holds 0.40 USDC and needs 1.00 USDC on Base; fund it first'),
  })
  // If the chain shows enough money in the wallet, the error does not state a balance.
  wall.chain.holds = 1_000_000n
  expect(await readRefusal(2)).not.toHaveProperty('balance')
})

test('a paid request buys the block, and its response is the receipt', async () => {
  const wall = await openWall()
  const response = await wall.sendRequest(
    `GET /blocks/3,4?name=Ada&framework=loom&message=hi+there&link=https://ada.example/&px=${px}`,
    createPaidInit(createTestPayment(0xab, 1)),
  )
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('private, no-store')
  expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')).toMatchObject({
    success: true,
    transaction: toHash(1),
    network: 'eip155:8453',
  })
  expect(await response.json()).toEqual({
    block: '3,4',
    owner: 'you',
    pixels: 'yours',
    deed: {
      block: { coord: '3,4', index: 643 },
      wallet: '0x00000000000000000000000000000000000000AB',
      name: 'Ada',
      framework: 'loom',
      message: 'hi there',
      link: 'https://ada.example/',
      painted: true,
      price: { amount: '1.00', asset: 'USDC', network: 'eip155:8453' },
      tx: toHash(1),
      claimedAt: wall.clock.now(),
      paint: expect.stringContaining('PUT https://wall.test/blocks/3,4'),
    },
  })
})

test('any client that requests a claimed block gets its deed, or 304 if its copy of the deed is current', async () => {
  const wall = await openWall()
  await wall.buyBlock(`/blocks/3,4?message=hi`, 1)
  const response = await wall.sendRequest('GET /blocks/3,4')
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({
    state: 'claimed',
    block: { coord: '3,4', index: 643 },
    owner: { name: null, wallet: '0x0000…0001', framework: null },
    claimedAt: wall.clock.now(),
    settled: true,
    tx: toHash(1),
    message: 'hi',
    link: null,
    pixels: null,
  })
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(response.headers.get('vary')).toBe('Accept, PAYMENT-SIGNATURE, X-PAYMENT')

  const etag = response.headers.get('etag') ?? ''
  const again = await wall.sendRequest('GET /blocks/3,4', { headers: { 'If-None-Match': `"other", ${etag}` } })
  expect(again.status).toBe(304)
  expect(again.headers.get('etag')).toBe(etag)
  expect(await again.text()).toBe('')
})

test('a resent payment gets the same receipt, whatever the query now contains', async () => {
  const wall = await openWall()
  const first = await wall.buyBlock('/blocks/3,4?name=Ada', 1)
  const again = await wall.buyBlock('/blocks/3,4?name=%00', 1)
  expect(again.status).toBe(200)
  expect(await again.text()).toBe(await first.text())
  expect(again.headers.get('payment-response')).toBe(first.headers.get('payment-response'))
  expect(wall.facilitator.settled).toHaveLength(1)
})

test('/blocks/next sells the open block nearest the centre, even if the path is percent-encoded', async () => {
  const wall = await openWall()
  const blocks = [await wall.buyBlock('/blocks/next', 1), await wall.buyBlock('/blocks/%6eext', 2)]
  expect(await Promise.all(blocks.map(async (response) => (await readJson(response))['block']))).toEqual([
    '79,44',
    '80,44',
  ])
})

test('a payment that bought one block buys no other', async () => {
  const wall = await openWall()
  await wall.buyBlock('/blocks/3,4', 1)
  const response = await wall.buyBlock('/blocks/5,5', 1)
  expect(response.status).toBe(409)
  expect(await response.json()).toMatchObject({ error: 'payment_used', block: '3,4' })
})

test('while the outcome of a payment is unknown, its payer is asked to retry, and unpaid requests for the block still get terms', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear' }
  const response = await wall.buyBlock('/blocks/3,4', 1)
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('2')
  expect(response.headers.get('payment-required')).toBeNull()
  expect(await readErrorCode(response)).toBe('settlement_unknown')

  const unpaid = await wall.sendRequest('GET /blocks/3,4')
  expect(unpaid.status).toBe(402)
  expect(unpaid.headers.get('payment-required')).not.toBeNull()
  expect(await readErrorCode(await wall.buyBlock('/blocks/3,4', 2))).toBe('purchase_pending')
  wall.facilitator.settling = 'honest'
  wall.clock.advance(3000)
  const back = await readJson(await wall.buyBlock('/blocks/3,4', 1, 2))
  expect(back).toMatchObject({ block: '3,4', deed: { tx: toHash(1) } })
  expect(back['notice']).toContain('This receipt of your earlier purchase had not reached you before')
  expect(wall.facilitator.settled.map(({ nonce }) => nonce)).toEqual([toHash(1), toHash(1)])
})

test('each 503 for a payment in doubt reports settlement_pending and any transaction from the facilitator, but the wall does not trust that transaction', async () => {
  const wall = await openWall()
  const pending = {
    success: false,
    errorReason: 'settlement_pending',
    payer: createWalletAddress(1),
    network: 'eip155:8453',
  } as const
  const readAnswer = async () => {
    const response = await wall.buyBlock('/blocks/3,4', 1)
    const { error, transaction } = await readJson(response)
    const header = response.headers.get('payment-response') ?? ''
    // Our client reads the header as well.
    expect(parsePendingTransaction(header)).toBe(transaction as string | undefined)
    return [error, transaction, decodePaymentResponseHeader(header)]
  }
  wall.facilitator.settling = { kind: 'unclear' }
  expect(await readAnswer()).toEqual(['settlement_unknown', undefined, { ...pending, transaction: '' }])
  wall.clock.advance(3000)
  wall.facilitator.settling = { kind: 'unclear', tx: toHash(0xbad) }
  expect(await readAnswer()).toEqual(['settlement_unknown', toHash(0xbad), { ...pending, transaction: toHash(0xbad) }])
  // The transaction is also reported if the facilitator is not called again.
  expect(await readAnswer()).toEqual(['settlement_unknown', toHash(0xbad), { ...pending, transaction: toHash(0xbad) }])
  // A sender that is not the payer does not get the transaction.
  const forged = await wall.sendRequest(
    'GET /blocks/3,4',
    createPaidInit({ ...createTestPayment(1, 1), signature: FORGED }),
  )
  expect([forged.headers.get('payment-response'), (await readJson(forged))['transaction']]).toEqual([null, undefined])
  wall.facilitator.settling = 'honest'
  wall.clock.advance(3000)
  expect(await readJson(await wall.buyBlock('/blocks/3,4', 1))).toMatchObject({ deed: { tx: toHash(1) } })
})

test('a block that is being bought is not for sale, and its buyer is asked to repeat the request', async () => {
  const wall = await openWall()
  const asked = Promise.withResolvers<Response>()
  const readWhileSettling = () => {
    asked.resolve(wall.sendRequest('GET /blocks/3,4'))
    return 'honest'
  }
  Object.defineProperty(wall.facilitator, 'settling', { get: readWhileSettling })
  await wall.buyBlock('/blocks/3,4', 1)
  const response = await asked.promise
  expect(response.status).toBe(409)
  expect(response.headers.get('payment-required')).toBeNull()
  expect(response.headers.get('retry-after')).toBe('2')
  expect((await readJson(response))['message']).toContain('If this is your purchase, send the same request again')
})

test('a payment that cannot be checked or settled because our own queue is full costs nothing, and can be sent again', async () => {
  const wall = await openWall()
  const { facilitator } = wall
  for (const busy of [{ verification: { kind: 'busy' } }, { settling: { kind: 'busy' } }] as const) {
    const honest = { verification: facilitator.verification, settling: facilitator.settling }
    Object.assign(facilitator, busy)
    const response = await wall.buyBlock('/blocks/3,4', 1)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await readErrorCode(response)).toBe('server_busy')
    Object.assign(facilitator, honest)
  }
  expect(await readJson(await wall.sendRequest('GET /api/health'))).toHaveProperty('rail', 'armed')
  expect((await wall.buyBlock('/blocks/3,4', 1)).status).toBe(200)
})

test.each(['invalid_exact_evm_signature', 'eip6492_factory_not_allowed'])(
  'if a facilitator reports an invalid signature (%s), the wall relies on the token’s own check instead',
  async (reason) => {
    const wall = await openWall()
    wall.facilitator.verification = { kind: 'invalid', reason }
    const [good, forged, ...unchecked] = [
      {},
      { signature: FORGED },
      { signature: UNCHECKED.busy },
      { signature: UNCHECKED.silent },
    ]
    const readCode = async (change: object | undefined) =>
      await readErrorCode(
        await wall.sendRequest('GET /blocks/3,4', createPaidInit({ ...createTestPayment(1, 1), ...change })),
      )
    expect(await readCode(good)).toBe('facilitator_unavailable')
    expect(await readCode(forged)).toBe('payment_required')
    expect(await Promise.all(unchecked.map(readCode))).toEqual(['server_busy', 'facilitator_unavailable'])
  },
)

test('a malformed payment header does not hide the deed of a claimed block', async () => {
  const wall = await openWall()
  await wall.buyBlock('/blocks/3,4', 1)
  const response = await wall.sendRequest('GET /blocks/3,4', { headers: { 'PAYMENT-SIGNATURE': 'W10=' } })
  expect(response.status).toBe(200)
  expect(await response.json()).toHaveProperty('settled', true)
})

test.each([
  ['claimed', 'sold_out', 'sold_out', 'before'],
  ['reserved', 'wall_busy', 'invalid_listing', 'after'],
] as const)(
  'on a wall with only %s blocks, /blocks/next returns %s, and with a bad listing it returns %s, because space is checked %s the listing',
  async (space, code, listed) => {
    const wall = await openWall({ ledger: { checkSpace: () => space } })
    const response = await wall.sendRequest('GET /blocks/next')
    expect([await readErrorCode(response), response.headers.get('payment-required')]).toEqual([code, null])
    expect(await readErrorCode(await wall.sendRequest('GET /blocks/next?name=%00'))).toBe(listed)
  },
)

test('equal requests get equal terms, and a wall whose payment rail can never work does not ask for payment', async () => {
  const wall = await openWall()
  const [first, second] = [await wall.sendRequest('GET /blocks/3,4'), await wall.sendRequest('GET /blocks/3,4')]
  expect(await second.text()).toBe(await first.text())
  expect(second.headers.get('payment-required')).toBe(first.headers.get('payment-required'))
  await reportChainFault(wall)
  for (const accept of ['application/json', 'text/html']) {
    const response = await wall.sendRequest('GET /blocks/3,4', { headers: { accept } })
    expect(await readErrorCode(response)).toBe('facilitator_unavailable')
    expect(response.headers.get('payment-required')).toBeNull()
  }
})

test('if the payment rail can never work, a payer whose payment failed is not asked for another payment', async () => {
  const refuseAll = async () => createFailure('payment_required', 'no')
  const wall = await openWall({ seller: createSellerStub(refuseAll) })
  await reportChainFault(wall)
  const response = await wall.buyBlock('/blocks/3,4', 1)
  expect(response.status).toBe(502)
  expect(response.headers.get('payment-required')).toBeNull()
})

test('a browser that requests an open block gets a page, with the terms in the header as well', async () => {
  const wall = await openWall()
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
  const response = await wall.sendRequest('GET /blocks/3,4?message=%3Cscript%3E', { headers: { accept } })
  expect(response.status).toBe(402)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(decodeDemand(response).resource.url).toEndWith('/blocks/3,4?message=%3Cscript%3E')
  const page = await response.text()
  expect(page).toContain('href="/"')
  expect(page).toContain('src="/card.png"')
  expect(page).toContain('“Send your agent”')
  expect(page).not.toContain('<script')
  expect(page).not.toContain('3,4')
})

test('a request with a payment never gets an HTML page', async () => {
  const wall = await openWall()
  const { headers } = createPaidInit(createTestPayment(1, 1, { amount: 1n }))
  const response = await wall.sendRequest('GET /blocks/3,4', { headers: { ...headers, accept: 'text/html' } })
  expect(response.headers.get('content-type')).toBe('application/json')
})

test('public reads show only part of a buyer’s wallet address', async () => {
  const wall = await openWall()
  await wall.buyBlock('/blocks/3,4', 0xabcdef)
  for (const path of ['/blocks/3,4', '/api/canvas', '/api/feed', '/api/agents']) {
    expect((await (await wall.sendRequest(`GET ${path}`)).text()).toLowerCase()).not.toContain(
      createWalletAddress(0xabcdef),
    )
  }
})

test('cached terms always state correctly whether the wall accepts payments', async () => {
  const wall = await openWall()
  const readMessage = async (request: string) => (await readJson(await wall.sendRequest(request)))['message']
  const usual = await readMessage('GET /blocks/next')
  wall.chain.silent = true
  for (let probes = 0; probes < 3; probes += 1) {
    await wall.probe()
    wall.clock.advance(60_000)
  }
  expect(await readJson(await wall.sendRequest('GET /api/health'))).toHaveProperty('rail', 'arming')
  const notNow = expect.stringContaining('The wall does not accept payments right now')
  const asked = ['GET /blocks/next', 'GET /blocks/next', 'GET /blocks/3,4?name=Ada']
  for (const request of asked) {
    const response = await wall.sendRequest(request)
    expect([response.status, (await readJson(response))['message']]).toEqual([402, notNow])
  }
  expect(await readJson(await wall.sendRequest('POST /areas', createBodyInit({ w: 2, h: 1 })))).toMatchObject({
    message: notNow,
  })
  expect(await callTool(wall, 'buy_block', { coord: '3,4' })).toMatchObject({ structuredContent: { message: notNow } })
  wall.chain.silent = false
  await wall.probe()
  expect(await readMessage('GET /blocks/next')).toBe(usual)
})
