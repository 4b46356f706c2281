/**
 * The endpoints of one chain: tries them in order, and the next one if an endpoint fails, rejects a call or lags
 * behind.
 */

import { HttpRequestError, numberToHex, RpcRequestError } from 'viem'
import type { Network } from '../../../shared/usdc.ts'
import type { Address, UnixSeconds } from '../../domain/purchase/payment.ts'
import type { Clock } from '../../ports.ts'
import { TIMES, type Times } from '../../times.ts'
import { getChain, isSoldOn } from '../../x402/network.ts'
import { describeConnectionError } from '../bounded-calls.ts'
import { QueueFull } from './call-queue.ts'
import {
  EndpointBehind,
  EndpointBusy,
  createEndpoint,
  MACHINE,
  NoRpcAnswer,
  parseQuantity,
  createSession,
  type CallContext,
  type Endpoint,
  type Machine,
  type Session,
} from './endpoint.ts'

export const MULTICALL: Address = '0xca11bde05977b3631167028862be2a173976ca11'

/** A block, by height and time. */
export type Height = { readonly number: bigint; readonly timestamp: UnixSeconds }

export type Endpoints = {
  readonly clock: Clock
  /** The time limit of one query, with all its calls. */
  readonly deadlineMs: number
  readonly machine: Machine
  readonly all: readonly Endpoint[]
  /** The newest block that any endpoint has shown. */
  findNewest(): Height | undefined
  /** Records a block that an endpoint has shown. */
  recordBlock(height: Height): void
  /**
   * Tries `work` on one endpoint after another until it succeeds. A result comes from one endpoint only, because two
   * endpoints may be at different blocks. While all endpoints lag behind, retries as long as `onLag` allows; after
   * other failures, tries all endpoints once more.
   */
  tryEach<T>(context: CallContext, work: (session: Session) => Promise<T>, onLag?: 'fail' | 'wait'): Promise<T>
  readonly onProbed: OnProbed
  /**
   * Makes a call for a query without a waiting buyer. Throws a contract's error without trying another endpoint.
   */
  readonly request: RpcRequest
}

export type RpcRequest = (method: string, params: readonly unknown[]) => Promise<unknown>

/** How endpoints are called. `callsPerSecond` is the limit of each endpoint; `undefined` is unlimited. */
export type EndpointOptions = {
  readonly clock: Clock
  readonly callsPerSecond?: number | undefined
  readonly onProbed?: OnProbed
  readonly times?: Times
  readonly machine?: Machine
}

/** Called with the problem that a probe found with an endpoint, in our words; `null` if there is none. */
export type OnProbed = (host: string, trouble: string | null) => void

const RETRY_MS = 150

/** Opens the endpoints of a network; without addresses, its public one. */
export function openEndpoints(
  network: Network,
  addresses: readonly string[],
  { clock, callsPerSecond, onProbed = () => {}, times = TIMES, machine = MACHINE }: EndpointOptions,
): Endpoints {
  const { id, publicUrl } = getChain(network)
  const urls = addresses.length === 0 ? [publicUrl] : addresses
  const limits = { perSecond: callsPerSecond, clock }
  // On Arbitrum, contracts see Ethereum's block numbers, so a multicall cannot report the height.
  const hasMulticall = isSoldOn(network) ? undefined : false
  const transports = urls.map((url) => machine.createTransport(url, times.chainCallTimeoutMs))
  const all = transports.map((transport) => createEndpoint(transport, BigInt(id), limits, hasMulticall))
  let newest: Height | undefined

  /** The endpoints that are not resting after a rate limit, healthy ones first. */
  const sortByHealth = () => {
    const awake = all.filter(({ restsUntil }) => restsUntil <= clock.elapsed())
    return awake.toSorted((one, other) => Number(one.isInTrouble) - Number(other.isInTrouble))
  }
  const recordFailure = (endpoint: Endpoint, error: unknown) => {
    endpoint.isInTrouble = true
    if (error instanceof EndpointBusy) endpoint.restsUntil = clock.elapsed() + (error.restMs ?? times.endpointRestMs)
  }
  const ask: Endpoints['tryEach'] = async (context, work, onLag = 'fail') => {
    let failure: unknown = new EndpointBusy(0)
    const waitsMs = onLag === 'wait' ? times.chainLagWaitsMs : [RETRY_MS]
    for (let round = 0; round <= waitsMs.length; round++) {
      if (round > 0) await clock.wait(waitsMs[round - 1] ?? 0)
      for (const endpoint of sortByHealth()) {
        if (context.late.aborted) throw failure
        try {
          // The chain id is not checked if there is no other endpoint and no payment depends on the query.
          const isKnown = context === FOR_ANYBODY && all.length === 1
          if (!isKnown && (await endpoint.readChainId(context)) !== BigInt(id)) throw new TypeError('another chain')
          const answer = await work(createSession(endpoint, context))
          endpoint.isInTrouble = false
          return answer
        } catch (error) {
          // Our own full queue proves nothing about the endpoint.
          if (error instanceof QueueFull) throw error
          recordFailure(endpoint, error)
          failure = error
        }
      }
      const isLag = failure instanceof EndpointBehind
      if (isLag ? onLag === 'fail' : round > 0) break
    }
    throw failure
  }

  return {
    clock,
    deadlineMs: times.chainDeadlineMs,
    machine,
    all,
    findNewest: () => newest,
    recordBlock({ number, timestamp }) {
      if (newest === undefined || number > newest.number) newest = { number, timestamp }
    },
    tryEach: ask,
    onProbed,
    request: createRequester(ask),
  }
}

