import { expect, test } from 'bun:test'
import { numberToHex, pad, type Address } from 'viem'
import { EndpointBehind, type Session } from '../../../server/adapters/chain/endpoint.ts'
import type { EventLog } from '../../../server/adapters/chain/receipt.ts'
import { readTransfers } from '../../../server/adapters/chain/transfers.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { toHash, TERMS, createWalletAddress } from '../../support/samples.ts'

// Goal: payments to an address are reported with the right nonces. Method: a session that returns given events.

const { asset, payTo } = TERMS
const [payer, other] = [createWalletAddress(1), createWalletAddress(2)]

const createEvent = (logIndex: number, topics: readonly `0x${string}`[], data: `0x${string}` = '0x'): EventLog => ({
  address: asset,
  topics: [...topics],
  data,
  transactionHash: toHash(9),
  blockNumber: '0x5',
  logIndex: numberToHex(logIndex),
})
const createUsedEvent = (logIndex: number, by: Address) => createEvent(logIndex, [USED, pad(by), toHash(3)])
const createTransferEvent = (logIndex: number, by: Address) =>
  createEvent(logIndex, [TRANSFER, pad(by), pad(payTo)], pad('0x7'))

/** A session with an endpoint that has this height and these events. */
function createSession(height: bigint, events: readonly EventLog[]): Session {
  const logs = { chooseSize: () => 1000n, recordServed: () => {}, recordRefused: () => {} }
  const call = async (method: string, [filter]: readonly unknown[]) => {
    if (method === 'eth_blockNumber') return numberToHex(height)
    const [topic] = (filter as { topics: readonly string[] }).topics
    return events.filter(({ topics }) => topics[0] === topic)
  }
  return { endpoint: { logs }, call } as unknown as Session
}

test.each([
  ['belongs to the transfer right after it', [createUsedEvent(0, payer), createTransferEvent(1, payer)], [toHash(3)]],
  [
    'does not belong to a transfer of another payer',
    [createUsedEvent(0, other), createTransferEvent(1, payer), createTransferEvent(2, other)],
    [null, null],
  ],
  [
    'does not belong to a transfer that does not directly follow it',
    [createUsedEvent(0, payer), createTransferEvent(2, payer)],
    [null],
  ],
])('the nonce of an authorization %s', async (_, events, nonces) => {
  const { transfers } = await readTransfers(createSession(9n, events), undefined, asset, payTo, 1n)
  expect(transfers.map(({ nonce }) => nonce)).toEqual(nonces)
})

test('payments are not read from an endpoint that lags behind another endpoint', async () => {
  const seen = { number: 10n } as Parameters<typeof readTransfers>[1]
  await expect(readTransfers(createSession(9n, []), seen, asset, payTo, 1n)).rejects.toBeInstanceOf(EndpointBehind)
})
