import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader } from '@x402/core/http'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { toHash, createTestPayment } from '../../support/samples.ts'
import { callTool } from '../../support/service/agent.ts'
import { createBodyInit } from '../../support/service/signed.ts'
import {
  encodeHeader,
  readJson,
  reportChainFault,
  openWall,
  createPaymentFor,
  toPayload,
  type Wall,
} from '../../support/service/wall.ts'

// Goal: HTTP and MCP behave the same. Method: two equal walls get the same request, one over HTTP and one over MCP. The
// responses, the stored state and the calls to the facilitator must be the same.

/** A request that can be sent over either interface. */
type Ask = {
  readonly coord?: string
  readonly order?: object // the order of an area, instead of a block
  readonly listing?: Readonly<Record<string, string>>
  readonly payment?: Payment
  readonly payload?: unknown // sent instead of the payload of `payment`
}

/** A response in a form that is common to both interfaces. */
type Outcome =
  | { readonly kind: 'sold'; readonly receipt: unknown; readonly settlement: unknown }
  | { readonly kind: 'asked to pay'; readonly terms: unknown; readonly reason: unknown }
  | { readonly kind: 'not for sale' }
  | { readonly kind: 'refused'; readonly body: unknown; readonly settlement?: unknown }

type World = {
  readonly name: string
  readonly open?: (wall: Wall) => Promise<unknown> | void
  readonly ask?: Ask // the request, by default `PAID`
  readonly ends: string
}

const own = createTestPayment(1, 1)
const other = createTestPayment(2, 2)
const PAID: Ask = { coord: '3,4', payment: own }
const createSale = (coord: string, payment: Payment) => (wall: Wall) => askOverHttp(wall, { coord, payment })

const leaveUncertain = (coord: string, payment: Payment) => async (wall: Wall) => {
  wall.facilitator.settling = { kind: 'unclear' }
  await askOverHttp(wall, { coord, payment })
}

const markAllTaken = (space: 'claimed' | 'reserved') => (wall: Wall) => {
  Object.assign(wall.db.ledger, {
    checkSpace: async () => space,
    checkAvailability: async () => ({ space, prior: undefined }),
  })
}

const ROW = { at: '3,4', w: 2, h: 1 }
const picture = new Uint8Array(200).fill(7).toBase64()