const createRequester =
  (ask: Endpoints['tryEach']): RpcRequest =>
  async (method, params) => {
    // A contract's error counts as a response of the endpoint, so no other endpoint is tried.
    const answer = await ask(FOR_ANYBODY, (session) =>
      session.call(method, params).catch((error: unknown) => {
        if (isRevert(error)) return error
        throw error
      }),
    )
    if (isRevert(answer)) throw answer
    return answer
  }

// Anybody can cause these calls, so buyers and settlements come first.
const FOR_ANYBODY: CallContext = { urgency: 'background', late: new AbortController().signal }

// The JSON-RPC code of a call that a contract reverted, as opposed to an error of the endpoint.
const REVERTED = 3

// Endpoints word this error differently. Only a contract's own code can use up the gas of a call.
const OUT_OF_GAS = /out\s?of\s?gas|gas required exceeds/i

/** Whether a contract reverted the call, or used up all its gas. */
export const isRevert = (error: unknown): error is RpcRequestError =>
  error instanceof RpcRequestError &&
  (error.code === REVERTED || error.details.includes('revert') || OUT_OF_GAS.test(error.details))

/** Describes an error of an endpoint, in our words. */
export function describeError(error: unknown): string {
  if (error instanceof EndpointBusy) return 'is rate-limiting us (429)'
  if (error instanceof EndpointBehind) return 'lags behind'
  if (error instanceof RpcRequestError) return 'returns errors'
  if (error instanceof HttpRequestError) return `returns status ${error.status}`
  if (error instanceof NoRpcAnswer) return 'does not return JSON-RPC'
  return describeConnectionError(error) ?? 'does not respond'
}

/** Reads a block's height and time; throws for a response without them. */
export async function readBlock(session: Session, tag: 'latest' | 'safe'): Promise<Height | undefined> {
  const block = await session.call('eth_getBlockByNumber', [tag, false])
  if (block === null) return undefined
  if (typeof block !== 'object' || !('number' in block && 'timestamp' in block))
    throw new TypeError('the endpoint returned a block without height or time')
  return { number: parseQuantity(block.number), timestamp: parseQuantity(block.timestamp) }
}

/** Calls a contract at a block. Throws for a response that is not hex data. */
export async function callContract(
  session: Session,
  to: Address,
  data: `0x${string}`,
  at: 'latest' | bigint,
): Promise<`0x${string}`> {
  const block = typeof at === 'bigint' ? numberToHex(at) : at
  return parseHexData(await session.call('eth_call', [{ to, data }, block]))
}

/** Parses JSON-RPC bytes. Throws for anything else. */
export function parseHexData(value: unknown): `0x${string}` {
  if (!isHexData(value)) throw new TypeError('no data')
  return value
}

const isHexData = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)
