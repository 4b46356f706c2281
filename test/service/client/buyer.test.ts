import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, watch } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { createBuyer, openPaymentStore, type BuyerOptions } from '../../../server/client/buyer.ts'
import { lockFolder } from '../../../server/client/lock.ts'
import type { OrderToPay } from '../../../server/client/orders.ts'
import { WallError } from '../../../server/client/wall-error.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import { readPaymentHeader } from '../../../server/x402/payload.ts'
import { encodeHeader } from '../../../server/x402/receipt.ts'
import { buildDemand } from '../../../server/x402/terms.ts'
import { OFFER } from '../../support/offer.ts'
import { TERMS } from '../../support/samples.ts'

const WALLET = createWallet()

type Answer = { status: number; headers?: Record<string, string>; body?: string } | 'drop'

const createSoldAnswer = (block: string): Answer => ({
  status: 200,
  headers: { 'payment-response': 'e30=' },
  body: JSON.stringify({ block, owner: 'you' }),
})
const createRefusal = (status: number, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify({ error: `code_${status}`, message: 'In words.' }),
})
/** An error response that states `charged`. */
const createChargedAnswer = (status: number, error: string, said: 'yes' | 'no' | 'unknown'): Answer => ({
  status,
  body: JSON.stringify({ error, message: 'In words.', charged: said }),
})
const SOLD = createSoldAnswer('80,45')
const BUSY = createRefusal(503, { 'retry-after': '7' })

const createTermsAnswer = (amount = TERMS.amount): Answer => ({
  status: 402,
  headers: {
    'payment-required': encodeHeader(
      buildDemand({ ...OFFER, baseUrl: 'http://127.0.0.1', terms: { ...TERMS, amount } }, 'next'),
    ),
  },
  body: JSON.stringify({ error: 'payment_required', message: 'Pay.' }),
})

/** A minimal wall: it returns terms for an unpaid request, and the next prepared response for each paid one. */
function startScriptedWall(answers: Answer[], unpaid: Answer | (() => Answer) = createTermsAnswer()) {
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
        const demand = typeof unpaid === 'function' ? unpaid : () => unpaid
        const answer = payment === undefined ? demand() : (answers.shift() ?? SOLD)
        if (answer !== 'drop') socket.write(renderHttp(answer))
        socket.end()
      },
    },
  })
  return { paid, url: `http://127.0.0.1:${server.port}/blocks/next`, [Symbol.dispose]: () => server.stop(true) }
}

