import { describe, expect, test } from 'bun:test'
import type { Address, Hash, Payment } from '../../../server/domain/purchase/payment.ts'
import type { ChainStatus } from '../../../server/domain/purchase/purchase.ts'
import type { Chain, Transfer } from '../../../server/ports.ts'

// Goal: every promise of the `Chain` port, as its callers rely on it. Method: each test ends an authorization in one of
// the possible ways, and queries the status as a purchase does: from the height read before anything was sent.

/** A chain, and the actions of others on it. */
export type ChainWorld = {
  readonly chain: Chain
  /** The same chain through an endpoint that does not respond. */
  readonly gone: Chain
  /** A chain through an endpoint that serves another network. */
  readonly foreign: Chain
  /** A new payment by a payer who holds the money; it has not been sent anywhere. */
  createPayment(): Promise<Payment>
  /** Moves the money, and returns the transaction that moved it. */
  settle(payment: Payment): Promise<Hash>
  /** Moves an amount from the payer to the payee of the payment, without an authorization; returns the transaction. */
  transferDirectly(payment: Payment, amount: bigint): Promise<Hash>
  cancelAuthorization(payment: Payment): Promise<void>
  /** Spends the nonce on a different transfer by the same payer. */
  spendElsewhere(payment: Payment): Promise<void>
  /** Lets time pass until no block before the expiry of the authorization can be replaced. */
  expire(payment: Payment): Promise<void>
}

/** The suite of the `Chain` port. */
export function testChain(name: string, open: () => Promise<ChainWorld>): void {
  describe(`chain through ${name}`, () => {
    testEnds(open)
    testReceipts(open)
    testBalances(open)
    testLimits(open)
  })
}

function testEnds(open: () => Promise<ChainWorld>): void {
  test('an authorization that nobody broadcast is unspent', async () => {
    const { chain, createPayment } = await open()
    const ours = await createPayment()
    expect(await chain.readAuthorization(ours)).toMatchObject({ spent: false })
    expect(await chain.readPaymentStatus(ours, await readHeadFor(chain, ours))).toEqual({ kind: 'unspent' })
  })

  test('a payment counts as paid by the transaction that moved its money', async () => {
    const { chain, createPayment, settle: land } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    const tx = await land(ours)
    expect(tx).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await chain.readAuthorization(ours)).toMatchObject({ spent: true })
    expect(await chain.readPaymentStatus(ours, head)).toEqual({ kind: 'paid', tx })
  })

  test('the payment of one authorization proves nothing about another authorization, even if both have the same payer or the same nonce', async () => {
    const { chain, createPayment, settle: land } = await open()
    const [ours, other] = [await createPayment(), await createPayment()]
    const head = await readHeadFor(chain, ours)
    await land(ours)
    for (const unsent of [other, { ...other, nonce: ours.nonce }, { ...ours, nonce: other.nonce }]) {
      expect(await chain.readAuthorization(unsent)).toMatchObject({ spent: false })
      expect(await chain.readPaymentStatus(unsent, head)).toEqual({ kind: 'unspent' })
    }
  })

  test('a cancelled authorization is used up and can never pay', async () => {
    const { chain, createPayment, cancelAuthorization } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    await cancelAuthorization(ours)
    expect(await chain.readAuthorization(ours)).toMatchObject({ spent: true })
    expectVoid(await chain.readPaymentStatus(ours, head))
  })

  test('a nonce spent on another transfer is used up and can never pay', async () => {
    const { chain, createPayment, spendElsewhere } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    await spendElsewhere(ours)
    expect(await chain.readAuthorization(ours)).toMatchObject({ spent: true })
    expectVoid(await chain.readPaymentStatus(ours, head))
  })

  test('a payment with an unknown amount is paid by any amount, but only to its payee', async () => {
    const { chain, createPayment, settle: land } = await open()
    const ours = await createPayment()
    const { amount, ...anyAmount } = ours
    const head = await readHeadFor(chain, ours)
    const tx = await land(ours)
    expect(await chain.readPaymentStatus(anyAmount, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus({ ...anyAmount, to: ours.payer }, head)).toMatchObject({ kind: 'void' })
    expect(await chain.readPaymentStatus({ ...anyAmount, amount: amount + 1n }, head)).toMatchObject({ kind: 'void' })
  })

  test('an authorization that expired unused can never pay', async () => {
    const { chain, createPayment, expire } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    await expire(ours)
    expect(await chain.readAuthorization(ours)).toMatchObject({ spent: false })
    expect(await chain.readPaymentStatus(ours, head)).toMatchObject({ kind: 'void', final: true })
  })

  test('a payment whose money moved before its expiry counts as finally paid after the expiry', async () => {
    const { chain, createPayment, settle: land, expire } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    const tx = await land(ours)
    await expire(ours)
    expect(await chain.readPaymentStatus(ours, head)).toEqual({ kind: 'paid', tx, final: true })
  })
}

