import { describe, expect, test } from 'bun:test'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import { formatWallet } from '../../../../shared/wallet.ts'
import { reserveTarget } from '../../../support/engine.ts'
import { openNearlySoldWall } from '../../../support/nearly-sold.ts'
import { createFlatPng, buildPng, RGB } from '../../../support/picture-files.ts'
import { listCoords, toHash, NOW, createTestPayment, SILENT, createWalletAddress } from '../../../support/samples.ts'
import { signAreaEdit, createBodyInit } from '../../../support/service/signed.ts'
import {
  BASE_URL,
  readErrorCode,
  decodeDemand,
  readJson,
  openWall,
  createPaidInit,
  createPaymentFor,
  type Wall,
} from '../../../support/service/wall.ts'

type Order = Readonly<Record<string, unknown>>

const sendOrder = (wall: Wall, body: Order, paid: { readonly headers?: Record<string, string> } = {}) =>
  wall.sendRequest('POST /areas', createBodyInit(body, paid.headers))

const buyArea = (wall: Wall, body: Order, blocks: number, payer: number, nonce = payer) =>
  sendOrder(wall, body, createPaidInit(createPaymentFor(blocks, payer, nonce)))

/** Palette indices of an area in which each pixel row has one colour. */
const createRows = (w: number, h: number) =>
  Uint8Array.from({ length: w * h * 100 }, (_, i) => Math.floor(i / (10 * w)) % 240)

describe('a paid order with an incomplete body', () => {
  const createCutBody = () =>
    new ReadableStream({ pull: (controller) => controller.error(new Error('the connection is lost')) })
  const postBody = (wall: Wall, body: ReadableStream | string) =>
    wall.sendRequest('POST /areas', { ...createPaidInit(createPaymentFor(2, 1)), body })

  test('a paid order whose body is cut short gets 503, never a rejection, and buys nothing', async () => {
    const wall = await openWall()
    const response = await postBody(wall, createCutBody())
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await readJson(response)).not.toHaveProperty('charged')
    expect(wall.facilitator.verified).toEqual([])
    expect((await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1)).status).toBe(200)
  })

  test.each([
    ['is cut short', createCutBody],
    ['is not JSON', () => '{'],
    ['does not specify an area', () => '{}'],
  ])('a paid order that %s gets the receipt of its payment, if the wall knows the payment', async (_, body) => {
    const wall = await openWall()
    const receipt = await readJson(await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1))
    const response = await postBody(wall, body())
    expect(response.status).toBe(200)
    expect(await readJson(response)).toEqual(receipt)
  })

  test('a truncated order resumes the held purchase of its payment, but the response to a forged signature reveals nothing about the purchase', async () => {
    const wall = await openWall()
    wall.facilitator.settling = { kind: 'unclear' }
    expect((await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1)).status).toBe(503)
    const forged = { ...createPaymentFor(2, 1), signature: '0x00' } as const
    const response = await wall.sendRequest('POST /areas', { ...createPaidInit(forged), body: createCutBody() })
    expect(await readJson(response)).toEqual(await readJson(await postBody(await openWall(), createCutBody())))
    expect(await readJson(await postBody(wall, createCutBody()))).toMatchObject({
      error: 'settlement_unknown',
      charged: 'unknown',
    })
  })
})

