/**
 * Checks on the chain whether contract wallets signed (EIP-1271), even before their deployment (EIP-6492). Anybody can
 * cause these queries, so they are limited, in total and per wallet. Over a limit, the result is `busy`, never a
 * denial.
 */

import {
  decodeFunctionResult,
  encodeFunctionData,
  isErc6492Signature,
  multicall3Abi,
  numberToHex,
  parseAbi,
  parseErc6492Signature,
} from 'viem'
import { createLru } from '../../../shared/lru.ts'
import type { SignatureCheck } from '../../domain/purchase/facilitator-errors.ts'
import type { Address, Hash } from '../../domain/purchase/payment.ts'
import { type Budget, createTokenBuckets } from '../../domain/token-bucket.ts'
import type { Clock } from '../../ports.ts'
import type { BoundedCalls } from '../bounded-calls.ts'
import { parseHexData, isRevert, MULTICALL, type RpcRequest } from '../chain/endpoints.ts'

type Hex = `0x${string}`

type Unsigned = Exclude<SignatureCheck, 'signed'>

/**
 * The first digest for which a wallet's contract accepts the signature. A wallet without code has not signed, unless
 * the signature contains its deployment.
 */
type SignedByContract = (
  wallet: Address,
  digests: readonly Hash[],
  signature: Hex,
  priority: Priority,
) => Promise<Hash | Unsigned>

// At most forty queries in any second, in total. Payers that have signed before have their own budget, which unknown
// payers cannot use up.
const QUESTIONS: Readonly<Record<Priority | 'known payer', Budget>> = {
  owner: { burst: 8, perSecond: 6 },
  suspect: { burst: 3, perSecond: 3 },
  payer: { burst: 6, perSecond: 4 },
  'known payer': { burst: 6, perSecond: 4 },
}

// A flood that names one wallet must not use up the share of other wallets.
const ABOUT_ONE: Budget = { burst: 4, perSecond: 2 }

// How many wallets of each kind are cached; each takes a few hundred bytes.
const REMEMBERED_MAX = 4096

/** Makes a check that queries wallet contracts through `request`. */
export function createContractSignatureCheck(
  request: RpcRequest,
  contracts: ContractCode,
  calls: BoundedCalls,
  { elapsed }: Pick<Clock, 'elapsed'>,
): SignedByContract {
  const knownPayers = createLru<string, true>(REMEMBERED_MAX)
  const aboutOne = createTokenBuckets(ABOUT_ONE, REMEMBERED_MAX)
  const questions = new Map(Object.entries(QUESTIONS).map(([name, budget]) => [name, createTokenBuckets(budget, 1)]))
  const tryTakeBudget = (wallet: Address, priority: string) =>
    aboutOne.take(`${priority} ${wallet}`, elapsed()) === 0 && questions.get(priority)?.take(priority, elapsed()) === 0

  return async (wallet, digests, signature, priority) => {
    if (digests.length === 0 || !bytesPattern.test(signature)) return 'not-signed'
    const code = await contracts.hasCode(wallet, priority)
    if (typeof code === 'string') return code
    const wrapper = unwrapSignature(signature)
    if (!code && wrapper === undefined) return 'not-signed'
    const isKnown = priority === 'payer' && knownPayers.get(wallet) === true
    if (!tryTakeBudget(wallet, isKnown ? 'known payer' : priority)) return 'busy'
    // A deployed wallet needs no deployment, so the deployment call in the signature is not made.
    const asked = wrapper === undefined || !code ? wrapper : { signature: wrapper.signature }
    const answer = await calls.make(() => queryContract(request, wallet, digests, asked ?? { signature }))
    if (priority === 'payer' && isSignedDigest(answer)) knownPayers.set(wallet, true)
    if (!code && isSignedDigest(answer)) contracts.forget(wallet)
    return answer
  }
}

/** Whether the answer is a digest that was signed. */
export const isSignedDigest = (answer: Hash | Unsigned): answer is Hash => answer.startsWith('0x')

const bytesPattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** A signature, and the call that deploys its wallet first, if necessary. */
type Wrapped = { readonly signature: Hex; readonly deployment?: { readonly to: Address; readonly data: Hex } }

/** The parts of an EIP-6492 signature; `undefined` for any other signature. */
function unwrapSignature(wrapped: Hex): Wrapped | undefined {
  if (!isErc6492Signature(wrapped)) return undefined
  try {
    const { address, data, signature } = parseErc6492Signature(wrapped)
    return address === undefined || data === undefined ? undefined : { signature, deployment: { to: address, data } }
  } catch {
    return undefined
  }
}