function testReceipts(open: () => Promise<ChainWorld>): void {
  test('transfers to an address are listed in the order of arrival, each with its authorization if it has one', async () => {
    const { chain, createPayment, settle: land, transferDirectly } = await open()
    const [first, second] = [await createPayment(), await createPayment()]
    const from = (await readHeadFor(chain, first)) + 1n
    const txs = [await land(first), await transferDirectly(second, 5n), await land(second)]
    const transfers = await readTransfersSince(chain, first.to, from)
    expect(transfers.filter(({ tx }) => txs.includes(tx)).map(({ height: _height, ...transfer }) => transfer)).toEqual([
      { payer: first.payer, nonce: first.nonce, amount: first.amount, tx: txs[0] ?? '0x' },
      { payer: second.payer, nonce: null, amount: 5n, tx: txs[1] ?? '0x' },
      { payer: second.payer, nonce: second.nonce, amount: second.amount, tx: txs[2] ?? '0x' },
    ])
  })

  test('transfers before the given height and transfers to other addresses are not listed', async () => {
    const { chain, createPayment, settle: land, cancelAuthorization, spendElsewhere } = await open()
    const [ours, astray, cancelled] = [await createPayment(), await createPayment(), await createPayment()]
    const from = (await readHeadFor(chain, ours)) + 1n
    const tx = await land(ours)
    await spendElsewhere(astray)
    await cancelAuthorization(cancelled)
    expect((await readTransfersSince(chain, ours.to, from)).filter(({ payer }) => payer !== ours.payer)).toEqual([])
    expect(await readTransfersSince(chain, ours.payer, from)).toEqual([])
    const later = (await readHeadFor(chain, ours)) + 1n
    expect((await readTransfersSince(chain, ours.to, later)).filter((transfer) => transfer.tx === tx)).toEqual([])
  })
}

/** Returns all transfers to an address from a block height on. */
async function readTransfersSince(chain: Chain, payTo: Address, from: bigint): Promise<Transfer[]> {
  const all: Transfer[] = []
  for (let next = from; ;) {
    const receipts = await chain.readTransfers(payTo, next)
    if (receipts === 'silent') throw new Error('the chain is silent')
    all.push(...receipts.transfers)
    if (receipts.isAll) return all
    next = receipts.next
  }
}

function testBalances(open: () => Promise<ChainWorld>): void {
  test('the balance of a wallet decreases by the amount of its payment', async () => {
    const { chain, createPayment, settle: land } = await open()
    const ours = await createPayment()
    const before = await chain.readBalance(ours.payer)
    await land(ours)
    expect(before).not.toBe('silent')
    expect(await chain.readBalance(ours.payer)).toBe(BigInt(before) - ours.amount)
  })
}

function testLimits(open: () => Promise<ChainWorld>): void {
  test('a chain whose height is below one that was read before counts as silent', async () => {
    const { chain, createPayment, settle: land } = await open()
    const ours = await createPayment()
    const head = await readHeadFor(chain, ours)
    await land(ours)
    expect(await chain.readPaymentStatus(ours, head + 1_000_000n)).toEqual({ kind: 'silent' })
  })

  test('a chain that does not respond counts as silent, and proves nothing', async () => {
    const { gone, createPayment } = await open()
    const ours = await createPayment()
    expect(await gone.readAuthorization(ours)).toBe('silent')
    expect(await gone.readPaymentStatus(ours, 0n)).toEqual({ kind: 'silent' })
    expect(await gone.checkHealth()).toMatchObject({ kind: 'silent' })
    expect(await gone.readTransfers(ours.to, 0n)).toBe('silent')
    expect(await gone.readBalance(ours.payer)).toBe('silent')
  })

  test('health reports no fault for the right network, and a fault for another network', async () => {
    const { chain, foreign } = await open()
    expect(await chain.checkHealth()).toMatchObject({ kind: 'none' })
    expect(await foreign.checkHealth()).toEqual({ kind: 'fault', what: expect.stringMatching(/\w/) })
  })
}

/** Returns the height that a purchase records before it sends anything. */
export async function readHeadFor(chain: Chain, payment: Payment): Promise<bigint> {
  const seen = await chain.readAuthorization(payment)
  if (seen === 'silent') throw new Error('the chain is silent')
  return seen.head
}

const expectVoid = (status: ChainStatus) => expect(status).toEqual({ kind: 'void', why: expect.stringMatching(/\w/) })