describe('an order without a payment', () => {
  test.each([
    [{ w: 4, h: 3 }, '12000000', '12.00'],
    [{ at: '80,45', w: 20, h: 20 }, '400000000', '400.00'],
    [{ at: '80,45', w: 1, h: 1 }, '1000000', '1.00'],
  ])(
    'the unpaid order %j gets terms with the price of all its blocks, payable at the requested URL',
    async (body, amount, price) => {
      const wall = await openWall()
      const response = await sendOrder(wall, body)
      expect(response.status).toBe(402)
      expect(response.headers.get('cache-control')).toBe('no-store')
      const terms = decodeDemand(response)
      expect(terms.resource.url).toBe('https://wall.test/areas')
      expect(terms.accepts).toMatchObject([{ scheme: 'exact', network: 'eip155:8453', amount }])
      expect(terms.extensions).toMatchObject({ bazaar: { info: { input: { method: 'POST', bodyType: 'json' } } } })
      const said = await readJson(response)
      expect(said).toMatchObject({ error: 'payment_required', accepts: [{ maxAmountRequired: amount }] })
      expect(said['message']).toContain(price)
    },
  )

  test.each<[string, Order, string]>([
    ['no size', { at: 'next' }, 'invalid_area'],
    ['a width as a string', { w: '2', h: 2 }, 'invalid_area'],
    ['a width of 0', { w: 0, h: 2 }, 'invalid_area'],
    ['more than 400 blocks', { w: 20, h: 21 }, 'invalid_area'],
    ['an area that extends over the edge', { at: '158,0', w: 3, h: 1 }, 'invalid_area'],
    ['a position off the wall', { at: '160,0', w: 1, h: 1 }, 'invalid_coordinate'],
    ['an unknown field', { w: 1, h: 1, px: '00' }, 'invalid_body'],
    ['both pixels and an image', { w: 1, h: 1, pixels: '', image: '' }, 'invalid_body'],
    ['too few pixels', { w: 2, h: 1, pixels: new Uint8Array(100).toBase64() }, 'invalid_pixels'],
    ['pixels that are not base64', { w: 1, h: 1, pixels: '!' }, 'invalid_pixels'],
    [
      'a colour outside the palette',
      { w: 1, h: 1, pixels: new Uint8Array(100).fill(240).toBase64() },
      'invalid_pixels',
    ],
    ['an image over 2 MiB', { w: 1, h: 1, image: new Uint8Array(2 * 1024 * 1024 + 1).toBase64() }, 'invalid_image'],
    ['an image that is not base64', { w: 1, h: 1, image: '!' }, 'invalid_image'],
    ['an unknown fit', { w: 1, h: 1, fit: 'best' }, 'invalid_option'],
    ['an unknown dither', { w: 1, h: 1, dither: 'most' }, 'invalid_option'],
    ['a message that is a number', { w: 1, h: 1, message: 5 }, 'invalid_listing'],
  ])('an order with %s is rejected, without terms to sign', async (_, body, code) => {
    const wall = await openWall()
    expect(await readErrorCode(await sendOrder(wall, body))).toBe(code)
  })

  test.each([undefined, '', '{}', ' { } '])(
    'an order with the body %p and no payment is a probe, and gets the terms for one block',
    async (body) => {
      const wall = await openWall()
      const probes = [{}, { headers: { 'Content-Type': 'application/json' } }]
      for (const init of probes) {
        const response = await wall.sendRequest('POST /areas', body === undefined ? init : { ...init, body })
        expect(response.status).toBe(402)
        const demand = decodeDemand(response)
        expect(demand).toMatchObject({ resource: { url: `${BASE_URL}/areas` }, accepts: [{ amount: '1000000' }] })
        expect(validateDiscoveryExtension(demand.extensions?.['bazaar'] as never)).toEqual({ valid: true })
      }
    },
  )

  test('a payment with the body of a probe is rejected, and nothing is charged', async () => {
    const wall = await openWall()
    for (const body of ['', '{}']) {
      const response = await wall.sendRequest('POST /areas', { ...createPaidInit(createPaymentFor(1, 1)), body })
      expect(response.status).toBe(400)
    }
    expect([wall.facilitator.verified, wall.facilitator.settled]).toEqual([[], []])
  })

  test('if no block is open, a probe gets the same response as /blocks/next', async () => {
    for (const [space, status, code] of [
      ['claimed', 410, 'sold_out'],
      ['reserved', 409, 'wall_busy'],
    ] as const) {
      const wall = await openWall({ ledger: { checkSpace: async () => space } })
      const response = await wall.sendRequest('POST /areas', { body: '{}' })
      expect([response.status, await readErrorCode(response)]).toEqual([status, code])
    }
  })

  test('an order that includes sold or held blocks gets the coordinates of those blocks and no terms', async () => {
    const wall = await openWall()
    await wall.buyBlock('/blocks/81,46', 1)
    await wall.buyBlock('/blocks/80,45', 2)
    const taken = await sendOrder(wall, { at: '80,45', w: 4, h: 3 })
    expect(taken.status).toBe(409)
    expect(await readJson(taken)).toMatchObject({ error: 'block_taken', area: '80,45,4x3', taken: ['80,45', '81,46'] })
    expect(taken.headers.get('payment-required')).toBeNull()
    await reserveTarget(wall.db, '10,10,2x2', createPaymentFor(4, 3), SILENT)
    const held = await sendOrder(wall, { at: '11,11', w: 2, h: 2 })
    expect(held.status).toBe(409)
    expect(await readJson(held)).toMatchObject({ error: 'purchase_pending', area: '11,11,2x2', held: ['11,11'] })
  })
})

