import { expect, test } from 'bun:test'
import { matchesOrder, formatPictureDigest } from '../../../../shared/order.ts'
import { hashPixels } from '../../../../shared/signing.ts'
import { toHash } from '../../../support/samples.ts'
import { createBodyInit } from '../../../support/service/signed.ts'
import {
  readErrorCode,
  encodeHeader,
  readJson,
  openWall,
  createPaymentFor,
  toPayload,
} from '../../../support/service/wall.ts'

const wall = await openWall()

const requestSigningText = (body: object) => wall.sendRequest('POST /api/sign', createBodyInit(body))

test('a payment made from the response to POST /api/sign pays for the order, at every address that sells', async () => {
  const orders = [
    [{ coord: '007,3', message: 'hello, wall' }, 'GET /blocks/7,3?message=hello,%20wall', 1],
    [{}, 'GET /blocks/next', 1],
    [{ w: 2, h: 1, pixels: new Uint8Array(200).toBase64() }, 'POST /areas', 2],
  ] as const
  for (const [at, [order, request, blocks]] of orders.entries()) {
    const { nonce, extensions } = await readJson(await requestSigningText(order))
    const payment = { ...createPaymentFor(blocks, at + 1), nonce: String(nonce) as `0x${string}` }
    const headers = { 'PAYMENT-SIGNATURE': encodeHeader({ ...toPayload(payment), extensions }) }
    const init = request.startsWith('POST') ? createBodyInit(order, headers) : { headers }
    expect((await wall.sendRequest(request, init)).status).toBe(200)
  }
})

test('the response to POST /api/sign has the text of the order, and a nonce computed from that text and from the given salt or a new one', async () => {
  const rows = new Uint8Array(200).fill(7)
  const order = { at: '80,45', w: 2, h: 1, pixels: rows.toBase64(), name: 'Ada' }
  const answer = await readJson(await requestSigningText({ ...order, salt: toHash(5) }))
  const message = String(answer['message'])
  expect(message).toStartWith('wall.test\nbuy v1\narea=80,45,2x1\nname_present=1\nname=Ada\n')
  expect(message).toContain(`\npixels=${formatPictureDigest(hashPixels(rows))}\n`)
  expect(answer).toMatchObject({ salt: toHash(5), extensions: { 'order-binding': { info: { salt: toHash(5) } } } })
  expect(matchesOrder(String(answer['nonce']), message, toHash(5))).toBe(true)
  const [one, other] = [
    await readJson(await requestSigningText(order)),
    await readJson(await requestSigningText(order)),
  ]
  expect(one['salt']).not.toBe(other['salt'])
  expect(matchesOrder(String(one['nonce']), message, String(one['salt']))).toBe(true)
})

test('the nonce of the published test vector matches its message and salt', async () => {
  const { testVector } = (await readJson(await requestSigningText({}))) as {
    testVector: Record<'message' | 'salt' | 'nonce', string>
  }
  expect(matchesOrder(testVector.nonce, testVector.message, testVector.salt)).toBe(true)
})

test.each<[string, object, string]>([
  ['a position off the wall', { coord: '160,0' }, 'invalid_coordinate'],
  ['an area with a width of 0', { w: 0, h: 1 }, 'invalid_area'],
  ['an empty message', { message: '' }, 'invalid_listing'],
  ['an invalid picture', { px: '00' }, 'invalid_pixels'],
  ['a picture of an area for a block', { pixels: '' }, 'invalid_body'],
  ['an unknown field', { coord: 'next', mesage: 'hi' }, 'invalid_body'],
  ['a salt that is too short', { salt: '0x00' }, 'invalid_body'],
  ['a list', [], 'invalid_body'],
])('POST /api/sign rejects %s with the same error as a purchase would get', async (_, body, code) => {
  expect(await readErrorCode(await requestSigningText(body))).toBe(code)
})
