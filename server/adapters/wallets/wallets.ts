/** Checks wallet signatures: those of keys by recovery, those of contract wallets by a query to the chain. */

import type { Hex } from 'viem'
import { createLru } from '../../../shared/lru.ts'
import { computeMessageDigest } from '../../../shared/signing.ts'
import type { SignatureCheck } from '../../domain/purchase/facilitator-errors.ts'
import type { Address, Hash, Payment } from '../../domain/purchase/payment.ts'
import { type Budget, createTokenBuckets } from '../../domain/token-bucket.ts'
import type { Clock, Wallets } from '../../ports.ts'
import { createAuthorizationHasher } from '../../x402/authorization.ts'
import type { Offer } from '../../x402/terms.ts'
import { createBoundedCalls } from '../bounded-calls.ts'
import type { RpcRequest } from '../chain/endpoints.ts'
import {
  createContractCodeReader,
  isSignedDigest,
  type Priority,
  createContractSignatureCheck,
} from './contract-wallets.ts'
import type { Keys } from './recover.ts'

/**
 * Makes the wallets port. Calls wait until `keys` has resolved.
 *
 * A key's signature is enough to admit a payment, even if its payer has code, as with EIP-7702. Nobody else can make
 * that signature, so the payment is not junk, and the key controls such an account. The token calls the account's code
 * instead, and some code accepts only signatures in its own format. Before anything is claimed, the facilitator checks
 * whether the money would move; `checkTokenSignature` decides whether to believe a facilitator that rejects the
 * signature.
 */
export function createViemWallets(
  request: RpcRequest,
  { assetName, assetVersion }: Offer,
  keys: Keys | Promise<Keys>,
  clock: Pick<Clock, 'elapsed'>,
): Wallets {
  const calls = createBoundedCalls()
  const contracts = createContractCodeReader(request, calls, clock)
  const queryContract = createContractSignatureCheck(request, contracts, calls, clock)
  const senders = createReputation(clock)
  const computePayerDigest = createAuthorizationHasher(assetName, assetVersion)
  // Payments whose key signature was valid: each is checked before it is queued, and again during its purchase.
  const signedByKey = new WeakSet<Payment>()
  const queryPayerContract = async ({ payer, signature }: Payment, digest: Hash): Promise<SignatureCheck> => {
    const answer = await queryContract(payer, [digest], signature, 'payer')
    return isSignedDigest(answer) ? 'signed' : answer
  }
  /** The first contract that accepts the signature. If any contract cannot be queried, the signature is not denied. */
  const queryContracts = async (
    signers: readonly Address[],
    digests: readonly Hash[],
    signature: Hex,
    priority: Priority,
  ) => {
    let denial: Exclude<SignatureCheck, 'signed'> = 'not-signed'
    for (const by of signers) {
      const answer = await queryContract(by, digests, signature, priority)
      if (isSignedDigest(answer)) return { by, digest: answer }
      if (answer !== 'not-signed') denial = answer
    }
    return denial
  }
  return {
    async findSigner(signers, messages, signature, from) {
      const { recoverSigner } = await keys
      const candidates = messages.map(computeMessageDigest)
      for (const digest of candidates) {
        const key = await recoverSigner(digest, signature)
        if (key !== undefined && signers.includes(key)) return { by: key, digest }
      }
      const answer = await queryContracts(signers, candidates, signature, senders.isTrusted(from) ? 'owner' : 'suspect')
      if (answer !== 'busy' && answer !== 'silent') senders.recordResult(from, answer !== 'not-signed')
      return answer
    },
    async checkPaymentSignature(payment) {
      if (signedByKey.has(payment)) return 'signed'
      const digest = computePayerDigest(payment)
      if (digest === undefined) return 'not-signed'
      const { recoverSigner } = await keys
      if ((await recoverSigner(digest, payment.signature)) !== payment.payer)
        return await queryPayerContract(payment, digest)
      signedByKey.add(payment)
      return 'signed'
    },
    async checkTokenSignature(payment) {
      const digest = computePayerDigest(payment)
      if (digest === undefined) return 'not-signed'
      const code = await contracts.hasCode(payment.payer, 'payer')
      if (typeof code === 'string') return code
      if (code) return await queryPayerContract(payment, digest)
      const { recoverSigner } = await keys
      const isPayers =
        isStrictSignature(payment.signature) && (await recoverSigner(digest, payment.signature)) === payment.payer
      return isPayers ? 'signed' : 'not-signed'
    },
  }
}

/**
 * Whether a key's signature has the one form that the token accepts: v is 27 or 28, and s is the smaller of the two
 * possible values.
 */
const isStrictSignature = (signature: `0x${string}`) =>
  strictForm.test(signature) && BigInt(`0x${signature.slice(S_FROM, S_TO)}`) <= S_MAX

const strictForm = /^0x[0-9a-f]{128}1[bc]$/
const [S_FROM, S_TO] = [2 + 64, 2 + 128]

// Half of secp256k1's order.
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

type Reputation = {
  /** Whether requests from an address use the budget for owners, not the one for suspects. */
  isTrusted(from: string): boolean
  /** Records whether a signature that an address sent was valid. */
  recordResult(from: string, isGood: boolean): void
}

// How many requests an unknown address may send before it counts as a suspect; a client that follows Retry-After sends
// fewer.
const ATTEMPTS: Budget = { burst: 3, perSecond: 0.5 }

const SUSPECTED_MS = 600_000

// How many addresses of each kind are remembered; each takes a few hundred bytes.
const REMEMBERED_MAX = 4096

function createReputation({ elapsed }: Pick<Clock, 'elapsed'>): Reputation {
  const attempts = createTokenBuckets(ATTEMPTS, REMEMBERED_MAX)
  const good = createLru<string, true>(REMEMBERED_MAX)
  const badAt = createLru<string, number>(REMEMBERED_MAX)
  return {
    isTrusted(from) {
      const at = badAt.get(from)
      if (at !== undefined && elapsed() - at < SUSPECTED_MS) return false
      return good.get(from) === true || attempts.take(from, elapsed()) === 0
    },
    recordResult(from, isGood) {
      if (isGood) {
        good.set(from, true)
        badAt.delete(from)
      } else {
        badAt.set(from, elapsed())
        good.delete(from)
      }
    },
  }
}
