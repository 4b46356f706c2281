/** The networks blocks can be sold on, and the dollar token of each, as the SDK's clients know it. */

import { getDefaultAsset } from '@x402/evm'
import type { Address } from '../domain/payment.ts'

const NETWORKS = ['eip155:8453', 'eip155:84532'] as const

/** CAIP-2 name of Base, or of its test network. */
export type Network = (typeof NETWORKS)[number]

export const isNetwork = (text: string): text is Network => NETWORKS.some((network) => network === text)

/** A token with the words of its EIP-712 domain. */
export type Token = { readonly address: Address; readonly name: string; readonly version: string }

/** Stock clients pay in this token only, unless their owner says otherwise. */
export function tokenOf(network: Network): Token {
  const { asset, name, version } = getDefaultAsset(network)
  return { address: asset.toLowerCase() as Address, name, version }
}

/** A network's name with its form known to the compiler, as the SDK wants it. */
export function asCaip2(network: string): `${string}:${string}` {
  const [namespace, reference] = network.split(':')
  if (namespace === undefined || reference === undefined) throw new RangeError('a network is named namespace:reference')
  return `${namespace}:${reference}`
}
