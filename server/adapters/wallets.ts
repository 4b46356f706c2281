/** Wallet signatures: plain keys by recovery here, contract wallets by asking them on the chain through viem. */

import pLimit from 'p-limit'
import type { PublicClient } from 'viem'
import { getAddress, hashTypedData, isErc6492Signature } from 'viem/utils'
import type { Address, Hash, Payment } from '../domain/payment.ts'
import type { SignatureCheck } from '../domain/reasons.ts'
import type { Wallets } from '../ports.ts'
import { AUTHORIZATION_TYPES } from '../x402/authorization.ts'
import type { Offer } from '../x402/terms.ts'
import { within } from './deadline.ts'
import type { Keys } from './recover.ts'

// A signature that no key here made costs the chain endpoint calls, so only so many are asked about at once. Waiting for
// one's turn counts towards the deadline.
const ASKING_MAX = 8
const WAITING_MAX = 64
const DEADLINE_MS = 3000

type Hex = `0x${string}`

type Unsigned = Exclude<SignatureCheck, 'signed'>

/** Makes the wallets port. Who asks before there are keys waits for them. */
export function viemWallets(client: PublicClient, offer: Offer, keys: Keys | Promise<Keys>): Wallets {
  const limit = pLimit(ASKING_MAX)
  const byKey = async (payment: Payment): Promise<SignatureCheck> =>
    (await isSignedByPayer(payment, offer, await keys)) ? 'signed' : 'not-signed'
  return {
    async signed(wallet, messages, signature) {
      const { digestOf, recover } = await keys
      const digests = messages.map((message) => digestOf(message))
      for (const hash of digests) if ((await recover(hash, signature)) === wallet) return hash
      if (limit.pendingCount >= WAITING_MAX) return 'busy'
      const ask = (late: AbortSignal) => limit(() => acceptedByContract(client, wallet, digests, signature, late))
      return await within<Hash | Unsigned>(DEADLINE_MS, ask, 'silent')
    },
    signedPayment: byKey,
    signedForToken: byKey,
  }
}

/** The digest a contract wallet accepts the signature for (EIP-1271), also before it is deployed (EIP-6492). */
async function acceptedByContract(
  client: PublicClient,
  wallet: Address,
  digests: readonly Hash[],
  signature: Hex,
  late: AbortSignal,
): Promise<Hash | Unsigned> {
  if (late.aborted) return 'silent'
  try {
    const code = await client.getCode({ address: wallet })
    if ((code === undefined || code === '0x') && !isErc6492Signature(signature)) return 'not-signed'
    for (const hash of digests) {
      if (late.aborted) return 'silent'
      if (await client.verifyHash({ address: wallet, hash, signature })) return hash
    }
    return 'not-signed'
  } catch {
    // An endpoint that fails has not vouched for anything, nor denied it.
    return 'silent'
  }
}

async function isSignedByPayer(payment: Payment, offer: Offer, { recover }: Keys): Promise<boolean> {
  const digest = authorizationDigest(payment, offer)
  return digest !== undefined && (await recover(digest, payment.signature)) === payment.payer
}

/** What a payer signs (EIP-712 over EIP-3009); `undefined` for what cannot be encoded. */
function authorizationDigest(payment: Payment, { assetName, assetVersion }: Offer): Hash | undefined {
  try {
    return hashTypedData({
      domain: {
        name: assetName,
        version: assetVersion,
        chainId: Number(payment.accepted.network.split(':')[1]),
        verifyingContract: getAddress(payment.accepted.asset),
      },
      types: AUTHORIZATION_TYPES,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: getAddress(payment.payer),
        to: getAddress(payment.to),
        value: payment.amount,
        validAfter: payment.validAfter,
        validBefore: payment.validBefore,
        nonce: payment.nonce,
      },
    })
  } catch {
    return undefined
  }
}
