/** Wallet signatures through viem: plain keys by recovery here, contract wallets by asking them on the chain. */

import { authorizationTypes } from '@x402/evm'
import pLimit from 'p-limit'
import type { PublicClient } from 'viem'
import { getAddress, hashMessage, isErc6492Signature, recoverAddress, recoverTypedDataAddress } from 'viem/utils'
import type { Address, Hash, Payment } from '../domain/payment.ts'
import type { Wallets } from '../ports.ts'
import type { Offer } from '../x402/terms.ts'
import { within } from './deadline.ts'

// A signature that no key here made costs the chain endpoint calls, so only so many are asked about at once. Waiting for
// one's turn counts towards the deadline.
const ASKING_MAX = 8
const WAITING_MAX = 64
const DEADLINE_MS = 3000

type Hex = `0x${string}`

/** Makes the wallets port. */
export function viemWallets(client: PublicClient, offer: Offer): Wallets {
  const limit = pLimit(ASKING_MAX)
  return {
    async signed(wallet, messages, signature) {
      const digests = messages.map((message) => hashMessage(message))
      for (const hash of digests) if (await isKeyOf(wallet, hash, signature)) return hash
      if (limit.pendingCount >= WAITING_MAX) return undefined
      const ask = (late: AbortSignal) => limit(() => acceptedByContract(client, wallet, digests, signature, late))
      return await within<Hash | undefined>(DEADLINE_MS, ask, undefined)
    },
    signedPayment: (payment) => isSignedByPayer(payment, offer),
  }
}

// A key's signature is 65 bytes: r, s and v.
const KEY_SIGNATURE_DIGITS = 130

/**
 * Whether the signature is `wallet`'s over `hash`. Most odd signatures make viem throw, but not one that lacks its last
 * digit; all are nobody's.
 */
async function isKeyOf(wallet: Address, hash: Hex, signature: Hex): Promise<boolean> {
  if (signature.length !== '0x'.length + KEY_SIGNATURE_DIGITS) return false
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === wallet
  } catch {
    return false
  }
}

/** The digest a contract wallet accepts the signature for (EIP-1271), also before it is deployed (EIP-6492). */
async function acceptedByContract(
  client: PublicClient,
  wallet: Address,
  digests: readonly Hash[],
  signature: Hex,
  late: AbortSignal,
): Promise<Hash | undefined> {
  if (late.aborted) return undefined
  try {
    const code = await client.getCode({ address: wallet })
    if ((code === undefined || code === '0x') && !isErc6492Signature(signature)) return undefined
    for (const hash of digests) {
      if (late.aborted) return undefined
      if (await client.verifyHash({ address: wallet, hash, signature })) return hash
    }
  } catch {
    // An endpoint that fails has not vouched for anything.
  }
  return undefined
}

async function isSignedByPayer(payment: Payment, { assetName, assetVersion }: Offer): Promise<boolean> {
  try {
    const signer = await recoverTypedDataAddress({
      domain: {
        name: assetName,
        version: assetVersion,
        chainId: Number(payment.accepted.network.split(':')[1]),
        verifyingContract: getAddress(payment.accepted.asset),
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: getAddress(payment.payer),
        to: getAddress(payment.to),
        value: payment.amount,
        validAfter: payment.validAfter,
        validBefore: payment.validBefore,
        nonce: payment.nonce,
      },
      signature: payment.signature,
    })
    return signer.toLowerCase() === payment.payer
  } catch {
    return false
  }
}
