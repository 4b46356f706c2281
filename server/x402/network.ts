/**
 * The networks of walls: those that the SDK's clients know, whose dollar token is USDC, takes signed transfers (EIP-3009) and
 * has six decimals.
 */

import { isNetwork, type Network, networks } from '../../shared/usdc.ts'
import type { Address } from '../domain/purchase/payment.ts'

/** A token with the words of its EIP-712 domain. */
export type Token = { readonly address: Address; readonly name: string; readonly version: string }

type Known = {
  readonly name: string
  readonly nameV1?: string // what x402 version 1 calls it
  readonly publicUrl: string // of an endpoint that anyone may ask
  readonly token: Omit<Token, 'address'> & { readonly address: string }
}

// Loading the SDK, or every chain there is, for a few facts would hold up each start; a test compares them.
const KNOWN: Readonly<Record<Network, Known>> = networks

// On Arbitrum, contracts see Ethereum's block numbers, but events carry Arbitrum's. A wall that has sold there still opens,
// for its books and its open purchases.
const CLOSED: ReadonlySet<string> = new Set<Network>(['eip155:42161', 'eip155:421614'])

/** Whether blocks are sold on a network. */
export const isSoldOn = (network: string): boolean => !CLOSED.has(network)

/** The networks on which blocks are sold. */
export const NETWORKS = (Object.keys(networks) as readonly Network[]).filter(isSoldOn)

/** Stock clients pay in this token only, unless their owner says otherwise. */
export function tokenOf(network: Network): Token {
  const { address, ...token } = KNOWN[network].token
  return { address: address as Address, ...token }
}

/** A network as whoever asks its endpoints needs it. */
export type ChainInfo = { readonly id: number; readonly name: string; readonly publicUrl: string }

export function chainOf(network: Network): ChainInfo {
  const { name, publicUrl } = KNOWN[network]
  return { id: Number(network.slice('eip155:'.length)), name, publicUrl }
}

/** What x402 version 1 calls a network; those that came after it go by their CAIP-2 name. */
export const nameInV1 = (network: string): string => (isNetwork(network) ? KNOWN[network].nameV1 : undefined) ?? network

/** A network's name with its form known to the compiler, as the SDK wants it. */
export function asCaip2(network: string): `${string}:${string}` {
  const [namespace, reference] = network.split(':')
  if (namespace === undefined || reference === undefined) throw new RangeError('a network is named namespace:reference')
  return `${namespace}:${reference}`
}
