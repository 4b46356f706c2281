import { describe, expect, test } from 'bun:test'
import { PALETTE } from '../../../../shared/palette.ts'
import { CLAIM_ORDER, formatCoord } from '../../../../shared/wall.ts'
import { reserveTarget } from '../../../support/engine.ts'
import { openNearlySoldWall } from '../../../support/nearly-sold.ts'
import { parseBlockOrThrow, createTestPayment } from '../../../support/samples.ts'
import { decodePicture } from '../../../support/service/decoded.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import {
  readErrorCode,
  decodeDemand,
  readJson,
  reportChainFault,
  openWall,
  type Wall,
} from '../../../support/service/wall.ts'

const wall = await openWall()

const requestPreview = async ({ sendRequest: ask }: Wall, body: unknown) =>
  await readJson(await ask('POST /api/preview', createBodyInit(body)))

/** The size of a base64-encoded image, and its colours at `points`. */
async function readColours(image: unknown, points: ReadonlyArray<readonly [x: number, y: number]>) {
  const {
    width,
    height,
    readColour: colourAt,
  } = await decodePicture(new Response(Uint8Array.fromBase64(String(image))))
  return { width, height, colours: points.map(([x, y]) => colourAt(x, y)) }
}

test('a preview of an acceptable purchase has the terms, the request and the picture of that purchase', async () => {
  const px = 'b4'.repeat(100)
  const found = await requestPreview(wall, { coord: '007,3', name: 'Ada Lovelace', message: 'a+b&c', px })
  const asked = await wall.sendRequest('GET /blocks/7,3')
  const { image, ...rest } = found
  expect(rest).toEqual({
    acceptable: true,
    problems: [],
    block: { coord: '7,3', index: 487 },
    area: null,
    state: 'open',
    price: { amount: '1.00', asset: 'USDC', network: 'eip155:8453' },
    request: { method: 'GET', url: `https://wall.test/blocks/7,3?name=Ada+Lovelace&message=a%2Bb%26c&px=${px}` },
    terms: decodeDemand(asked).accepts[0],
  })
  expect(
    await readColours(image, [
      [80, 80],
      [159, 159],
      [79, 80],
      [160, 80],
    ]),
  ).toEqual({
    width: 240,
    height: 240,
    colours: [PALETTE[0xb4] ?? '', PALETTE[0xb4] ?? '', PALETTE[217] ?? '', PALETTE[220] ?? ''],
  })
})

test('the request in a preview buys the previewed block', async () => {
  const own = await openWall()
  const body = {
    coord: 'next',
    name: 'Ada 🙂',
    framework: 'x/y?',
    message: '100% #1',
    link: 'https://e.org/?a=1&b=2#c',
  }
  const { request, block } = (await requestPreview(own, body)) as { request: { url: string }; block: unknown }
  const receipt = await readJson(await own.buyBlock(request.url.slice('https://wall.test'.length), 1))
  const { coord: _, ...said } = body
  expect(receipt['deed']).toMatchObject({ block, ...said })
})

test('a preview of “next” skips sold and held blocks, and shows the next open block', async () => {
  const own = await openWall()
  await own.buyBlock('/blocks/next', 1)
  await reserveTarget(own.db, 'next', createTestPayment(2, 2))
  const third = CLAIM_ORDER[2]
  if (third === undefined) throw new Error('the wall has a third block')
  expect(await requestPreview(own, { coord: 'next' })).toMatchObject({
    acceptable: true,
    block: { coord: formatCoord(third), index: third },
    request: { url: 'https://wall.test/blocks/next' },
  })
})

test('a preview reports every error in one response, with the messages and codes that a purchase would get', async () => {
  const bad = { name: 'a'.repeat(41), framework: '', message: '\u202Eevil', link: 'http://a.b/', px: 'f0'.repeat(100) }
  const { acceptable, problems, state } = await requestPreview(wall, { coord: '5,5', ...bad })
  expect([acceptable, state]).toEqual([false, 'open'])
  for (const { field, code, message } of problems as { field: keyof typeof bad; code: string; message: string }[]) {
    const refused = await readJson(await wall.sendRequest(`GET /blocks/5,5?${field}=${encodeURIComponent(bad[field])}`))
    expect(refused).toEqual({ error: code, message })
  }
  expect((problems as { field: string }[]).map(({ field }) => field)).toEqual(Object.keys(bad))
})

test('a preview of a sold or held block has the state of the block and no terms', async () => {
  const own = await openWall()
  await own.buyBlock(`/blocks/3,4?px=${'07'.repeat(100)}`, 1)
  await reserveTarget(own.db, parseBlockOrThrow('9,9'), createTestPayment(2, 2))
  const sold = await requestPreview(own, { coord: '3,4', px: 'b4'.repeat(100) })
  expect(sold).toMatchObject({ acceptable: false, state: 'claimed', terms: null })
  expect(sold['problems']).toEqual([
    {
      field: 'coord',
      code: 'block_taken',
      message: 'Block 3,4 is already sold. To read its deed, GET the block without a payment.',
    },
  ])
  expect((await readColours(sold['image'], [[120, 120]])).colours).toEqual([PALETTE[7] ?? ''])
  expect(await requestPreview(own, { coord: '9,9' })).toMatchObject({
    acceptable: false,
    state: 'reserved',
    terms: null,
    problems: [{ field: 'coord', code: 'purchase_pending' }],
  })
})

test('on a wall that cannot sell, a preview says so and has no terms', async () => {
  const own = await openWall()
  await reportChainFault(own)
  expect(await requestPreview(own, { coord: '3,4' })).toMatchObject({
    acceptable: false,
    problems: [{ field: 'rail', code: 'facilitator_unavailable' }],
    state: 'open',
    terms: null,
  })
})

