/** Digests and the EIP-712 domain of payers' authorizations (EIP-3009). */

import { getAddress, hashTypedData } from 'viem/utils'
import { AUTHORIZATION_TYPES, PRIMARY_TYPE } from '../../shared/usdc.ts'
import type { Hash, Payment, Terms } from '../domain/purchase/payment.ts'

/** A token that payments use, with the fields of its EIP-712 domain. */
type Asset = { readonly terms: Terms; readonly assetName: string; readonly assetVersion: string }

/** The EIP-712 domain of the token of an offer. */
export const createDomain = ({ terms, assetName: name, assetVersion: version }: Asset) => ({
  name,
  version,
  chainId: Number(terms.network.split(':')[1]),
  verifyingContract: getAddress(terms.asset),
})

/**
 * Makes the function that computes the digest a payer signs; that function returns `undefined` for a payment on a
 * network that is not an EVM network.
 */
export const createAuthorizationHasher =
  (name: string, version: string) =>
  ({ payer: from, to, amount: value, validAfter, validBefore, nonce, accepted }: Payment): Hash | undefined => {
    const chainId = evmNetwork.exec(accepted.network)?.[1]
    if (chainId === undefined) return undefined
    return hashTypedData({
      domain: { name, version, chainId: BigInt(chainId), verifyingContract: accepted.asset },
      types: AUTHORIZATION_TYPES,
      primaryType: PRIMARY_TYPE,
      message: { from, to, value, validAfter, validBefore, nonce },
    })
  }

// An EVM network in CAIP-2. Sixteen digits are more than any chain id has, and fewer than a machine word can hold.
const evmNetwork = /^eip155:(\d{1,16})$/