function renderHttp({ status, headers = {}, body = '' }: Exclude<Answer, 'drop'>): string {
  const lines = Object.entries({ ...headers, 'content-length': String(body.length), connection: 'close' })
  return [`HTTP/1.1 ${status} Played`, ...lines.map(([name, text]) => `${name}: ${text}`), '', body].join('\r\n')
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pixel-wall-buyer-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const pauses: number[] = []
beforeEach(() => void (pauses.length = 0))

type Options = BuyerOptions & Partial<Pick<Parameters<typeof createBuyer>[0], 'now' | 'isOwnArea'>>

/** A buyer as a new process would create it, with the payment folder of earlier buyers. */
const createTestBuyer = (options: Options = {}) =>
  createBuyer({
    account: WALLET,
    ...openPaymentStore(folder),
    pause: (ms) => {
      pauses.push(ms)
      return Promise.resolve()
    },
    ...options,
  })

/** The number of signed payments saved on disk. */
const countSavedPayments = async () => (await readdir(folder)).filter((name) => name.endsWith('.json')).length

const ADA = '?name=Ada'

const createOrder = (url: string): OrderToPay => ({ url, text: `an order for ${url}`, blocks: 1 })

/** Buys, and returns how the purchase ended, and how many payments were sent, were signed, and are still saved. */
async function buyAt(wall: ReturnType<typeof startScriptedWall>, options: Options = {}) {
  const waited: number[] = []
  const end = await createTestBuyer({ onWait: (status) => waited.push(status), ...options })
    .buy(createOrder(wall.url + ADA))
    .then(async ({ receipt, done }) => {
      await done()
      return receipt.block
    })
    .catch((error: unknown) => (error instanceof WallError ? `${error.kind} ${error.code}` : error))
  const payments = wall.paid.length
  return {
    end,
    waited,
    payments,
    signatures: new Set(wall.paid.map(({ payment }) => payment)).size,
    kept: await countSavedPayments(),
  }
}

describe('a buyer', () => {
  test('a buyer signs a payment to the payee in the terms, and sends it to the URL that it requested', async () => {
    using wall = startScriptedWall([SOLD])
    expect(await buyAt(wall)).toEqual({ end: '80,45', waited: [], payments: 1, signatures: 1, kept: 0 })
    const [sent] = wall.paid
    expect(sent?.url).toBe('/blocks/next?name=Ada')
    expect(readPaymentHeader(sent?.payment ?? '')).toMatchObject({
      payer: WALLET.address.toLowerCase(),
      to: TERMS.payTo,
    })
    expect(decodePaymentSignatureHeader(sent?.payment ?? '').x402Version).toBe(2)
  })

  test('while the outcome is unknown, a buyer resends the same signature after the delay that the wall states', async () => {
    using wall = startScriptedWall([BUSY, BUSY, SOLD])
    expect(await buyAt(wall)).toMatchObject({ end: '80,45', waited: [503, 503], payments: 3, signatures: 1 })
    expect(pauses).toEqual([7000, 7000])
  })

  test('if the wall does not state a valid delay, a buyer waits two seconds before it resends the payment', async () => {
    using wall = startScriptedWall([createRefusal(503), createRefusal(503, { 'retry-after': 'soon' }), SOLD])
    expect(await buyAt(wall)).toMatchObject({ end: '80,45', payments: 3, signatures: 1 })
    expect(pauses).toEqual([2000, 2000])
  })

  const passing: [string, Answer][] = [
    ['a facilitator error', createRefusal(502)],
    ['a response that says that its budget is used up', createRefusal(429)],
    ['a lost connection', 'drop'],
    ['an error page from a proxy', { status: 404, body: '<h1>Not found</h1>' }],
    ['an error from a gateway', createRefusal(404)],
    ['a page with status 200', { status: 200, body: '<h1>Welcome</h1>' }],
    ['a deed, which it gets because a proxy dropped the payment', { status: 200, body: '{"state":"claimed"}' }],
  ]
  test.each(passing)('a buyer resends the same signature after %s', async (_, answer) => {
    using wall = startScriptedWall([answer, SOLD])
    expect(await buyAt(wall)).toMatchObject({ end: '80,45', payments: 2, signatures: 1, kept: 0 })
  })

  test.each([400, 402, 403, 404, 409, 410, 413, 429])(
    'a buyer resends the same signature after a %i that does not state the outcome of the payment',
    async (status) => {
      using wall = startScriptedWall([status === 402 ? createTermsAnswer() : createRefusal(status), SOLD])
      expect(await buyAt(wall)).toMatchObject({ end: '80,45', waited: [status], payments: 2, signatures: 1, kept: 0 })
    },
  )

  test.each([400, 409, 410])(
    'a buyer accepts a wall’s %i as final if it says `charged: no`, and signs nothing more',
    async (status) => {
      using wall = startScriptedWall([createChargedAnswer(status, 'a_code', 'no')])
      expect(await buyAt(wall)).toEqual({ end: 'refused a_code', waited: [], payments: 1, signatures: 1, kept: 0 })
    },
  )

  test('if the price changed and the first payment is void, a buyer signs once more, but only within its maximum', async () => {
    const prices = [TERMS.amount, TERMS.amount + 10_000n]
    const createChangedTerms = () => createTermsAnswer(prices.shift() ?? TERMS.amount)
    using wall = startScriptedWall([createChargedAnswer(402, 'payment_required', 'no'), SOLD], createChangedTerms)
    expect(await buyAt(wall, { maxDollars: '1.01' })).toMatchObject({ end: '80,45', signatures: 2, kept: 0 })
    prices.push(TERMS.amount, TERMS.amount + 20_000n)
    using dear = startScriptedWall([createChargedAnswer(402, 'payment_required', 'no')], createChangedTerms)
    expect(await buyAt(dear, { maxDollars: '1.01' })).toMatchObject({
      end: 'above-max above_max',
      signatures: 1,
      kept: 0,
    })
  })

  test('a buyer does not sign a third payment after the wall has rejected two payments', async () => {
    using wall = startScriptedWall(Array.from({ length: 3 }, () => createChargedAnswer(402, 'payment_required', 'no')))
    expect(await buyAt(wall)).toMatchObject({ end: 'refused payment_required', signatures: 2, kept: 0 })
  })

  test('a buyer accepts a receipt without its PAYMENT-RESPONSE header, because a proxy may drop that header', async () => {
    using wall = startScriptedWall([{ status: 200, body: JSON.stringify({ block: '1,1', owner: 'you' }) }])
    expect(await buyAt(wall)).toEqual({ end: '1,1', waited: [], payments: 1, signatures: 1, kept: 0 })
  })

  const taken: [string, string, Answer][] = [
    ['a credit', 'payment_credited', createChargedAnswer(409, 'payment_credited', 'yes')],
    ['another block', 'payment_used', createChargedAnswer(409, 'payment_used', 'yes')],
  ]
  test.each(taken)(
    'if the wall used the payment for %s, a buyer reports that it paid, and keeps the payment as proof',
    async (_, code, answer) => {
      using wall = startScriptedWall([answer])
      expect((await buyAt(wall)).end).toBe(`paid ${code}`)
      const [proof = ''] = (await readdir(folder)).filter((name) => name.endsWith('.paid'))
      expect(await Bun.file(join(folder, proof)).json()).toMatchObject({ payment: wall.paid[0]?.payment })
    },
  )

  test('a buyer keeps a payment that may still settle, and deletes one that can never settle', async () => {
    using wall = startScriptedWall([
      createChargedAnswer(402, 'payment_required', 'unknown'),
      createChargedAnswer(409, 'payment_used', 'no'),
      SOLD,
    ])
    expect(await buyAt(wall)).toMatchObject({ end: 'unknown payment_required', kept: 1 })
    expect(await buyAt(wall)).toMatchObject({ end: '80,45', payments: 3, signatures: 2, kept: 0 })
  })

  test('if a rejected payment may still settle, a buyer reports why it was rejected, how much it may cost and until when it may settle', async () => {
    const reason = 'invalid_exact_evm_insufficient_balance'
    const body = JSON.stringify({ error: 'payment_required', message: 'Not charged: x.', charged: 'unknown', reason })
    using wall = startScriptedWall([{ status: 402, body }])
    const now = Date.UTC(2026, 0, 1)
    const error = await createTestBuyer({ now: () => now })
      .buy(createOrder(wall.url))
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      kind: 'unknown',
      charged: 'unknown',
      amount: '1.00',
      until: '2026-01-01T00:05:00.000Z',
      message: `${WALLET.address} holds less than the 1.00 USDC that it needs; fund it. The signed payment of 1.00 USDC is saved, and may still be charged until 2026-01-01 00:05:00 UTC. Repeat the same purchase; you will not pay twice.`,
    })
  })

  test('if the outcome stays unknown, a buyer gives up after thirty attempts, and keeps the payment', async () => {
    using wall = startScriptedWall(Array.from({ length: 30 }, () => BUSY))
    const bought = await buyAt(wall)
    expect(bought).toMatchObject({ end: 'unknown code_503', payments: 30, signatures: 1, kept: 1 })
    expect(bought.waited).toHaveLength(29)
  })

  test('a buyer signs a payment of at most one dollar, unless its caller sets another maximum', async () => {
    using dear = startScriptedWall([SOLD], createTermsAnswer(TERMS.amount + 1n))
    expect(await buyAt(dear)).toMatchObject({ end: 'above-max above_max', payments: 0, kept: 0 })
    expect(await buyAt(dear, { maxDollars: '1.01' })).toMatchObject({ end: '80,45', payments: 1 })
    using cheap = startScriptedWall([SOLD])
    expect(await buyAt(cheap, { maxDollars: '0.99' })).toMatchObject({ end: 'above-max above_max', payments: 0 })
  })

  test('a buyer does not pay for a sold block, and recognises a block that it already owns', async () => {
    using wall = startScriptedWall([], { status: 200, body: '{"state":"claimed"}' })
    expect(await buyAt(wall)).toMatchObject({ end: 'refused block_taken', payments: 0 })
    const order = { ...createOrder(wall.url), place: '3,4,1x1' }
    for (const [owned, code] of [
      ['3,4,1x1', 'already_yours'],
      ['other', 'block_taken'],
    ])
      await expect(createTestBuyer({ isOwnArea: async (area) => area === owned }).buy(order)).rejects.toMatchObject({
        code,
      })
  })

  test('if the wall does not respond, a buyer reports it as unreachable and pays nothing', async () => {
    using wall = startScriptedWall([], 'drop')
    expect(await buyAt(wall)).toMatchObject({ end: 'unavailable unreachable', payments: 0 })
  })
})