describe('a preview of an area', () => {
  const createPixels = (w: number, h: number) => new Uint8Array(100 * w * h).fill(0xb4).toBase64()

  test('a preview of an area has the price, the terms and the picture of the area, and the order that buys it', async () => {
    const said = { name: 'Ada', message: 'hi', painter: `0x${'12'.repeat(20)}` }
    const found = await requestPreview(wall, { coord: '20,10', w: 3, h: 2, pixels: createPixels(3, 2), ...said })
    const order = { at: '20,10', w: 3, h: 2, ...said }
    const asked = await wall.sendRequest('POST /areas', createBodyInit(order))
    const { image, ...rest } = found
    expect(rest).toEqual({
      acceptable: true,
      problems: [],
      block: { coord: '20,10', index: 1620 },
      area: '20,10,3x2',
      state: 'open',
      price: { amount: '6.00', asset: 'USDC', network: 'eip155:8453' },
      request: { method: 'POST', url: 'https://wall.test/areas', body: order },
      terms: decodeDemand(asked).accepts[0],
    })
    const red = PALETTE[0xb4] ?? ''
    expect(
      await readColours(image, [
        [80, 80],
        [319, 239],
      ]),
    ).toEqual({ width: 400, height: 320, colours: [red, red] })
  })

  test('the picture in a preview of the largest area is 440 pixels wide and high', async () => {
    const { image } = await requestPreview(wall, { coord: '20,10', w: 20, h: 20, pixels: createPixels(20, 20) })
    expect(await readColours(image, [])).toMatchObject({ width: 440, height: 440 })
  })

  test('a preview of “next” with a size shows the open area of that size that is nearest the centre', async () => {
    const own = await openWall()
    await own.buyBlock('/blocks/79,44', 1)
    const { area, request } = await requestPreview(own, { coord: 'next', w: 4, h: 3 })
    const { spaces } = (await readJson(await own.sendRequest('GET /api/space?w=4&h=3&limit=1'))) as {
      spaces: { coord: string }[]
    }
    expect([area, request]).toEqual([
      `${spaces[0]?.coord},4x3`,
      { method: 'POST', url: 'https://wall.test/areas', body: { at: 'next', w: 4, h: 3 } },
    ])
  })

  test('a preview of an area that is partly sold or held says so and has no terms', async () => {
    const own = await openWall()
    await own.buyBlock('/blocks/3,4', 1)
    await reserveTarget(own.db, parseBlockOrThrow('9,9'), createTestPayment(2, 2))
    for (const [coord, state, code] of [
      ['2,3', 'claimed', 'block_taken'],
      ['9,9', 'reserved', 'purchase_pending'],
    ])
      expect(await requestPreview(own, { coord, w: 2, h: 2 })).toMatchObject({
        acceptable: false,
        state,
        terms: null,
        problems: [{ field: 'coord', code }],
      })
  })

  test('a preview of “next” with a size reports no_room if no area of that size is open', async () => {
    const own = await openWall({}, await openNearlySoldWall(1))
    expect(await requestPreview(own, { coord: 'next', w: 2, h: 1 })).toMatchObject({
      acceptable: false,
      block: null,
      area: null,
      image: null,
      terms: null,
      problems: [{ field: 'coord', code: 'no_room' }],
    })
  })

  test.each([
    ['too few pixels', { w: 2, h: 1, pixels: createPixels(1, 1) }, 'pixels', 'invalid_pixels'],
    [
      'a colour outside the palette',
      { w: 1, h: 2, pixels: new Uint8Array(200).fill(240).toBase64() },
      'pixels',
      'invalid_pixels',
    ],
    ['the picture of a block for an area', { w: 2, h: 1, px: '07'.repeat(100) }, 'px', 'invalid_body'],
    ['the picture of an area for a block', { pixels: createPixels(1, 1) }, 'pixels', 'invalid_body'],
    ['an invalid painter', { w: 2, h: 1, painter: '0x12' }, 'painter', 'invalid_painter'],
  ])('a preview with %s reports the field that is wrong', async (_, fields, field, code) => {
    expect(await requestPreview(wall, { coord: 'next', ...fields })).toMatchObject({
      acceptable: false,
      problems: [{ field, code }],
    })
  })
})

test('a preview changes nothing', async () => {
  const own = await openWall()
  await requestPreview(own, { coord: 'next', name: 'Ada', px: 'b4'.repeat(100) })
  expect(await own.db.ledgerReader.listHeld()).toEqual([])
  expect(await own.db.log.readAfter(0, 9)).toEqual([])
  expect(own.facilitator.verified).toEqual([])
  expect((await own.sendRequest('GET /blocks/next')).status).toBe(402)
})

const malformed: ReadonlyArray<readonly [what: string, body: unknown, code: string]> = [
  ['an empty body', '', 'invalid_body'],
  ['no coordinate', {}, 'invalid_body'],
  ['a field of the wrong type', { coord: '1,1', name: 7 }, 'invalid_body'],
  ['an unknown field', { coord: '1,1', colour: 'red' }, 'invalid_body'],
  ['an invalid coordinate', { coord: '1;1' }, 'invalid_body'],
  ['a coordinate off the wall', { coord: '160,0' }, 'invalid_coordinate'],
  ['a name that is far too long', { coord: '1,1', name: 'a'.repeat(70_000) }, 'body_too_large'],
  ['a width of 0', { coord: 'next', w: 0, h: 3 }, 'invalid_area'],
  ['a width of one and a half blocks', { coord: 'next', w: 1.5, h: 1 }, 'invalid_body'],
]

test.each(malformed)('a request for a preview with %s is rejected', async (_, body, code) => {
  expect(await readErrorCode(await wall.sendRequest('POST /api/preview', createBodyInit(body)))).toBe(code)
})