const worlds: readonly World[] = [
  { name: 'an open area', ask: { order: { w: 4, h: 3 } }, ends: 'asked to pay' },
  {
    name: 'an area, paid',
    ask: { order: { ...ROW, pixels: picture, message: 'hi' }, payment: createPaymentFor(2, 1) },
    ends: 'sold',
  },
  { name: 'a partly sold area', open: createSale('4,4', other), ask: { order: ROW }, ends: 'block_taken' },
  {
    name: 'a partly sold area, paid',
    open: createSale('4,4', other),
    ask: { order: ROW, payment: createPaymentFor(2, 1) },
    ends: 'block_taken',
  },
  { name: 'an area that is too large', ask: { order: { w: 30, h: 30 } }, ends: 'invalid_area' },
  { name: 'an area with an unknown field', ask: { order: { ...ROW, colour: 'red' } }, ends: 'invalid_body' },
  { name: 'an area, with a payment that is too low', ask: { order: ROW, payment: own }, ends: 'asked to pay' },
  { name: 'an area, with an invalid payment', ask: { order: ROW, payload: {} }, ends: 'invalid_payment' },
  { name: 'an open block', ask: { coord: '3,4' }, ends: 'asked to pay' },
  { name: 'an open block in another spelling', ask: { coord: '003,4' }, ends: 'asked to pay' },
  { name: 'the next block', ask: { coord: 'next' }, ends: 'asked to pay' },
  {
    name: 'an open block, paid',
    ask: { coord: '3,4', payment: own, listing: { name: 'Ada', message: 'hi' } },
    ends: 'sold',
  },
  {
    name: 'the next block, paid',
    ask: { coord: 'next', payment: own, listing: { px: '07'.repeat(100) } },
    ends: 'sold',
  },
  { name: 'a block that is already paid for', open: createSale('3,4', own), ends: 'sold' },
  { name: 'a payment used for another block', open: createSale('5,5', own), ends: 'payment_used' },
  { name: 'a taken block', open: createSale('3,4', other), ask: { coord: '3,4' }, ends: 'not for sale' },
  { name: 'a taken block, paid', open: createSale('3,4', other), ends: 'block_taken' },
  { name: 'a block held in doubt', open: leaveUncertain('3,4', other), ask: { coord: '3,4' }, ends: 'asked to pay' },
  {
    name: 'a block held in doubt, paid by another wallet',
    open: leaveUncertain('3,4', other),
    ends: 'purchase_pending',
  },
  { name: 'a wall that is sold out', open: markAllTaken('claimed'), ask: { coord: 'next' }, ends: 'sold_out' },
  {
    name: 'a wall that is sold out, paid',
    open: markAllTaken('claimed'),
    ask: { coord: 'next', payment: own },
    ends: 'sold_out',
  },
  {
    name: 'a wall with reserved blocks only',
    open: markAllTaken('reserved'),
    ask: { coord: 'next' },
    ends: 'wall_busy',
  },
  {
    name: 'a wall with reserved blocks only, paid',
    open: markAllTaken('reserved'),
    ask: { coord: 'next', payment: own },
    ends: 'wall_busy',
  },
  { name: 'a bad listing', ask: { coord: '3,4', listing: { name: '\u202e' } }, ends: 'invalid_listing' },
  {
    name: 'a bad listing, paid',
    ask: { coord: '3,4', listing: { link: 'http://a.example/' }, payment: own },
    ends: 'invalid_listing',
  },
  {
    name: 'a bad picture, paid',
    ask: { coord: 'next', listing: { px: 'f0'.repeat(100) }, payment: own },
    ends: 'invalid_pixels',
  },
  { name: 'a bad coordinate', ask: { coord: '160,0', payment: own }, ends: 'invalid_coordinate' },
  { name: 'an invalid payment', ask: { coord: '3,4', payload: {} }, ends: 'invalid_payment' },
  {
    name: 'a payment that is too low',
    ask: { coord: '3,4', payment: createTestPayment(1, 1, { amount: 1n }) },
    ends: 'asked to pay',
  },
  {
    name: 'a payment that has expired',
    ask: { coord: '3,4', payment: createTestPayment(1, 1, { validBefore: 1n }) },
    ends: 'asked to pay',
  },
  {
    name: 'a payment that had settled before the wall saw it',
    open: (wall) => void wall.chain.transferPayment(own),
    ends: 'payment_unmatched',
  },
  {
    name: 'a payment that was cancelled before the wall saw it',
    open: (wall) => wall.chain.cancelAuthorization(own),
    ends: 'asked to pay',
  },
  {
    name: 'a payment that the facilitator rejects',
    open: (wall) =>
      void (wall.facilitator.verification = { kind: 'invalid', reason: 'invalid_exact_evm_insufficient_balance' }),
    ends: 'asked to pay',
  },
  {
    name: 'a facilitator that is unavailable',
    open: (wall) => void (wall.facilitator.verification = { kind: 'unavailable' }),
    ends: 'facilitator_unavailable',
  },
  {
    name: 'a facilitator that becomes unavailable before it settles',
    open: (wall) => void (wall.facilitator.settling = { kind: 'unsent' }),
    ends: 'facilitator_unavailable',
  },
  {
    name: 'a chain that does not respond',
    open: (wall) => void (wall.chain.silent = true),
    ends: 'facilitator_unavailable',
  },
  {
    name: 'a payment rail that can never work',
    open: reportChainFault,
    ask: { coord: '3,4' },
    ends: 'facilitator_unavailable',
  },
  { name: 'a payment rail that can never work, paid', open: reportChainFault, ends: 'facilitator_unavailable' },
  {
    name: 'a payer that the operator denies',
    open: ({ denied }) => void denied.add(own.payer),
    ends: 'payer_denied',
  },
  {
    name: 'a settlement in doubt',
    open: (wall) => void (wall.facilitator.settling = { kind: 'unclear' }),
    ends: 'settlement_unknown',
  },
  {
    name: 'a settlement in doubt, with the same payment sent again',
    open: leaveUncertain('3,4', own),
    ends: 'settlement_unknown',
  },
  {
    name: 'a new payment while an older one is in doubt',
    open: leaveUncertain('3,4', own),
    ask: { coord: '3,4', payment: createTestPayment(1, 9) },
    ends: 'settlement_unknown',
  },
]

