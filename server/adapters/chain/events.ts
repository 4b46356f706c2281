/** Events in a range of blocks, as many blocks a call as the endpoint serves. */

import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { HttpRequestError, numberToHex, RpcRequestError } from 'viem'
import type { Address } from '../../domain/purchase/payment.ts'
import type { Session } from './endpoint.ts'
import { EventLog } from './receipt.ts'

/** The endpoint serves no events, not even of one block. */
export class NoEvents extends Error {
  override name = 'NoEvents'
}

/** What is looked for: a contract's events, by topic. */
export type EventFilter = { readonly address: Address; readonly topics: readonly (null | string | readonly string[])[] }

const logsCheck = TypeCompiler.Compile(Type.Array(EventLog))

/**
 * Events from height `from` on, as far as one call reaches, and at most to `to`. What the endpoint refuses is asked for in
 * halves, and remembered. Throws `NoEvents`.
 */
export async function eventsFrom(
  { endpoint, call }: Session,
  filter: EventFilter,
  from: bigint,
  to: bigint,
): Promise<{ readonly events: readonly EventLog[]; readonly through: bigint }> {
  for (;;) {
    const size = endpoint.logs.size()
    if (size === 0n) throw new NoEvents('the endpoint serves no events')
    const through = from + size - 1n < to ? from + size - 1n : to
    const blocks = through - from + 1n
    try {
      const range = { ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(through) }
      const events = await call('eth_getLogs', [range])
      if (!logsCheck.Check(events)) throw new TypeError('no events')
      endpoint.logs.served(blocks)
      return { events, through }
    } catch (error) {
      if (!isTooMuch(error, blocks)) throw error
      endpoint.logs.refused(blocks)
    }
  }
}

// Bad request, payload too large, unprocessable.
const REFUSING: ReadonlySet<number | undefined> = new Set([400, 413, 422])

/** Whether fewer blocks may be answered where so many were not: endpoints have many words for that. */
function isTooMuch(error: unknown, blocks: bigint): boolean {
  if (error instanceof RpcRequestError) return true
  if (error instanceof HttpRequestError) return REFUSING.has(error.status)
  // Ours: the answer took too long, or was too large.
  return blocks > 1n && error instanceof Error && (error.name === 'TimeoutError' || error instanceof RangeError)
}
