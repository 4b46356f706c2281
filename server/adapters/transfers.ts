/** What an address was paid, read from the token's events one window of blocks at a time. */

import { getAbiItem, parseAbi, type PublicClient } from 'viem'
import type { Address, Hash } from '../domain/payment.ts'
import type { Receipts, Transfer } from '../ports.ts'

// Providers cap how many blocks one log query may span.
const WINDOW = 1000n

/** The events of Circle's FiatTokenV2 that tell who paid whom, and by which authorization. */
const events = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
const transferred = getAbiItem({ abi: events, name: 'Transfer' })
const authorized = getAbiItem({ abi: events, name: 'AuthorizationUsed' })

type Place = {
  readonly transactionHash: Hash | null
  readonly blockNumber: bigint | null
  readonly logIndex: number | null
}

/** One window of what `payTo` was paid in `asset`, from height `from` on. Throws when the endpoint does not answer. */
export async function transfersTo(
  client: PublicClient,
  asset: Address,
  payTo: Address,
  from: bigint,
): Promise<Receipts> {
  const newest = await client.getBlockNumber({ cacheTime: 0 })
  if (newest < from) return { transfers: [], next: from, isAll: true }
  const last = from + WINDOW - 1n
  const range = { address: asset, fromBlock: from, toBlock: last < newest ? last : newest, strict: true } as const
  const moved = await client.getLogs({ ...range, event: transferred, args: { to: payTo } })
  const payers = [...new Set(moved.map(({ args }) => args.from))]
  const used =
    payers.length === 0 ? [] : await client.getLogs({ ...range, event: authorized, args: { authorizer: payers } })
  // As Circle's token orders its events, the transfer is the very next after the authorization's use.
  const nonces = new Map(used.map((log) => [placeOf(log, 1), { payer: log.args.authorizer, nonce: log.args.nonce }]))
  const transfers = moved.map((log): Transfer => {
    const { from: payer, value: amount } = log.args
    const use = nonces.get(placeOf(log, 0))
    const nonce = use?.payer === payer ? lower(use.nonce) : null
    return { payer: lower(payer), nonce, amount, ...whereOf(log) }
  })
  return { transfers, next: range.toBlock + 1n, isAll: range.toBlock === newest }
}

/** A place in a block; a block that was replaced between two questions shows as a place of another height or transaction. */
const placeOf = (log: Place, after: number) =>
  `${log.blockNumber} ${log.transactionHash?.toLowerCase()} ${(log.logIndex ?? Number.NaN) + after}`

function whereOf({ transactionHash, blockNumber }: Place) {
  if (transactionHash === null || blockNumber === null) throw new TypeError('an event outside of any block')
  return { tx: lower(transactionHash), height: blockNumber }
}

const lower = (hex: `0x${string}`) => hex.toLowerCase() as Hash

/** Who sent a transaction. Throws when the endpoint does not know it. */
export async function broadcaster(client: PublicClient, hash: Hash): Promise<Address> {
  const { from } = await client.getTransaction({ hash })
  return lower(from)
}
