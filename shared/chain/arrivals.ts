/**
 * Money that arrives on the chain: which token events are payments, and which payments belong to sales. The
 * operator's books and the client's `verify` both use these rules, so that they agree.
 */

import { toEventSelector } from 'viem/utils'
import { CENT_ATOMIC } from '../money.ts'

type Hex = `0x${string}`

/** The fields of a JSON-RPC event that are used here. */
export type TokenEvent = {
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly transactionHash?: Hex | null | undefined
  readonly blockNumber?: Hex | null | undefined
  readonly logIndex?: Hex | null | undefined
}

/** The first topics of the events of a payment, as Circle's FiatTokenV2 declares them. */
export const USED = toEventSelector('AuthorizationUsed(address,bytes32)')
export const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

/** A transfer that arrived. `nonce` is the nonce of its authorization (EIP-3009), or `null` for a plain transfer. */
export type Arrival = {
  readonly payer: Hex
  readonly nonce: Hex | null
  readonly amount: bigint // atomic units
  readonly tx: Hex
}

/**
 * Turns `transfers` into arrivals, in their order; `uses` are the same token's AuthorizationUsed events. Circle's token
 * emits each transfer as the very next event after the use of its authorization. Throws for malformed events.
 */
export function findArrivals(
  transfers: readonly TokenEvent[],
  uses: readonly TokenEvent[],
): (Arrival & { readonly height: bigint })[] {
  const useBefore = new Map(uses.map((event) => [formatEventKey(event, 1), event]))
  return transfers.map((event) => {
    const payer = parseTopicAddress(event.topics[1])
    const use = useBefore.get(formatEventKey(event, 0))
    const nonce = use?.topics[2]
    const isPayers = use !== undefined && parseTopicAddress(use.topics[1]) === payer
    const amount = BigInt(event.data)
    return {
      payer,
      nonce: isPayers && nonce !== undefined ? toLowerHex(nonce) : null,
      amount,
      ...readEventPosition(event),
    }
  })
}

/**
 * The key of the log position that is `after` places later than the event's own. If a block was replaced between two
 * queries, events of different transactions still have different keys.
 */
const formatEventKey = ({ blockNumber, transactionHash, logIndex }: TokenEvent, after: number) =>
  `${blockNumber} ${transactionHash?.toLowerCase()} ${Number(logIndex ?? Number.NaN) + after}`

function readEventPosition({ transactionHash, blockNumber }: TokenEvent) {
  if (typeof transactionHash !== 'string' || typeof blockNumber !== 'string')
    throw new TypeError('an event has no transaction or no block')
  return { tx: toLowerHex(transactionHash), height: BigInt(blockNumber) }
}

/** The address in a topic, in lower case. Throws for a topic without an address. */
export function parseTopicAddress(topic: string | undefined): Hex {
  const digits = topic === undefined ? undefined : /^0x0{24}([0-9a-f]{40})$/i.exec(topic)?.[1]
  if (digits === undefined) throw new TypeError('a topic contains no address')
  return `0x${digits.toLowerCase()}`
}

export const toLowerHex = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`

/** Whether an amount may have been meant for blocks. Every price, past or present, is in whole cents. */
export const canBuyBlocks = (amount: bigint): boolean => amount > 0n && amount % CENT_ATOMIC === 0n

/** The recorded payments. Each key consists of a payment's payer and nonce. */
export type RecordedPayments = {
  readonly amounts: ReadonlyMap<string, bigint> // amounts of payments that bought blocks or became a credit
  /** Payments that have neither bought blocks nor become a credit, and perhaps never will. */
  readonly unfinished: ReadonlySet<string>
  readonly noted: ReadonlyMap<string, 'stray' | 'resolved'> // the decisions about money without a purchase
}

/** Arrivals, grouped by what the records say about them; `orphans` may be payments for blocks, but are not recorded. */
export type MatchedArrivals<A> = Readonly<Record<'booked' | 'landed' | 'stray' | 'resolved' | 'orphans', readonly A[]>>

/** Compares arrivals with recorded payments. `keyOf` returns the key of a payment by its authorization. */
export function matchArrivals<A extends Pick<Arrival, 'payer' | 'nonce' | 'amount'>>(
  arrivals: readonly A[],
  { amounts, unfinished, noted }: RecordedPayments,
  keyOf: (payment: { readonly payer: Hex; readonly nonce: Hex }) => string,
): MatchedArrivals<A> {
  const matched: Record<keyof MatchedArrivals<A>, A[]> = {
    booked: [],
    landed: [],
    stray: [],
    resolved: [],
    orphans: [],
  }
  for (const arrival of arrivals) {
    const { payer, nonce, amount } = arrival
    const key = nonce === null ? '' : keyOf({ payer, nonce })
    if (amounts.get(key) === amount) matched.booked.push(arrival)
    else if (unfinished.has(key)) matched.landed.push(arrival)
    else if (nonce === null || !canBuyBlocks(amount)) matched.stray.push(arrival)
    else matched[noted.get(key) ?? 'orphans'].push(arrival)
  }
  return matched
}
