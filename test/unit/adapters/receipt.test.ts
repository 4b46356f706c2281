import { expect, test } from 'bun:test'
import { numberToHex, pad, type Address } from 'viem'
import { CANCELLED, endIn, type EventLog } from '../../../server/adapters/chain/receipt.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { hash, paymentOf } from '../../support/samples.ts'

// Goal: what a receipt proves of a payment, and what it does not. Method: receipts of events in every order that matters.

const payment = paymentOf(1, 1)
const { payer, to, amount, nonce, accepted } = payment
const other: Address = `0x${'0e'.repeat(20)}`

const event = (
  topics: readonly `0x${string}`[],
  data: `0x${string}` = '0x',
  address: Address = accepted.asset,
): EventLog => ({
  address,
  topics: [...topics],
  data,
})
const used = event([USED, pad(payer), nonce])
const transfer = (from: Address, payee: Address, sum: bigint) =>
  event([TRANSFER, pad(from), pad(payee)], pad(numberToHex(sum)))
const ours = transfer(payer, to, amount)
const strange = event([hash(7)])
const elsewhere = { kind: 'void', why: 'the authorization was used for another transfer' } as const
const silent = { kind: 'silent' } as const
const paid = { kind: 'paid', tx: hash(9) } as const

test.each<[string, readonly EventLog[], object]>([
  ['our transfer next pays us', [strange, used, ours], paid],
  ['another payee next pays another', [used, transfer(payer, other, amount), ours], elsewhere],
  ['another amount next pays another', [used, transfer(payer, to, amount - 1n), ours], elsewhere],
  ['something unknown between, and our transfer after it, proves nothing', [used, strange, ours], silent],
  ['something unknown between, and our transfer before it, proves nothing', [ours, used, strange], silent],
  [
    'something unknown between, and no transfer to us anywhere, cannot have paid us',
    [used, strange, transfer(payer, other, amount)],
    elsewhere,
  ],
  [
    'a transfer of somebody else next, and none to us anywhere, cannot have paid us',
    [used, transfer(other, to, amount)],
    elsewhere,
  ],
  ['nothing after it is not a whole receipt', [strange, used], silent],
  ['no use of this authorization says nothing of it', [event([USED, pad(payer), hash(3)]), ours], silent],
  ['the events of another contract are not the token’s', [{ ...used, address: other }, ours], silent],
  [
    'a cancellation pays nobody',
    [event([CANCELLED, pad(payer), nonce])],
    { kind: 'void', why: 'the authorization was cancelled' },
  ],
  ['no events say nothing', [], silent],
])('%s', (_, logs, status) => {
  expect(endIn({ transactionHash: hash(9), logs: [...logs] }, payment)).toEqual(status as never)
})