describe('a paid order', () => {
  test('a paid order buys the whole area, with one receipt and a deed for each block', async () => {
    const wall = await openWall()
    const body = {
      at: '80,45',
      w: 4,
      h: 3,
      name: 'Ada',
      framework: 'loom',
      message: 'hi',
      link: 'https://ada.example/',
    }
    const response = await buyArea(wall, { ...body, pixels: createRows(4, 3).toBase64() }, 12, 0xab, 1)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('private, no-store')
    expect(decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')).toMatchObject({
      success: true,
      transaction: toHash(1),
      network: 'eip155:8453',
    })
    const receipt = await readJson(response)
    expect(receipt).toMatchObject({
      area: '80,45,4x3',
      blocks: listCoords('80,45,4x3'),
      owner: 'you',
      pixels: 'yours',
      deed: {
        area: '80,45,4x3',
        name: 'Ada',
        framework: 'loom',
        message: 'hi',
        link: 'https://ada.example/',
        painted: true,
        price: { amount: '12.00', asset: 'USDC', network: 'eip155:8453' },
        tx: toHash(1),
        claimedAt: NOW,
      },
    })
    const rows = createRows(4, 3)
    const deed = await readJson(await wall.sendRequest('GET /blocks/82,46'))
    expect(deed).toMatchObject({ owner: { name: 'Ada' }, message: 'hi', tx: toHash(1), settled: true })
    const pixels = Uint8Array.fromBase64(String(deed['pixels']))
    for (const [x, y] of [
      [0, 0],
      [9, 0],
      [3, 7],
      [9, 9],
    ] as const)
      expect(pixels[y * 10 + x]).toBe(rows[(10 + y) * 40 + 20 + x])
    const feed = await readJson(await wall.sendRequest('GET /api/feed'))
    expect((feed['sales'] as { seq: number; coord: string }[]).map(({ seq, coord }) => [seq, coord])).toEqual(
      listCoords('80,45,4x3').map((coord, i) => [i + 1, coord]),
    )
    const again = await buyArea(wall, { at: '80,45', w: 4, h: 3 }, 12, 0xab, 1)
    expect(await readJson(again)).toEqual(receipt)
    expect(wall.facilitator.settled).toHaveLength(1)
  })

  test('an order for an area of one block buys that block, and its receipt describes an area', async () => {
    const wall = await openWall()
    const receipt = await readJson(await buyArea(wall, { at: '3,4', w: 1, h: 1 }, 1, 1))
    expect(receipt).toMatchObject({ area: '3,4,1x1', blocks: ['3,4'], deed: { price: { amount: '1.00' } } })
  })

  test('a payment that bought an area buys nothing else, whatever the order or the URL', async () => {
    const wall = await openWall()
    const payment = createPaymentFor(2, 1)
    await sendOrder(wall, { at: '3,4', w: 2, h: 1 }, createPaidInit(payment))
    const elsewhere = [
      await sendOrder(wall, { at: '5,6', w: 2, h: 1 }, createPaidInit(payment)),
      await sendOrder(wall, { at: '3,4', w: 1, h: 2 }, createPaidInit(payment)),
      await wall.sendRequest('GET /blocks/next', createPaidInit(payment)),
      await wall.sendRequest('GET /blocks/5,6', createPaidInit(payment)),
    ]
    for (const response of elsewhere) {
      expect(response.status).toBe(409)
      expect(await readJson(response)).toMatchObject({ error: 'payment_used', area: '3,4,2x1' })
    }
    expect(wall.facilitator.settled).toHaveLength(1)
  })

  test('a paid order whose settlement is in doubt holds the whole area, and the same request buys it later', async () => {
    const wall = await openWall()
    wall.facilitator.settling = { kind: 'unclear' }
    const first = await buyArea(wall, { at: '80,45', w: 2, h: 2 }, 4, 1)
    expect(first.status).toBe(503)
    expect(await readJson(first)).toMatchObject({ error: 'settlement_unknown', area: '80,45,2x2' })
    expect(await wall.db.ledgerReader.listHeld()).toHaveLength(4)
    // Terms are offered only for this exact rectangle, because its payer may send the order again, and not for other
    // rectangles that overlap it.
    expect((await sendOrder(wall, { at: '80,45', w: 2, h: 2 })).status).toBe(402)
    for (const body of [
      { at: '80,45', w: 2, h: 1 },
      { at: '81,46', w: 2, h: 2 },
    ]) {
      expect(await readErrorCode(await sendOrder(wall, body))).toBe('purchase_pending')
    }
    expect(await readErrorCode(await wall.sendRequest('GET /blocks/81,46'))).toBe('purchase_pending')
    wall.facilitator.settling = 'honest'
    wall.chain.transferPayment(createPaymentFor(4, 1))
    const resumed = await buyArea(wall, { at: '80,45', w: 2, h: 2 }, 4, 1)
    expect(resumed.status).toBe(200)
    expect(await readJson(resumed)).toMatchObject({ area: '80,45,2x2' })
  })
})

