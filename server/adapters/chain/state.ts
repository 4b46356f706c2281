/** Reads the state of authorizations at one block. Queries in the same turn of the event loop share one multicall. */

import { decodeFunctionResult, encodeFunctionData, multicall3Abi, parseAbi, RpcRequestError } from 'viem'
import type { Address, Hash, PaymentKey, UnixSeconds } from '../../domain/purchase/payment.ts'
import type { Urgency } from './call-queue.ts'
import type { Endpoint, Machine, Session } from './endpoint.ts'
import { readBlock, callContract, parseHexData, MULTICALL } from './endpoints.ts'

/**
 * The state of one authorization at one block. `hash` is the hash of block `blockAsked`; it is `undefined` if no block
 * was requested, or if that block is too old.
 */
export type AuthorizationState = {
  readonly number: bigint
  readonly timestamp: UnixSeconds
  readonly spent: boolean
  readonly hash: Hash | undefined
}

/** Which authorization to read, and which block's hash. */
export type StateQuestion = {
  readonly asset: Address
  readonly key: PaymentKey
  readonly blockAsked?: bigint | undefined
}

/** Reads at the newest block, or at the newest safe block; `undefined` if the endpoint knows no safe block. */
export type StateReader = {
  readLatest(session: Session, question: StateQuestion): Promise<AuthorizationState>
  readSafe(session: Session, question: StateQuestion): Promise<AuthorizationState | undefined>
}

// This many queries take a thousandth of the computation that nodes allow per call.
const SHARED_MAX = 100

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getBlockHash(uint256 blockNumber) view returns (bytes32)',
])

