/** The facts about payments on the chain, which a wall's claims are checked against. */

import {
  parseTopicAddress,
  type Arrival,
  findArrivals,
  toLowerHex,
  TRANSFER,
  type TokenEvent,
  USED,
} from '../../../shared/chain/arrivals.ts'

export type Hex = `0x${string}`

/** A transfer in any token and to anybody. All hex is in lower case. */
export type ChainPayment = Arrival & { readonly token: Hex; readonly to: Hex; readonly height: bigint }

/** The data that was read from the chain. */
export type ChainFacts = {
  readonly head: { readonly height: bigint; readonly time: number } // the newest block; Unix milliseconds
  readonly payments: readonly ChainPayment[]
  readonly failed: ReadonlySet<Hex> // transactions that were reverted
  readonly missing: ReadonlySet<Hex> // transactions that are in no block
  readonly times: ReadonlyMap<bigint, number> // times of the requested blocks, by height; Unix milliseconds
}

/** The fields of a JSON-RPC receipt that this client uses. */
export type TransactionReceipt = {
  readonly status?: string | null
  readonly logs: readonly (TokenEvent & { readonly address: Hex })[]
}

/**
 * Every transfer in a transaction, with the nonce of its authorization. Ignores all other events, and malformed ones.
 */
export function parsePayments({ logs }: TransactionReceipt): readonly ChainPayment[] {
  const events = logs.filter(({ topics, data }) => {
    if (topics[0] === USED) return topics.length === 3 && isAddressTopic(topics[1])
    const isTransfer = topics[0] === TRANSFER && topics.length === 3 && amountPattern.test(data)
    return isTransfer && isAddressTopic(topics[1]) && isAddressTopic(topics[2])
  })
  const tokens = new Set(events.map(({ address }) => toLowerHex(address)))
  return [...tokens].flatMap((token) => {
    const ofToken = events.filter(({ address }) => toLowerHex(address) === token)
    const transfers = ofToken.filter(({ topics }) => topics[0] === TRANSFER)
    const uses = ofToken.filter(({ topics }) => topics[0] === USED)
    return findArrivals(transfers, uses).map((arrival, at) => ({
      ...arrival,
      token,
      to: parseTopicAddress(transfers[at]?.topics[2]),
    }))
  })
}

const amountPattern = /^0x[0-9a-f]{64}$/i

const isAddressTopic = (topic: string | undefined) => topic !== undefined && /^0x0{24}[0-9a-f]{40}$/i.test(topic)
