/** What an address was paid, read from the token's events one stretch of blocks at a time. */

import { pad } from 'viem'
import type { Address, Hash } from '../../domain/purchase/payment.ts'
import type { Receipts, Transfer } from '../../ports.ts'
import { EndpointBehind, quantity, type Session } from './endpoint.ts'
import { hexData, type Endpoints } from './endpoints.ts'
import { eventsFrom } from './events.ts'
import { lower, TRANSFER, USED, type EventLog } from './receipt.ts'

// Further than endpoints lag.
const FAR = 64n

/** One stretch of what `payTo` was paid in `asset`, from height `from` on. Throws when the endpoint does not answer. */
export async function transfersAt(
  session: Session,
  newestSeen: ReturnType<Endpoints['newest']>,
  asset: Address,
  payTo: Address,
  from: bigint,
): Promise<Receipts> {
  // Far behind the newest block nobody needs to know how far it has come since.
  const isFarBehind = newestSeen !== undefined && from + session.endpoint.logs.size() + FAR <= newestSeen.number
  const newest = isFarBehind ? newestSeen.number : quantity(await session.call('eth_blockNumber', []))
  // What an older endpoint leaves out would be missed for good.
  if (newestSeen !== undefined && newest < newestSeen.number) throw new EndpointBehind('an older block')
  if (newest < from) return { transfers: [], next: from, isAll: true }
  const filter = { address: asset, topics: [TRANSFER, null, pad(payTo)] }
  const moved = await eventsFrom(session, filter, from, newest)
  const used = await usesBy(session, asset, moved.events, from, moved.through)
  // As Circle's token orders its events, the transfer is the very next after the authorization's use.
  const nonces = new Map(used.map((event) => [placeOf(event, 1), event]))
  const transfers = moved.events.map((event): Transfer => {
    const payer = addressIn(event.topics[1])
    const use = nonces.get(placeOf(event, 0))
    const nonce = use?.topics[2]
    const isPayers = use !== undefined && addressIn(use.topics[1]) === payer
    const amount = BigInt(event.data)
    return { payer, nonce: isPayers && nonce !== undefined ? lower(nonce) : null, amount, ...whereOf(event) }
  })
  return { transfers, next: moved.through + 1n, isAll: moved.through === newest }
}

/** The uses of their authorizations by those who paid. */
async function usesBy(
  session: Session,
  address: Address,
  moved: readonly EventLog[],
  from: bigint,
  to: bigint,
): Promise<readonly EventLog[]> {
  const payers = [...new Set(moved.map(({ topics }) => pad(addressIn(topics[1]))))]
  const uses: EventLog[] = []
  for (let next = from; next <= to && payers.length > 0;) {
    const { events, through } = await eventsFrom(session, { address, topics: [USED, payers] }, next, to)
    uses.push(...events)
    next = through + 1n
  }
  return uses
}

/** A place in a block; a block that was replaced between two questions shows as a place of another height or transaction. */
const placeOf = ({ blockNumber, transactionHash, logIndex }: EventLog, after: number) =>
  `${blockNumber} ${transactionHash?.toLowerCase()} ${Number(logIndex ?? Number.NaN) + after}`

function whereOf({ transactionHash, blockNumber }: EventLog) {
  if (typeof transactionHash !== 'string') throw new TypeError('an event outside of any block')
  return { tx: lower(transactionHash), height: quantity(blockNumber) }
}

/** The address in a topic. Throws for a topic that holds none. */
function addressIn(topic: string | undefined): Address {
  const digits = topic === undefined ? undefined : /^0x0{24}([0-9a-f]{40})$/i.exec(topic)?.[1]
  if (digits === undefined) throw new TypeError('a topic without an address')
  return `0x${digits.toLowerCase()}`
}

/** Who sent a transaction; `undefined` where the endpoint does not know it. Throws for nonsense. */
export async function senderOf(session: Session, tx: Hash): Promise<Address | undefined> {
  const found = await session.call('eth_getTransactionByHash', [tx])
  if (found === null) return undefined
  if (typeof found !== 'object' || !('from' in found) || typeof found.from !== 'string')
    throw new TypeError('a transaction of nobody')
  return addressIn(pad(hexData(found.from)))
}