/** Makes a reader whose queries in the same turn of the event loop share their calls. */
export function createStateReader({ soon }: Machine): StateReader {
  const shared = { latest: new Map<Endpoint, SharedCheck>(), safe: new Map<Endpoint, SharedCheck>() }
  const readShared = (tag: Tag, { endpoint, urgency }: Session, question: StateQuestion) => {
    const known = shared[tag].get(endpoint) ?? createSharedCheck(endpoint, tag, soon)
    shared[tag].set(endpoint, known)
    return known(urgency, question)
  }
  return {
    async readLatest(session, question) {
      const { endpoint } = session
      if (endpoint.hasMulticall === false) return await readState(session, question)
      try {
        const state = await readShared('latest', session, question)
        endpoint.hasMulticall = true
        return state
      } catch (error) {
        if (!isRefusal(error)) throw error
        const state = await readState(session, question)
        // Single calls succeed although the multicall failed, so the endpoint rejects multicalls.
        endpoint.hasMulticall = false
        return state
      }
    },
    async readSafe(session, question) {
      try {
        if (session.endpoint.hasMulticall !== false) return await readShared('safe', session, question)
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
      return await readSafeState(session, question)
    },
  }
}

/** Whether an authorization is used or cancelled at a block. */
export async function isSpentAt(session: Session, { asset, key }: StateQuestion, block: bigint): Promise<boolean> {
  const data = await callContract(session, asset, encodeStateCall(key), block)
  return decodeFunctionResult({ abi, functionName: 'authorizationState', data })
}

/** How much of a token a wallet holds at the newest block. */
export async function readBalance(session: Session, asset: Address, wallet: Address): Promise<bigint> {
  const question = encodeFunctionData({ abi, functionName: 'balanceOf', args: [wallet] })
  const data = await callContract(session, asset, question, 'latest')
  return decodeFunctionResult({ abi, functionName: 'balanceOf', data })
}

type Tag = 'latest' | 'safe'
type SharedCheck = (urgency: Urgency, question: StateQuestion) => Promise<AuthorizationState>
type Waiting = PromiseWithResolvers<AuthorizationState> & { readonly question: StateQuestion }

/** Makes a check whose queries share calls: the first query whose turn comes reads for all waiting queries. */
function createSharedCheck(endpoint: Endpoint, tag: Tag, soon: Machine['soon']): SharedCheck {
  let waiting: Waiting[] = []
  const readForAll = async (taken: readonly Waiting[]) => {
    try {
      const answers = await readManyStates(endpoint, tag, taken)
      for (const [at, { resolve, reject }] of taken.entries()) {
        const answer = answers[at]
        if (answer === undefined || 'error' in answer) reject(answer?.error)
        else resolve(answer)
      }
    } catch (error) {
      for (const { reject } of taken) reject(error)
    }
  }
  return async (urgency, question) => {
    const mine: Waiting = { ...Promise.withResolvers<AuthorizationState>(), question }
    waiting.push(mine)
    // Waits for the other queries of this turn of the event loop, to include them.
    soon(() => {
      const turn = endpoint.queueCall(urgency, () => {
        const taken = waiting.slice(0, SHARED_MAX)
        if (taken.length === 0) return undefined
        waiting = waiting.slice(SHARED_MAX)
        return readForAll(taken)
      })
      turn.catch((error: unknown) => {
        waiting = waiting.filter((one) => one !== mine)
        mine.reject(error)
      })
    })
    return await mine.promise
  }
}

const encodeStateCall = ({ payer, nonce }: PaymentKey) =>
  encodeFunctionData({ abi, functionName: 'authorizationState', args: [payer, nonce] })

async function readManyStates(
  endpoint: Endpoint,
  tag: Tag,
  taken: readonly Waiting[],
): Promise<readonly (AuthorizationState | { readonly error: unknown })[]> {
  const toMulticall = (callData: `0x${string}`) => ({ target: MULTICALL, allowFailure: true, callData })
  const calls = [
    toMulticall(encodeFunctionData({ abi, functionName: 'getBlockNumber' })),
    toMulticall(encodeFunctionData({ abi, functionName: 'getCurrentBlockTimestamp' })),
    ...taken.flatMap(({ question: { asset, key, blockAsked = 0n } }) => [
      { target: asset, allowFailure: true, callData: encodeStateCall(key) },
      toMulticall(encodeFunctionData({ abi, functionName: 'getBlockHash', args: [blockAsked] })),
    ]),
  ]
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [calls] })
  const answer = parseHexData(await endpoint.post('eth_call', [{ to: MULTICALL, data }, tag]))
  const results = decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer })
  const readDataAt = (at: number) => {
    const result = results[at]
    if (result?.success !== true) throw new TypeError('a call that failed')
    return result.returnData
  }
  const number = decodeFunctionResult({ abi, functionName: 'getBlockNumber', data: readDataAt(0) })
  const timestamp = decodeFunctionResult({ abi, functionName: 'getCurrentBlockTimestamp', data: readDataAt(1) })
  return taken.map(({ question }, at) => {
    try {
      const spent = decodeFunctionResult({ abi, functionName: 'authorizationState', data: readDataAt(2 + 2 * at) })
      const known = results[3 + 2 * at]
      const hash = known?.success === true && question.blockAsked !== undefined ? known.returnData : undefined
      return { number, timestamp, spent, hash: hash === NO_HASH ? undefined : hash }
    } catch (error) {
      return { error }
    }
  })
}

const NO_HASH = `0x${'0'.repeat(64)}`

/**
 * Reads the state with single calls, for a chain without the multicall contract or an endpoint that rejects multicalls.
 */
async function readState(session: Session, question: StateQuestion): Promise<AuthorizationState> {
  const block = await readBlock(session, 'latest')
  if (block === undefined) throw new TypeError('no newest block')
  const spent = await isSpentAt(session, question, block.number)
  return { ...block, spent, hash: undefined }
}

async function readSafeState(session: Session, question: StateQuestion): Promise<AuthorizationState | undefined> {
  const block = await readBlock(session, 'safe').catch((error: unknown) => {
    // An endpoint without safe blocks returns an error. A rate-limited call also returns an error, but counts as a
    // failure.
    if (error instanceof RpcRequestError && error.code !== LIMIT_EXCEEDED) return undefined
    throw error
  })
  if (block === undefined) return undefined
  return { ...block, spent: await isSpentAt(session, question, block.number), hash: undefined }
}

const LIMIT_EXCEEDED = -32_005

/** Whether a call returned an error, or data that is not a valid result of the contract. */
function isRefusal(error: unknown): boolean {
  if (error instanceof RpcRequestError) return true
  return (
    error instanceof Error && (error.name.startsWith('Abi') || error.name === 'TypeError' || DECODING.has(error.name))
  )
}

const DECODING: ReadonlySet<string> = new Set(['InvalidBytesBooleanError', 'PositionOutOfBoundsError'])
