/** The transfers to an address, read from the token's events one range of blocks at a time. */

import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { HttpRequestError, numberToHex, pad, RpcRequestError } from 'viem'
import { parseTopicAddress, findArrivals, TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import type { Address } from '../../domain/purchase/payment.ts'
import type { Receipts } from '../../ports.ts'
import { EndpointBehind, parseQuantity, type Session } from './endpoint.ts'
import type { Endpoints } from './endpoints.ts'
import { EventLog } from './receipt.ts'

// Endpoints lag behind by fewer blocks than this.
const FAR = 64n

/** One range of transfers to `payTo` in `asset`, from height `from` on. Throws if the endpoint does not respond. */
export async function readTransfers(
  session: Session,
  newestSeen: ReturnType<Endpoints['findNewest']>,
  asset: Address,
  payTo: Address,
  from: bigint,
): Promise<Receipts> {
  // If the range is far behind the newest known block, the current height does not matter.
  const isFarBehind = newestSeen !== undefined && from + session.endpoint.logs.chooseSize() + FAR <= newestSeen.number
  const newest = isFarBehind ? newestSeen.number : parseQuantity(await session.call('eth_blockNumber', []))
  // An endpoint that is behind would omit transfers, and they would be missed permanently.
  if (newestSeen !== undefined && newest < newestSeen.number) throw new EndpointBehind('an older block')
  if (newest < from) return { transfers: [], next: from, isAll: true }
  const filter = { address: asset, topics: [TRANSFER, null, pad(payTo)] }
  const moved = await readEvents(session, filter, from, newest)
  const used = await listUses(session, asset, moved.events, from, moved.through)
  return { transfers: findArrivals(moved.events, used), next: moved.through + 1n, isAll: moved.through === newest }
}

async function listUses(
  session: Session,
  address: Address,
  moved: readonly EventLog[],
  from: bigint,
  to: bigint,
): Promise<readonly EventLog[]> {
  const payers = [...new Set(moved.map(({ topics }) => pad(parseTopicAddress(topics[1]))))]
  const uses: EventLog[] = []
  for (let next = from; next <= to && payers.length > 0;) {
    const { events, through } = await readEvents(session, { address, topics: [USED, payers] }, next, to)
    uses.push(...events)
    next = through + 1n
  }
  return uses
}

/** Thrown if the endpoint rejects every query for events, even for one block. */
export class NoEvents extends Error {
  override name = 'NoEvents'
}

/** The filter of a query for a contract's events, by topic. */
type EventFilter = { readonly address: Address; readonly topics: readonly (null | string | readonly string[])[] }

const logsCheck = TypeCompiler.Compile(Type.Array(EventLog))

/**
 * Events from height `from` on, as far as one call reaches, but at most up to height `to`. Halves a range that the
 * endpoint rejects, and remembers the size. Throws `NoEvents`.
 */
export async function readEvents(
  { endpoint, call }: Session,
  filter: EventFilter,
  from: bigint,
  to: bigint,
): Promise<{ readonly events: readonly EventLog[]; readonly through: bigint }> {
  for (;;) {
    const size = endpoint.logs.chooseSize()
    if (size === 0n) throw new NoEvents('the endpoint does not serve event logs')
    const through = from + size - 1n < to ? from + size - 1n : to
    const blocks = through - from + 1n
    try {
      const range = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(through) }
      const events = await call('eth_getLogs', [range])
      if (!logsCheck.Check(events)) throw new TypeError('no events')
      endpoint.logs.recordServed(blocks)
      return { events, through }
    } catch (error) {
      if (!isRangeTooLarge(error, blocks)) throw error
      endpoint.logs.recordRefused(blocks)
    }
  }
}

// Bad request, payload too large, unprocessable.
const REFUSING: ReadonlySet<number | undefined> = new Set([400, 413, 422])

/**
 * Whether a smaller range may succeed. Any RPC error counts, because endpoints use different words to reject a range
 * that is too large.
 */
function isRangeTooLarge(error: unknown, blocks: bigint): boolean {
  if (error instanceof RpcRequestError) return true
  if (error instanceof HttpRequestError) return REFUSING.has(error.status)
  // Our own limits: the response took too long, or was too large.
  return blocks > 1n && error instanceof Error && (error.name === 'TimeoutError' || error instanceof RangeError)
}