test('an order without a position gets terms from the state in memory, without a search of the store', async () => {
  const wall = await openWall({ ledger: { checkSpace: () => Promise.reject(new Error('the store was searched')) } })
  expect((await sendOrder(wall, { w: 20, h: 20 })).status).toBe(402)
})

describe('an order with an image', () => {
  test('the image of an order is scaled to fit the area', async () => {
    const wall = await openWall()
    const response = await buyArea(
      wall,
      { at: '3,4', w: 2, h: 1, image: createFlatPng(64, 32, '#ffffff').toBase64() },
      2,
      1,
    )
    expect(response.status).toBe(200)
    expect(await readJson(response)).toMatchObject({ deed: { painted: true } })
    const deed = await readJson(await wall.sendRequest('GET /blocks/4,4'))
    const white = 5 * 36 + 5 * 6 + 5
    expect(new Set(Uint8Array.fromBase64(String(deed['pixels'])))).toEqual(new Set([white]))
  })

  test('the image of a paid order does not wait for images of free requests', async () => {
    const wall = await openWall()
    const leave = new AbortController()
    const createSlowBody = () =>
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(new Uint8Array(100_000))
          leave.signal.addEventListener('abort', () => controller.close())
        },
      })
    const png = { headers: { 'Content-Type': 'image/png' } }
    const crawling = Array.from({ length: 32 }, () =>
      wall.sendRequest('POST /api/pixels', { ...png, body: createSlowBody() }),
    )
    const image = buildPng(64, 32, RGB, new Uint8Array(32 * (1 + 64 * 3)), [['teXt', new Uint8Array(100_000)]])
    expect((await wall.sendRequest('POST /api/pixels', { ...png, body: image })).status).toBe(503)
    expect((await buyArea(wall, { at: '3,4', w: 2, h: 1, image: image.toBase64() }, 2, 1)).status).toBe(200)
    leave.abort()
    await Promise.all(crawling)
  })

  test('an unpaid order with an unreadable image gets terms, but the same order with a payment is rejected without a charge or a hold', async () => {
    const wall = await openWall()
    const body = { at: '3,4', w: 2, h: 1, image: new TextEncoder().encode('no picture at all').toBase64() }
    expect((await sendOrder(wall, body)).status).toBe(402)
    expect(await readErrorCode(await buyArea(wall, body, 2, 1))).toBe('invalid_image')
    expect(wall.facilitator.settled).toHaveLength(0)
    expect(await wall.db.ledgerReader.listHeld()).toEqual([])
    expect(await wall.db.ledger.find(createPaymentFor(2, 1))).toBeUndefined()
  })

  test('the image of an order is never read if the wall already knows the payment', async () => {
    const wall = await openWall()
    await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1)
    const broken = { at: '3,4', w: 2, h: 1, image: new TextEncoder().encode('no picture').toBase64() }
    const response = await buyArea(wall, broken, 2, 1)
    expect(response.status).toBe(200)
    expect(await readJson(response)).toMatchObject({ deed: { painted: false } })
  })
})

