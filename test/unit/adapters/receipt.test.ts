import { expect, test } from 'bun:test'
import { numberToHex, pad, type Address } from 'viem'
import { CANCELLED, findPaymentOutcome, type EventLog } from '../../../server/adapters/chain/receipt.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { toHash, createTestPayment } from '../../support/samples.ts'

// Goal: a receipt proves neither more nor less about a payment than its events show. Method: receipts with events in
// every relevant order.

const payment = createTestPayment(1, 1)
const { payer, to, amount, nonce, accepted } = payment
const other: Address = `0x${'0e'.repeat(20)}`

const createEvent = (
  topics: readonly `0x${string}`[],
  data: `0x${string}` = '0x',
  address: Address = accepted.asset,
): EventLog => ({
  address,
  topics: [...topics],
  data,
})
const used = createEvent([USED, pad(payer), nonce])
const createTransfer = (from: Address, payee: Address, sum: bigint) =>
  createEvent([TRANSFER, pad(from), pad(payee)], pad(numberToHex(sum)))
const ours = createTransfer(payer, to, amount)
const strange = createEvent([toHash(7)])
const elsewhere = { kind: 'void', why: 'the authorization was used for another transfer' } as const
const silent = { kind: 'silent' } as const
const paid = { kind: 'paid', tx: toHash(9) } as const

test.each<[string, readonly EventLog[], object]>([
  ['a transfer to us right after the authorization pays us', [strange, used, ours], paid],
  [
    'a transfer to another payee right after the authorization does not pay us',
    [used, createTransfer(payer, other, amount), ours],
    elsewhere,
  ],
  [
    'a transfer of another amount right after the authorization does not pay us',
    [used, createTransfer(payer, to, amount - 1n), ours],
    elsewhere,
  ],
  [
    'an unknown event between the authorization and a later transfer to us proves nothing',
    [used, strange, ours],
    silent,
  ],
  [
    'an unknown event after the authorization and an earlier transfer to us prove nothing',
    [ours, used, strange],
    silent,
  ],
  [
    'an unknown event after the authorization, without any transfer to us, proves that we were not paid',
    [used, strange, createTransfer(payer, other, amount)],
    elsewhere,
  ],
  [
    'a transfer by another payer after the authorization proves that we were not paid',
    [used, createTransfer(other, to, amount)],
    elsewhere,
  ],
  ['a receipt that ends with the authorization is incomplete', [strange, used], silent],
  [
    'a receipt without this authorization proves nothing about it',
    [createEvent([USED, pad(payer), toHash(3)]), ours],
    silent,
  ],
  ['events of another contract do not count as events of the token', [{ ...used, address: other }, ours], silent],
  [
    'a cancellation pays nobody',
    [createEvent([CANCELLED, pad(payer), nonce])],
    { kind: 'void', why: 'the authorization was cancelled' },
  ],
  ['a receipt without events proves nothing', [], silent],
])('%s', (_, logs, status) => {
  expect(findPaymentOutcome({ transactionHash: toHash(9), logs: [...logs] }, payment)).toEqual(status as never)
})