describe('a buyer that was cut off', () => {
  /** Simulates a process that pays and crashes before it returns the receipt; its files stay as they are. */
  async function interruptPurchase(wall: ReturnType<typeof startScriptedWall>, query = ADA): Promise<void> {
    await createTestBuyer().buy(createOrder(wall.url + query))
    // A crash would end the process and its lock, but this process is still running, so the lock is removed here.
    await rm(join(folder, 'lock'))
  }

  test('a restarted buyer that places the same order again gets the receipt of the same payment', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('1,1')])
    await interruptPurchase(wall)
    expect(await buyAt(wall)).toMatchObject({ end: '1,1', payments: 2, signatures: 1, kept: 0 })
  })

  test('a restarted buyer with a new order first finishes its saved payment, and then pays for the new order', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('1,1'), createSoldAnswer('2,2')])
    await interruptPurchase(wall, '?name=Bob')
    const reported: string[] = []
    const end = await buyAt(wall, {
      maxDollars: '2',
      onEarlier: (receipt) => reported.push('block' in receipt ? receipt.block : receipt.area),
    })
    expect(end).toMatchObject({ end: '2,2', payments: 3, signatures: 2, kept: 0 })
    expect(reported).toEqual(['1,1'])
  })

  test('a restarted buyer signs a new payment if the wall says that the saved one is void', async () => {
    using wall = startScriptedWall([
      createSoldAnswer('1,1'),
      createChargedAnswer(410, 'sold_out', 'no'),
      createSoldAnswer('2,2'),
    ])
    await interruptPurchase(wall)
    expect(await buyAt(wall)).toMatchObject({ end: '2,2', payments: 3, signatures: 2, kept: 0 })
  })

  test('a restarted buyer does not sign another payment for the same order while its saved payment is unfinished', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), ...Array.from({ length: 30 }, () => BUSY)])
    await interruptPurchase(wall)
    expect(await buyAt(wall)).toMatchObject({ end: 'unknown code_503', payments: 31, signatures: 1, kept: 1 })
  })

  test.each([404, 413, 503])(
    'a restarted buyer can pay for another order even if its saved payment only gets a %i, and it reports the saved payment',
    async (status) => {
      using wall = startScriptedWall([
        createSoldAnswer('1,1'),
        ...Array.from({ length: 3 }, () => createRefusal(status)),
        createSoldAnswer('2,2'),
      ])
      await interruptPurchase(wall, '?name=Bob')
      const reported: string[] = []
      const end = await buyAt(wall, { maxDollars: '2', onOpen: ({ kind, code }) => reported.push(`${kind} ${code}`) })
      expect(end).toMatchObject({ end: '2,2', payments: 5, signatures: 2, kept: 1 })
      expect(reported).toEqual([`unknown code_${status}`])
    },
  )

  test('if the saved payment became a credit, a restarted buyer reports the credit and does not sign a new payment', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createChargedAnswer(409, 'payment_credited', 'yes')])
    await interruptPurchase(wall)
    expect(await buyAt(wall)).toMatchObject({ end: 'paid payment_credited', payments: 2, signatures: 1, kept: 0 })
  })

  test('a buyer does not exceed its current maximum to finish an earlier order, and reports that the earlier order is still open', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('2,2'), createSoldAnswer('1,1')])
    await interruptPurchase(wall, '?name=Bob')
    const reported: string[] = []
    const onOpen = ({ code, amount, until }: WallError) => reported.push(`${code} ${amount} ${until !== undefined}`)
    expect(await buyAt(wall, { onOpen })).toMatchObject({ end: '2,2', payments: 2, signatures: 2, kept: 1 })
    expect(reported).toEqual(['not_resent 1.00 true'])
    const again = createTestBuyer({ maxDollars: '0.50' }).buy(createOrder(`${wall.url}?name=Bob`))
    expect((await again).receipt.block).toBe('1,1')
  })

  test('a restarted buyer finishes its saved payments, even if all of them have expired', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('1,1'), createSoldAnswer('2,2')])
    await interruptPurchase(wall, '?name=Bob')
    const reported: string[] = []
    const later = Date.now() + 3_600_000
    const options = { now: () => later, onEarlier: () => reported.push('finished') }
    expect(await buyAt(wall, options)).toMatchObject({ end: '2,2', payments: 3, kept: 0 })
    expect(reported).toEqual(['finished'])
  })

  test('a restarted buyer can finish its saved payments without buying anything', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('1,1')])
    await interruptPurchase(wall)
    const reported: string[] = []
    await createTestBuyer({
      onEarlier: (receipt) => reported.push('block' in receipt ? receipt.block : receipt.area),
    }).finish()
    expect([reported, wall.paid.length, await countSavedPayments()]).toEqual([['1,1'], 2, 0])
  })
})

