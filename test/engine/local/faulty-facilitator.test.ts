import { afterAll, beforeAll, expect, test } from 'bun:test'
import { getAddress } from 'viem'
import { startLocalNetwork } from '../../../server/local/network.ts'
import type { LocalNetwork } from '../../../server/local/network.ts'
import { newWallet } from '../../../server/local/wallets.ts'
import { inventedHash, startFaultyFacilitator } from '../../support/chain/faulty-facilitator.ts'
import type { FaultyFacilitator, SettleFault, VerifyFault } from '../../support/chain/faulty-facilitator.ts'
import { facilitatorAt, oneDollarTo, signPayment } from '../../support/chain/payments.ts'

let network: LocalNetwork
let faulty: FaultyFacilitator
beforeAll(async () => {
  network = await startLocalNetwork()
  faulty = await startFaultyFacilitator(network.askFacilitator)
})
afterAll(async () => {
  await faulty.stop()
  await network.stop()
})

const anyHash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
const reset = { code: 'ECONNRESET' }
const unreadable = { name: 'FacilitatorResponseError' }

/** What the stock client makes of each settle fault, and whether the dollar moved. */
const settleTable: Record<SettleFault, [seen: object, moved: boolean]> = {
  'hang-before': [{ name: 'FacilitatorTimeoutError' }, false],
  'hang-after': [{ name: 'FacilitatorTimeoutError' }, true],
  'error-json-after': [{ message: expect.stringContaining('(500)') }, true],
  'error-html-after': [{ message: expect.stringContaining('(500)') }, true],
  'error-before': [{ message: expect.stringContaining('(503)') }, false],
  'busy-before': [{ message: expect.stringContaining('(429)') }, false],
  'unreadable-before': [{ message: expect.stringContaining('(400)') }, false],
  'failed-after': [
    { success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction: '', network: 'eip155:8453' },
    true,
  ],
  'lost-hash-after': [{ success: true, transaction: '' }, true],
  'pending-after': [{ success: false, errorReason: 'settlement_pending', transaction: anyHash }, true],
  'pending-500-after': [{ statusCode: 500, errorReason: 'settlement_pending', transaction: anyHash }, true],
  'invented-hash': [{ success: true, transaction: inventedHash }, false],
  'invented-hash-after': [{ success: true, transaction: inventedHash }, true],
  'reset-before': [reset, false],
  'reset-after': [reset, true],
  'refused-recipient': [
    { success: false, errorReason: 'invalid_exact_evm_recipient_mismatch', transaction: '' },
    false,
  ],
  garbage: [unreadable, false],
  'garbage-after': [unreadable, true],
}

for (const [fault, [seen, moved]] of Object.entries(settleTable)) {
  test(`settle ${fault}: the dollar ${moved ? 'moves' : 'stays'}`, async () => {
    const terms = oneDollarTo(newWallet().address)
    const payment = await signPayment(await network.wallet(1), terms)
    const [arrived, forwarded] = [faulty.settle.count(), faulty.settle.forwarded()]
    if (isSettleFault(fault)) faulty.settle.next(fault)
    const timeoutMs = fault.startsWith('hang') ? 100 : 5_000
    expect(await outcome(facilitatorAt(faulty.url, timeoutMs).settle(payment, terms))).toMatchObject(seen)
    if (moved) await faulty.settle.forwardedUntil(forwarded + 1)
    expect(faulty.settle.count()).toBe(arrived + 1)
    expect(await network.balanceOf(getAddress(terms.payTo))).toBe(moved ? 1_000_000n : 0n)
  })
}

const verifyTable: Record<VerifyFault, object> = {
  'error-500': { message: expect.stringContaining('(500)') },
  'error-503': { message: expect.stringContaining('(503)') },
  'error-429': { message: expect.stringContaining('(429)') },
  unreadable: { message: expect.stringContaining('(400)') },
  hang: { name: 'FacilitatorTimeoutError' },
  reset,
  garbage: unreadable,
  'insufficient-funds': { isValid: false, invalidReason: 'invalid_exact_evm_insufficient_balance' },
  'bad-signature': { isValid: false, invalidReason: 'invalid_exact_evm_signature' },
}

for (const [fault, seen] of Object.entries(verifyTable)) {
  test(`verify ${fault}`, async () => {
    const terms = oneDollarTo(newWallet().address)
    const payment = await signPayment(await network.wallet(1), terms)
    if (isVerifyFault(fault)) faulty.verify.next(fault)
    const facilitator = facilitatorAt(faulty.url, fault === 'hang' ? 100 : 5_000)
    expect(await outcome(facilitator.verify(payment, terms))).toMatchObject(seen)
    expect(await facilitator.verify(payment, terms)).toMatchObject({ isValid: true })
  })
}

test('a fault can be queued for one call or set for all, and calls can be waited for', async () => {
  const terms = oneDollarTo(newWallet().address)
  const payment = await signPayment(await network.wallet(1), terms)
  const facilitator = facilitatorAt(faulty.url)
  const [arrived, forwarded] = [faulty.settle.count(), faulty.settle.forwarded()]
  faulty.settle.always('refused-recipient')
  faulty.settle.next('honest')
  const settling = facilitator.settle(payment, terms)
  await faulty.settle.arrived(arrived + 1)
  await faulty.settle.forwardedUntil(forwarded + 1)
  expect(await settling).toMatchObject({ success: true })
  expect(await facilitator.settle(payment, terms)).toMatchObject({ success: false })
  expect(faulty.settle.forwarded()).toBe(forwarded + 1)
  faulty.settle.always('honest')
  expect(JSON.parse(faulty.settle.bodies().at(-1) ?? '')).toMatchObject({ paymentRequirements: terms })
})

const isSettleFault = (name: string): name is SettleFault => Object.hasOwn(settleTable, name)
const isVerifyFault = (name: string): name is VerifyFault => Object.hasOwn(verifyTable, name)

const outcome = (call: Promise<object>) => call.catch((error: unknown) => error)