test('the account of a wallet lists an area that it bought, and each block of that area', async () => {
  const wall = await openWall()
  await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1)
  const standing = await readJson(await wall.sendRequest(`GET /api/agents/${createWalletAddress(1)}`))
  expect(standing).toMatchObject({
    blocks: [{ block: { coord: '3,4' } }, { block: { coord: '4,4' } }],
    areas: [{ area: '3,4,2x1', claimedAt: NOW, tx: toHash(1) }],
  })
})

test('the account of a wallet lists an unfinished purchase of an area as it was ordered', async () => {
  const wall = await openWall()
  wall.facilitator.settling = { kind: 'unclear' }
  await buyArea(wall, { at: '3,4', w: 2, h: 1 }, 2, 1, 1)
  await buyArea(wall, { w: 4, h: 3 }, 12, 1, 2)
  await wall.db.ledger.release(await reserveTarget(wall.db, 'next,2x2', createPaymentFor(4, 1, 3), SILENT), false)
  const { open } = await readJson(await wall.sendRequest(`GET /api/agents/${createWalletAddress(1)}`))
  expect(open).toMatchObject([
    { target: '3,4,2x1', block: { coord: '3,4' }, state: 'reserved', doubted: true, resend: true },
    { target: 'next,4x3', block: { coord: '78,43' }, state: 'reserved' },
    { target: 'next,2x2', state: 'released', next: expect.stringContaining('the nearest open one of its size') },
  ])
})

describe('an order on a nearly full wall', () => {
  /** A wall on which another wallet owns all blocks except the last `left` in the order of sale. */
  const openCrowdedWall = async (left: number) => await openWall({}, await openNearlySoldWall(left))

  test('if there is no open space of a size, an order of that size is rejected, with or without a payment', async () => {
    const wall = await openCrowdedWall(1)
    for (const response of [await sendOrder(wall, { w: 2, h: 1 }), await buyArea(wall, { w: 2, h: 1 }, 2, 1)])
      expect(await readErrorCode(response)).toBe('no_room')
    expect(wall.facilitator.settled).toEqual([])
    expect((await sendOrder(wall, { w: 1, h: 1 })).status).toBe(402)
  })

  test('if an order fits only on held blocks, which may become open again, the response says to try again later', async () => {
    const wall = await openCrowdedWall(1)
    await reserveTarget(wall.db, 'next', createTestPayment(2, 2))
    const response = await buyArea(wall, { w: 1, h: 1 }, 1, 1)
    expect([response.status, await readErrorCode(response), response.headers.has('retry-after')]).toEqual([
      409,
      'wall_busy',
      true,
    ])
  })

  test('an error lists at most a hundred taken blocks', async () => {
    const refused = await readJson(await sendOrder(await openCrowdedWall(1), { at: '70,35', w: 20, h: 20 }))
    expect(refused).toMatchObject({ error: 'block_taken', area: '70,35,20x20' })
    expect(refused['taken']).toEqual(listCoords('70,35,20x20').slice(0, 100))
  })
})

test('the painter that an order names can immediately repaint the blocks of that order, but no other blocks of the buyer', async () => {
  const wall = await openWall()
  const painter = createWalletAddress(9)
  const receipt = await readJson(await buyArea(wall, { at: '3,4', w: 2, h: 1, painter }, 2, 1, 1))
  expect(receipt).toMatchObject({ deed: { painter: formatWallet(painter) } })
  await buyArea(wall, { at: '5,4', w: 1, h: 1 }, 1, 1, 2)
  wall.clock.advance(1)
  const putArea = async (area: string) => {
    const edit = createBodyInit(signAreaEdit(9, area, { message: 'painted' }, wall.clock.now()))
    return await readJson(await wall.sendRequest(`PUT /areas/${area}`, edit))
  }
  expect(await putArea('3,4,2x1')).toEqual({ updated: true, area: '3,4,2x1', blocks: 2 })
  expect(await putArea('3,4,3x1')).toMatchObject({ error: 'unauthorized' })
  expect(await putArea('5,4,1x1')).toMatchObject({ error: 'unauthorized' })
})