const eip1271 = parseAbi(['function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)'])

// Enough gas to deploy a wallet and to verify a passkey's signature in Solidity.
const GAS_MAX = numberToHex(5_000_000)

// EIP-1271's magic value, as the 32-byte word that a token expects.
const YES = `0x1626ba7e${'00'.repeat(28)}`

/** Queries all digests in one call that changes no state on the chain. */
async function queryContract(
  request: RpcRequest,
  wallet: Address,
  digests: readonly Hash[],
  { signature, deployment }: Wrapped,
): Promise<Hash | 'not-signed'> {
  const questions = digests.map((digest) => ({
    target: wallet,
    allowFailure: true,
    callData: encodeFunctionData({ abi: eip1271, functionName: 'isValidSignature', args: [digest, signature] }),
  }))
  // If the wallet has been deployed in the meantime, deploying it again fails and changes nothing.
  const first =
    deployment === undefined ? [] : [{ target: deployment.to, allowFailure: true, callData: deployment.data }]
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [[...first, ...questions]] })
  const call = { to: MULTICALL, data, gas: GAS_MAX }
  const answer = await request('eth_call', [call, 'latest']).catch(ignoreRevert)
  if (answer === undefined) return 'not-signed'
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: parseHexData(answer) })
  const taken = results
    .slice(first.length)
    .findIndex(({ success, returnData }) => success && returnData.startsWith(YES))
  return digests[taken] ?? 'not-signed'
}

/** A revert in the wallet's code means that the wallet did not sign; any other error is the endpoint's. */
function ignoreRevert(error: unknown): undefined {
  if (isRevert(error)) return undefined
  throw error
}

/**
 * Why a wallet is looked up: because a trusted or a suspect client claims to be an owner of blocks, or for a payment.
 * There are few owners, but anybody can invent payers.
 */
export type Priority = 'owner' | 'suspect' | 'payer'

type ContractCode = {
  /** Whether there is code at an address; `busy` or `silent` if that cannot be found out now. */
  hasCode(wallet: Address, priority: Priority): Promise<boolean | 'busy' | 'silent'>
  /** Forgets that an address had no code, because code is about to be deployed. */
  forget(wallet: Address): void
}

// At most twenty look-ups in any second, in total. Owners have a share that no flood of payments can use up.
const LOOK_UPS: Readonly<Record<Priority, Budget>> = {
  owner: { burst: 3, perSecond: 2 },
  suspect: { burst: 4, perSecond: 1 },
  payer: { burst: 3, perSecond: 7 },
}

// A wallet may be deployed at any moment, and must not be denied for long afterwards.
const NO_CODE_KEPT_MS = 10_000

/** Makes a reader that looks up code through `request`. */
export function createContractCodeReader(
  request: RpcRequest,
  calls: BoundedCalls,
  { elapsed }: Pick<Clock, 'elapsed'>,
): ContractCode {
  const lookUps = new Map(Object.entries(LOOK_UPS).map(([name, budget]) => [name, createTokenBuckets(budget, 1)]))
  const withCode = createLru<Address, true>(REMEMBERED_MAX)
  const seenWithout = createLru<Address, number>(REMEMBERED_MAX)
  const underWay = new Map<Address, ReturnType<ContractCode['hasCode']>>()

  const readCode = async (wallet: Address) => {
    const code = await calls.make(() => hasCodeNow(request, wallet))
    if (code === true) withCode.set(wallet, true)
    if (code === false) seenWithout.set(wallet, elapsed())
    return code
  }

  const has: ContractCode['hasCode'] = async (wallet, priority) => {
    // The code may be gone by now; the call to the contract shows that.
    if (withCode.get(wallet) === true) return true
    const seenAt = seenWithout.get(wallet)
    if (seenAt !== undefined && elapsed() - seenAt < NO_CODE_KEPT_MS) return false
    const same = underWay.get(wallet)
    if (same !== undefined) return await same
    if (calls.areFull() || lookUps.get(priority)?.take(priority, elapsed()) !== 0) return 'busy'
    const answer = readCode(wallet).finally(() => underWay.delete(wallet))
    underWay.set(wallet, answer)
    return await answer
  }
  return { hasCode: has, forget: seenWithout.delete }
}

async function hasCodeNow(request: RpcRequest, wallet: Address): Promise<boolean> {
  const code = await request('eth_getCode', [wallet, 'latest'])
  if (typeof code !== 'string' || !code.startsWith('0x')) throw new TypeError('neither code nor 0x')
  return code !== '0x'
}
