/** The networks blocks can be sold on, and the dollar token of each, as the SDK's clients know it. */

import type { Address } from '../domain/payment.ts'

const NETWORKS = ['eip155:8453', 'eip155:84532'] as const

/** CAIP-2 name of Base, or of its test network. */
export type Network = (typeof NETWORKS)[number]

export const isNetwork = (text: string): text is Network => NETWORKS.some((network) => network === text)

/** A token with the words of its EIP-712 domain. */
export type Token = { readonly address: Address; readonly name: string; readonly version: string }

// Loading the SDK for two facts would hold up each start.
const tokens: Readonly<Record<Network, Token>> = {
  'eip155:8453': { address: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', name: 'USD Coin', version: '2' },
  'eip155:84532': { address: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', name: 'USDC', version: '2' },
}

/** Stock clients pay in this token only, unless their owner says otherwise. */
export const tokenOf = (network: Network): Token => tokens[network]

/** A network's name with its form known to the compiler, as the SDK wants it. */
export function asCaip2(network: string): `${string}:${string}` {
  const [namespace, reference] = network.split(':')
  if (namespace === undefined || reference === undefined) throw new RangeError('a network is named namespace:reference')
  return `${namespace}:${reference}`
}
