/**
 * The networks of walls: those that the SDK's clients know, and whose dollar token is USDC, supports signed transfers
 * (EIP-3009) and has six decimals.
 */

import { isNetwork, type Network, networks } from '../../shared/usdc.ts'
import type { Address } from '../domain/purchase/payment.ts'

/** A token with the fields of its EIP-712 domain. */
export type Token = { readonly address: Address; readonly name: string; readonly version: string }

type Known = {
  readonly name: string
  readonly nameV1?: string // its name in x402 version 1
  readonly publicUrl: string // the URL of an endpoint that anyone may use
  readonly token: Omit<Token, 'address'> & { readonly address: string }
}

// Loading the SDK, or every known chain, for a few facts would slow down each start. A test compares these facts with
// the SDK's.
const KNOWN: Readonly<Record<Network, Known>> = networks

// On Arbitrum, contracts see Ethereum's block numbers, but events carry Arbitrum's, so walls do not sell there. A
// wall that has sold there still opens, for its books and its open purchases.
const CLOSED: ReadonlySet<string> = new Set<Network>(['eip155:42161', 'eip155:421614'])

/** Whether blocks are sold on a network. */
export const isSoldOn = (network: string): boolean => !CLOSED.has(network)

/** The networks on which blocks are sold. */
export const NETWORKS = (Object.keys(networks) as readonly Network[]).filter(isSoldOn)

/** The token of a network. Standard clients pay only in this token, unless their owner configures another one. */
export function getToken(network: Network): Token {
  const { address, ...token } = KNOWN[network].token
  return { address: address as Address, ...token }
}

/** The facts about a network that are needed to call its endpoints. */
export type ChainInfo = { readonly id: number; readonly name: string; readonly publicUrl: string }

export function getChain(network: Network): ChainInfo {
  const { name, publicUrl } = KNOWN[network]
  return { id: Number(network.slice('eip155:'.length)), name, publicUrl }
}

/** The name of a network in x402 version 1; networks without one use their CAIP-2 name. */
export const toV1Name = (network: string): string => (isNetwork(network) ? KNOWN[network].nameV1 : undefined) ?? network

/** A network's name with its template literal type, which the SDK requires. */
export function toCaip2(network: string): `${string}:${string}` {
  const [namespace, reference] = network.split(':')
  if (namespace === undefined || reference === undefined)
    throw new RangeError('a network must be named namespace:reference')
  return `${namespace}:${reference}`
}