describe('both interfaces', () => {
  // Two walls for requests that change nothing.
  let untouched: readonly Wall[]
  beforeAll(async () => {
    untouched = [await openWall(), await openWall()]
  }, 30_000)
  afterEach(async () => {
    await Promise.all(touched.splice(0).map(({ db }) => db.close()))
  })
  afterAll(async () => {
    await Promise.all(untouched.map(({ db }) => db.close()))
  })

  const touched: Wall[] = []
  const openRecordedWall = async () => {
    const wall = await openWall()
    touched.push(wall)
    return wall
  }

  test.each(worlds)(
    '$name: over both HTTP and MCP, the outcome is $ends',
    async ({ open: prepare, ask = PAID, ends }) => {
      const changesNothing = prepare === undefined && ends !== 'sold'
      const [front, back] = changesNothing ? untouched : await Promise.all([openRecordedWall(), openRecordedWall()])
      if (front === undefined || back === undefined) throw new Error('two walls were opened')
      for (const wall of [front, back]) await prepare?.(wall)
      const overHttpEnds = await askOverHttp(front, ask)
      const overMcpEnds = await askOverMcp(back, ask)
      expect(overMcpEnds).toEqual(overHttpEnds)
      expect(describeEnd(overHttpEnds)).toBe(ends)
      expect(await readEffects(back, ask)).toEqual(await readEffects(front, ask))
    },
  )

  test('a payment that is in doubt over HTTP can be completed over MCP, and both interfaces return the same receipt', async () => {
    const wall = await openRecordedWall()
    await leaveUncertain('3,4', own)(wall)
    wall.facilitator.settling = 'honest'
    wall.clock.advance(3000)
    const sold = await askOverMcp(wall, { coord: '3,4', payment: own })
    expect(sold).toMatchObject({ kind: 'sold', settlement: { transaction: toHash(1) } })
    expect(await askOverHttp(wall, { coord: '3,4', payment: own })).toEqual(sold)
  })
})

async function askOverHttp(
  wall: Wall,
  { coord, order, listing, payment, payload = payment && toPayload(payment) }: Ask,
): Promise<Outcome> {
  const headers: Record<string, string> = payload === undefined ? {} : { 'PAYMENT-SIGNATURE': encodeHeader(payload) }
  const response =
    order === undefined
      ? await wall.sendRequest(`GET /blocks/${coord}?${new URLSearchParams(listing).toString()}`, { headers })
      : await wall.sendRequest('POST /areas', createBodyInit(order, headers))
  const body = await readJson(response)
  const header = response.headers.get('payment-response')
  const settlement = header === null ? undefined : decodePaymentResponseHeader(header)
  if (settlement?.success === true) return { kind: 'sold', receipt: body, settlement }
  const terms = response.headers.get('payment-required')
  if (terms !== null)
    return { kind: 'asked to pay', terms: pickTerms(decodePaymentRequiredHeader(terms)), reason: body['reason'] }
  return response.status === 200 ? { kind: 'not for sale' } : { kind: 'refused', body, settlement }
}

async function askOverMcp(
  wall: Wall,
  { coord, order, listing, payment, payload = payment && toPayload(payment) }: Ask,
): Promise<Outcome> {
  const args = order ?? { coord, ...listing }
  const answer = await callTool(wall, order === undefined ? 'buy_block' : 'buy_area', args, payload)
  const { isError, structuredContent: body, _meta: meta = {} } = answer
  const settlement = meta['x402/payment-response']
  if (isError !== true) return { kind: 'sold', receipt: body, settlement }
  if (body['code'] === 402)
    return { kind: 'asked to pay', terms: pickTerms(meta['x402/payment']), reason: body['reason'] }
  // Over HTTP, an unpaid request for a taken block gets the deed of the block; a tool that buys returns an error.
  return body['error'] === 'block_taken' && payload === undefined && order === undefined
    ? { kind: 'not for sale' }
    : { kind: 'refused', body, settlement }
}

// These two fields differ, because each interface is listed in catalogues under its own address.
const pickTerms = (demand: unknown) => ({ ...(demand as object), resource: undefined, extensions: undefined })

const describeEnd = (outcome: Outcome): unknown =>
  outcome.kind === 'refused' ? (outcome.body as { error?: unknown }).error : outcome.kind

/** Waits until every purchase has ended, and reads all effects of a request. */
const readEffects = async (wall: Wall, { payment = own }: Ask) => {
  await wall.waitUntilIdle()
  return await readStoredState(wall, payment)
}

const readStoredState = async (wall: Wall, payment: Payment) => ({
  purchase: await wall.db.ledger.find(payment),
  unfinished: await wall.db.ledger.listUnfinished(wall.clock.now()),
  account: await wall.db.ledgerReader.readAccount(payment.payer),
  log: await wall.db.log.readAfter(0, 100),
  verified: wall.facilitator.verified,
  settled: wall.facilitator.settled,
})
