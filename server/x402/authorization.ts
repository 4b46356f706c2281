/** What a payer signs: the one message of the token's that moves money for its bearer (EIP-3009), as EIP-712 writes it. */

import type { Hash, Payment } from '../domain/purchase/payment.ts'

/** The message's fields. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Keccak-256 of bytes in hex, without a prefix before them. */
export type Keccak = (hex: string) => Hash

/** The digest that a payment's signature is made for; `undefined` for a network that is no EVM's. */
export type AuthorizationDigest = (payment: Payment) => Hash | undefined

/**
 * Makes digests for the tokens of that name and version. Written out, since every payment that anybody sends is checked by
 * it, and a general encoder takes ten times as long.
 */
export function authorizationDigest(name: string, version: string, keccak: Keccak): AuthorizationDigest {
  const messageType = keccak(
    hexOf(encodedType('TransferWithAuthorization', AUTHORIZATION_TYPES.TransferWithAuthorization)),
  )
  const domainType = keccak(hexOf(encodedType('EIP712Domain', DOMAIN_TYPE)))
  const token = [domainType, keccak(hexOf(name)), keccak(hexOf(version))]
  // Nearly all payments name the same token.
  let latest: { readonly of: string; readonly hash: Hash } | undefined

  const domainOf = ({ network, asset }: Payment['accepted']): Hash | undefined => {
    const chainId = evmNetwork.exec(network)?.[1]
    if (chainId === undefined) return undefined
    const of = `${chainId} ${asset}`
    if (latest?.of !== of) latest = { of, hash: keccak(joined(...token, BigInt(chainId), asset)) }
    return latest.hash
  }

  return ({ payer, to, amount, validAfter, validBefore, nonce, accepted }) => {
    const domain = domainOf(accepted)
    if (domain === undefined) return undefined
    const message = keccak(joined(messageType, payer, to, amount, validAfter, validBefore, nonce))
    return keccak(`1901${joined(domain, message)}`)
  }
}

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
] as const

// An EVM network of CAIP-2. Sixteen digits are more than any chain's id has, and fewer than a word holds.
const evmNetwork = /^eip155:(\d{1,16})$/

const encodedType = (name: string, fields: ReadonlyArray<{ readonly name: string; readonly type: string }>) =>
  `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`

const hexOf = (text: string) => Buffer.from(text, 'utf8').toString('hex')

/** Words of 32 bytes, one after the other. */
const joined = (...words: readonly (string | bigint)[]) =>
  words
    .map((word) => (typeof word === 'bigint' ? word.toString(16) : word.slice('0x'.length)).padStart(64, '0'))
    .join('')

/** The name of that type, which EIP-712 calls primary. */
export const PRIMARY_TYPE = 'TransferWithAuthorization' satisfies keyof typeof AUTHORIZATION_TYPES
