/**
 * Wallets that are contracts, asked on the chain whether they signed (EIP-1271), also before they are deployed (EIP-6492).
 * Anybody can make us ask, so it is bounded, in all and for each wallet. Beyond a bound the answer is `busy`, never a denial.
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
import { lru } from '../../../shared/lru.ts'
import type { SignatureCheck } from '../../domain/purchase/facilitator-errors.ts'
import type { Address, Hash } from '../../domain/purchase/payment.ts'
import { type Budget, tokenBuckets } from '../../domain/token-bucket.ts'
import type { Clock } from '../../ports.ts'
import type { BoundedCalls } from '../bounded-calls.ts'
import { hexData, isRevert, MULTICALL, type RpcRequest } from '../chain/endpoints.ts'

type Hex = `0x${string}`

type Unsigned = Exclude<SignatureCheck, 'signed'>

/** The first of the digests that a wallet's contract takes the signature for. A wallet that has no code has not signed. */
type SignedByContract = (
  wallet: Address,
  digests: readonly Hash[],
  signature: Hex,
  priority: Priority,
) => Promise<Hash | Unsigned>

// Forty questions in any second, in all. A payer that was once seen to sign does not wait behind those that never were.
const QUESTIONS: Readonly<Record<Priority | 'known payer', Budget>> = {
  owner: { burst: 8, perSecond: 6 },
  suspect: { burst: 3, perSecond: 3 },
  payer: { burst: 6, perSecond: 4 },
  'known payer': { burst: 6, perSecond: 4 },
}

// A flood that names one wallet must not use up what is there for the others.
const ABOUT_ONE: Budget = { burst: 4, perSecond: 2 }

// Wallets of each kind that are remembered, some hundred bytes each.
const REMEMBERED_MAX = 4096

/** Asks contracts through `client`. */
export function signedByContract(
  request: RpcRequest,
  contracts: ContractCode,
  calls: BoundedCalls,
  { elapsed }: Pick<Clock, 'elapsed'>,
): SignedByContract {
  const knownPayers = lru<string, true>(REMEMBERED_MAX)
  const aboutOne = tokenBuckets(ABOUT_ONE, REMEMBERED_MAX)
  const questions = new Map(Object.entries(QUESTIONS).map(([name, budget]) => [name, tokenBuckets(budget, 1)]))
  const mayAsk = (wallet: Address, priority: string) =>
    aboutOne.take(`${priority} ${wallet}`, elapsed()) === 0 && questions.get(priority)?.take(priority, elapsed()) === 0

  return async (wallet, digests, signature, priority) => {
    if (digests.length === 0 || !bytesPattern.test(signature)) return 'not-signed'
    const code = await contracts.has(wallet, priority)
    if (typeof code === 'string') return code
    const wrapper = unwrap(signature)
    if (!code && wrapper === undefined) return 'not-signed'
    const isKnown = priority === 'payer' && knownPayers.get(wallet) === true
    if (!mayAsk(wallet, isKnown ? 'known payer' : priority)) return 'busy'
    // A wallet that is there needs no deployment, so the call that comes with the signature is not made.
    const asked = wrapper === undefined || !code ? wrapper : { signature: wrapper.signature }
    const answer = await calls.make(() => ask(request, wallet, digests, asked ?? { signature }))
    if (priority === 'payer' && isTaken(answer)) knownPayers.set(wallet, true)
    if (!code && isTaken(answer)) contracts.forget(wallet)
    return answer
  }
}

/** Whether that is a digest which was signed. */
export const isTaken = (answer: Hash | Unsigned): answer is Hash => answer.startsWith('0x')

const bytesPattern = /^0x(?:[0-9a-fA-F]{2})*$/

/** A signature, and the call that deploys its wallet first where that is still to be done. */
type Wrapped = { readonly signature: Hex; readonly deployment?: { readonly to: Address; readonly data: Hex } }

/** The parts of an EIP-6492 signature; `undefined` for any other. */
function unwrap(wrapped: Hex): Wrapped | undefined {
  if (!isErc6492Signature(wrapped)) return undefined
  try {
    const { address, data, signature } = parseErc6492Signature(wrapped)
    return address === undefined || data === undefined ? undefined : { signature, deployment: { to: address, data } }
  } catch {
    return undefined
  }
}

