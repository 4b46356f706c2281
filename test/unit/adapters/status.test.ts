import { expect, test } from 'bun:test'
import { numberToHex, pad } from 'viem'
import type { Session } from '../../../server/adapters/chain/endpoint.ts'
import type { AuthorizationState } from '../../../server/adapters/chain/state.ts'
import { readStatus, type ChainCheck } from '../../../server/adapters/chain/status.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { toHash, NOW, createTestPayment, TERMS } from '../../support/samples.ts'

// Goal: a payment is found where a reorganisation may have moved it, and an older block proves nothing. Method: a
// session with one transfer, in a block of its own.

const payment = createTestPayment(1, 1)
const HEAD = 100n
const SECONDS = BigInt(NOW / 1000)

const topics = [
  [USED, pad(payment.payer), payment.nonce],
  [TRANSFER, pad(payment.payer), pad(payment.to)],
]
const logs = topics.map((topics, at) => ({
  address: TERMS.asset,
  topics,
  data: pad(numberToHex(payment.amount)),
  transactionHash: toHash(9),
  blockNumber: '0x5a',
  logIndex: numberToHex(at),
}))

/**
 * The status of the payment, which was settled in block 90, from an endpoint whose newest and safe blocks report these
 * states of its authorization.
 */
async function readStatusWhere(states: Record<'latest' | 'safe', AuthorizationState>) {
  const call = async (method: string, [first]: readonly unknown[]) => {
    if (method === 'eth_getTransactionReceipt') return { transactionHash: toHash(9), logs }
    const { fromBlock, toBlock } = first as { fromBlock: string; toBlock: string }
    return Number(fromBlock) <= 90 && Number(toBlock) >= 90 ? logs.slice(0, 1) : []
  }
  const window = { chooseSize: () => 1000n, recordServed: () => {}, recordRefused: () => {} }
  const late = new AbortController().signal
  const check = {
    endpoints: { findNewest: () => states.latest, recordBlock: () => {} },
    states: { readLatest: async () => states.latest, readSafe: async () => states.safe },
    payment,
    head: HEAD,
    named: undefined,
    proof: undefined,
    storeProof: () => {},
  }
  return await readStatus(
    { endpoint: { logs: window }, call, late } as unknown as Session,
    check as unknown as ChainCheck,
  )
}

const createState = (number: bigint, timestamp: bigint, spent: boolean): AuthorizationState => ({
  number,
  timestamp,
  spent,
  hash: undefined,
})

test('a payment is found even if a reorganisation moved it below the chain height that was first read for the payment', async () => {
  const states = { latest: createState(120n, SECONDS, true), safe: createState(110n, SECONDS, true) }
  expect(await readStatusWhere(states)).toEqual({ kind: 'paid', tx: toHash(9) })
})

test('a safe block below the height first read for a payment does not prove that the payment is void', async () => {
  const over = payment.validBefore + 60n
  const states = { latest: createState(120n, over, false), safe: createState(HEAD - 1n, over, true) }
  expect(await readStatusWhere(states)).toEqual({ kind: 'unspent' })
})