describe('several purchases by one wallet', () => {
  test('two purchases by one wallet in one process are both paid', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('2,2')])
    const both = createTestBuyer()
    const all = await Promise.all([1, 2].map(() => both.buy(createOrder(wall.url))))
    await Promise.all(all.map(({ done }) => done()))
    expect(all.map(({ receipt }) => receipt.block).toSorted()).toEqual(['1,1', '2,2'])
    expect(new Set(wall.paid.map(({ payment }) => payment)).size).toBe(2)
  })

  test('two purchases by one wallet in two processes are both paid, one process after the other', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1'), createSoldAnswer('2,2')])
    const waiting = Promise.withResolvers<void>()
    const first = await createTestBuyer().buy(createOrder(wall.url))
    const second = createTestBuyer({ onLocked: waiting.resolve }).buy(createOrder(wall.url))
    await waiting.promise
    expect(wall.paid).toHaveLength(1)
    await first.done()
    expect((await second).receipt.block).toBe('2,2')
    expect(new Set(wall.paid.map(({ payment }) => payment)).size).toBe(2)
  })

  test('a purchase does not wait for the lock of a process that has ended', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1')])
    await mkdir(folder, { recursive: true })
    const gone = Bun.spawn(['true'])
    await gone.exited
    await Bun.write(join(folder, 'lock'), String(gone.pid))
    expect(await buyAt(wall)).toMatchObject({ end: '1,1', payments: 1 })
  })

  test('a process refreshes its lock as long as it holds the lock, so that other processes wait', async () => {
    const unlock = await lockFolder(folder)
    const path = join(folder, 'lock')
    const changes = watch(path)
    await utimes(path, new Date(0), new Date(0))
    for await (const _ of changes) if ((await stat(path)).mtimeMs > Date.now() - 5000) break
    await unlock()
  })

  test('a purchase does not wait for a lock that is no longer refreshed, even if another process now has the process id in the lock', async () => {
    using wall = startScriptedWall([createSoldAnswer('1,1')])
    const path = join(folder, 'lock')
    await Bun.write(path, String(process.pid))
    await utimes(path, new Date(0), new Date(0))
    expect(await buyAt(wall)).toMatchObject({ end: '1,1', payments: 1 })
  })
})

test('if a request takes a long time, a buyer reports once that the wall has not responded yet', async () => {
  const said: string[] = []
  const answered = Promise.withResolvers<Response>()
  const buying = createBuyer({
    ...openPaymentStore(folder),
    account: WALLET,
    slowMs: 1,
    fetch: () => answered.promise,
    onWait(status, why) {
      said.push(`${status} ${why}`)
      answered.resolve(new Response('', { status: 404 }))
    },
  }).buy({ url: 'http://127.0.0.1/blocks/next', text: '', blocks: 1 })
  await expect(buying).rejects.toMatchObject({ code: 'no_wall' })
  expect(said).toEqual([expect.stringMatching(/^0 The wall has not responded yet\./)])
})