const eip1271 = parseAbi(['function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)'])

// Enough to deploy a wallet and to have a passkey's signature computed in Solidity.
const GAS_MAX = numberToHex(5_000_000)

// EIP-1271's yes, as the whole word that a token compares.
const YES = `0x1626ba7e${'00'.repeat(28)}`

/** Asks about all digests in one call, in a state of which nothing is kept. */
async function ask(
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
  // A wallet that is deployed by now makes its deployment fail, which changes nothing.
  const first =
    deployment === undefined ? [] : [{ target: deployment.to, allowFailure: true, callData: deployment.data }]
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [[...first, ...questions]] })
  const call = { to: MULTICALL, data, gas: GAS_MAX }
  const answer = await request('eth_call', [call, 'latest']).catch(orNothing)
  if (answer === undefined) return 'not-signed'
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: hexData(answer) })
  const taken = results
    .slice(first.length)
    .findIndex(({ success, returnData }) => success && returnData.startsWith(YES))
  return digests[taken] ?? 'not-signed'
}

/** What a wallet's code does is its answer; every other failure is the endpoint's. */
function orNothing(error: unknown): undefined {
  if (isRevert(error)) return undefined
  throw error
}

/**
 * Who is asked about, and for whom: owners of blocks, of whom there are few, for somebody who may be one or for a suspect;
 * or payers, whom anybody can invent.
 */
export type Priority = 'owner' | 'suspect' | 'payer'

type ContractCode = {
  /** Whether there is code at an address; `busy` and `silent` when that is not known now. */
  has(wallet: Address, priority: Priority): Promise<boolean | 'busy' | 'silent'>
  /** Forgets that there was none: it is about to be deployed. */
  forget(wallet: Address): void
}

// Twenty look-ups in any second, in all. Owners have a share that no flood of payments can use up.
const LOOK_UPS: Readonly<Record<Priority, Budget>> = {
  owner: { burst: 3, perSecond: 2 },
  suspect: { burst: 4, perSecond: 1 },
  payer: { burst: 3, perSecond: 7 },
}

// A wallet may be deployed at any moment, and must not be denied for long then.
const NO_CODE_KEPT_MS = 10_000

/** Looks up code through `client`. */
export function contractCode(
  request: RpcRequest,
  calls: BoundedCalls,
  { elapsed }: Pick<Clock, 'elapsed'>,
): ContractCode {
  const lookUps = new Map(Object.entries(LOOK_UPS).map(([name, budget]) => [name, tokenBuckets(budget, 1)]))
  const withCode = lru<Address, true>(REMEMBERED_MAX)
  const seenWithout = lru<Address, number>(REMEMBERED_MAX)
  const underWay = new Map<Address, ReturnType<ContractCode['has']>>()

  const lookUp = async (wallet: Address) => {
    const code = await calls.make(() => hasCodeNow(request, wallet))
    if (code === true) withCode.set(wallet, true)
    if (code === false) seenWithout.set(wallet, elapsed())
    return code
  }

  const has: ContractCode['has'] = async (wallet, priority) => {
    // The code may be gone by now; the call to the contract shows that.
    if (withCode.get(wallet) === true) return true
    const seenAt = seenWithout.get(wallet)
    if (seenAt !== undefined && elapsed() - seenAt < NO_CODE_KEPT_MS) return false
    const same = underWay.get(wallet)
    if (same !== undefined) return await same
    if (calls.areFull() || lookUps.get(priority)?.take(priority, elapsed()) !== 0) return 'busy'
    const answer = lookUp(wallet).finally(() => underWay.delete(wallet))
    underWay.set(wallet, answer)
    return await answer
  }
  return { has, forget: seenWithout.delete }
}

async function hasCodeNow(request: RpcRequest, wallet: Address): Promise<boolean> {
  const code = await request('eth_getCode', [wallet, 'latest'])
  if (typeof code !== 'string' || !code.startsWith('0x')) throw new TypeError('no code, and not the word for none')
  return code !== '0x'
}
