import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { buyer, type BuyerOptions } from '../../server/local/buyer.ts'
import { newWallet } from '../../server/local/wallets.ts'
import { encodeHeader } from '../../server/x402/header.ts'
import { readPaymentHeader } from '../../server/x402/payload.ts'
import { paymentRequired } from '../../server/x402/terms.ts'
import { TERMS } from '../ports/samples.ts'
import { OFFER } from '../x402/offer.ts'

const WALLET = newWallet()

type Answer = { status: number; headers?: Record<string, string>; body?: string } | 'drop'

const SOLD: Answer = { status: 200, body: 'yours' }
const BUSY: Answer = { status: 503, headers: { 'retry-after': '7' } }

const terms = (amount = TERMS.amount): Answer => ({
  status: 402,
  headers: { 'payment-required': encodeHeader(paymentRequired({ ...OFFER, terms: { ...TERMS, amount } }, 'next')) },
})

/** A wall of a few lines: asks for payment when there is none, else gives the prepared answers in turn. */
function playWall(answers: Answer[], unpaid = terms()) {
  const paid: { url: string; payment: string }[] = []
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        const [requestLine = '', ...lines] = bytes.toString().split('\r\n')
        const payment = lines
          .map((line) => /^payment-signature: (.*)$/i.exec(line)?.[1])
          .find((text) => text !== undefined)
        if (payment !== undefined) paid.push({ url: requestLine.split(' ')[1] ?? '', payment })
        const answer = payment === undefined ? unpaid : (answers.shift() ?? SOLD)
        if (answer !== 'drop') socket.write(inHttp(answer))
        socket.end()
      },
    },
  })
  return { paid, url: `http://127.0.0.1:${server.port}/blocks/next`, [Symbol.dispose]: () => server.stop(true) }
}

function inHttp({ status, headers = {}, body = '' }: Exclude<Answer, 'drop'>): string {
  const lines = Object.entries({ ...headers, 'content-length': String(body.length), connection: 'close' })
  return [`HTTP/1.1 ${status} Played`, ...lines.map(([name, text]) => `${name}: ${text}`), '', body].join('\r\n')
}

/** Buys, and tells what came of it. */
async function buyAt(wall: ReturnType<typeof playWall>, options: BuyerOptions = {}) {
  const waited: number[] = []
  const pay = buyer(WALLET, { onWait: (status) => waited.push(status), ...options })
  const { status } = await pay(`${wall.url}?name=Ada`)
  return {
    status,
    waited,
    payments: wall.paid.length,
    signatures: new Set(wall.paid.map(({ payment }) => payment)).size,
  }
}

describe('a buyer', () => {
  const pauses: number[] = []
  let sleep: { mockRestore(): void }

  beforeEach(() => {
    pauses.length = 0
    sleep = spyOn(Bun, 'sleep').mockImplementation((ms) => {
      pauses.push(Number(ms))
      return Promise.resolve()
    })
  })
  afterEach(() => sleep.mockRestore())

  test('pays what is asked, for the address it asked for', async () => {
    using wall = playWall([SOLD])
    expect(await buyAt(wall)).toEqual({ status: 200, waited: [], payments: 1, signatures: 1 })
    const [sent] = wall.paid
    expect(sent?.url).toBe('/blocks/next?name=Ada')
    expect(readPaymentHeader(sent?.payment ?? '')).toMatchObject({
      payer: WALLET.address.toLowerCase(),
      to: TERMS.payTo,
    })
    expect(decodePaymentSignatureHeader(sent?.payment ?? '').x402Version).toBe(2)
  })

  test('asks again with the same signature while the outcome is unknown, as late as it is told', async () => {
    using wall = playWall([BUSY, BUSY, SOLD])
    expect(await buyAt(wall)).toEqual({ status: 200, waited: [503, 503], payments: 3, signatures: 1 })
    expect(pauses).toEqual([7000, 7000])
  })

  test("asks again with the same signature after the facilitator's trouble", async () => {
    using wall = playWall([{ status: 502, headers: { 'retry-after': '1' } }, SOLD])
    expect(await buyAt(wall)).toEqual({ status: 200, waited: [502], payments: 2, signatures: 1 })
  })

  test('waits two seconds when it is not told how long', async () => {
    using wall = playWall([{ status: 503 }, { status: 503, headers: { 'retry-after': 'soon' } }, SOLD])
    expect(await buyAt(wall)).toMatchObject({ status: 200, payments: 3, signatures: 1 })
    expect(pauses).toEqual([2000, 2000])
  })

  test('asks again with the same signature when the connection is lost', async () => {
    using wall = playWall(['drop', BUSY, SOLD])
    const bought = await buyAt(wall)
    expect(bought).toMatchObject({ status: 200, waited: [0, 503], signatures: 1 })
    expect(pauses).toEqual([2000, 7000])
  })

  test.each([400, 402, 409, 410])('takes a %i as final, and signs nothing more', async (status) => {
    using wall = playWall([status === 402 ? terms() : { status }])
    expect(await buyAt(wall)).toEqual({ status, waited: [], payments: 1, signatures: 1 })
  })

  test('gives up after thirty tries, with the last answer', async () => {
    using wall = playWall(Array.from({ length: 40 }, () => BUSY))
    const bought = await buyAt(wall)
    expect(bought).toMatchObject({ status: 503, payments: 30, signatures: 1 })
    expect(bought.waited).toHaveLength(29)
  })

  test('signs for no more than a dollar, unless it is told to', async () => {
    using dear = playWall([SOLD], terms(TERMS.amount + 1n))
    await expect(buyAt(dear)).rejects.toThrow()
    expect(dear.paid).toEqual([])
    expect(await buyAt(dear, { maxDollars: '1.01' })).toMatchObject({ status: 200, payments: 1 })
  })

  test('signs for no more than it is told to', async () => {
    using wall = playWall([SOLD])
    await expect(buyAt(wall, { maxDollars: '0.99' })).rejects.toThrow()
    expect(wall.paid).toEqual([])
  })

  test('does not pay for what is free', async () => {
    using wall = playWall([], SOLD)
    expect(await buyAt(wall)).toMatchObject({ status: 200, payments: 0 })
  })
})
