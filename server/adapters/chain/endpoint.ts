/** One JSON-RPC endpoint: calls to it, with limits of time, size and number, and its known state. */

import { HttpRequestError, RpcRequestError } from 'viem'
import type { Clock } from '../../ports.ts'
import { runWithTimeout } from '../../times.ts'
import { fetchBounded, parseHttpAddress } from '../bounded-calls.ts'
import { createCallQueue, type CallQueue, type Urgency } from './call-queue.ts'
import { createLogWindow, type LogWindow } from './log-window.ts'

// The largest possible response is the receipt of a transaction that does nothing but emit events.
const ANSWER_MAX_BYTES = 8 * 1024 * 1024

// Public endpoints reject clients with too many parallel calls.
const CALLS_AT_ONCE = 32
const CALLS_WAITING_MAX = 512

// The longest pause that an endpoint can request.
const REST_MAX_MS = 300_000

/** How urgent a call is, and a signal that aborts once nobody waits for the result any more. */
export type CallContext = { readonly urgency: Urgency; readonly late: AbortSignal }

/** The endpoint is rate-limiting us. */
export class EndpointBusy extends Error {
  override name = 'EndpointBusy'
  readonly restMs: number | undefined // undefined if the endpoint named no time
  constructor(restMs: number | undefined) {
    super('the endpoint is rate-limiting us')
    this.restMs = restMs
  }
}

/** The endpoint's newest block is older than one seen before. */
export class EndpointBehind extends Error {
  override name = 'EndpointBehind'
}

/** The response is not JSON-RPC. */
export class NoRpcAnswer extends Error {
  override name = 'NoRpcAnswer'
}

export type Endpoint = {
  /** The part of the address that operators see; the whole address may contain a secret. */
  readonly host: string
  readonly logs: LogWindow
  /** Whether the endpoint supports multicall; `undefined` until this has been tried. */
  hasMulticall: boolean | undefined
  /**
   * The chain that the endpoint serves. The first caller queries it; later callers query it again only if the result
   * was not the right chain.
   */
  readChainId(context: CallContext): Promise<bigint>
  /** Whether the last call failed. */
  isInTrouble: boolean
  /** When the endpoint accepts calls again, by the monotonic clock. */
  restsUntil: number
  /** The queue of the calls to this endpoint; see `CallQueue`. */
  readonly queueCall: CallQueue
  /** Calls immediately, without queueing; only for a caller whose turn it is. */
  post(method: string, params: readonly unknown[]): Promise<unknown>
  /** Waits for the call's turn in the queue, then calls. */
  call(context: CallContext, method: string, params: readonly unknown[]): Promise<unknown>
}

/** An endpoint with the context of the calls to it. */
export type Session = CallContext & {
  readonly endpoint: Endpoint
  call(method: string, params: readonly unknown[]): Promise<unknown>
}

/** Binds an endpoint to the context of a caller. */
export const createSession = (endpoint: Endpoint, context: CallContext): Session => ({
  ...context,
  endpoint,
  call: (method, params) => endpoint.call(context, method, params),
})

/** The address of an endpoint, and how to call it. */
export type Transport = Pick<Endpoint, 'host' | 'post'>

/** Calls an http address. A call takes at most `timeoutMs`. */
export function createHttpTransport(address: string, timeoutMs: number): Transport {
  const { url, host, headers: credentials } = parseHttpAddress(address)
  const headers = { 'content-type': 'application/json', ...credentials }
  let calls = 0
  return {
    host,
    async post(method, params) {
      const body = { jsonrpc: '2.0', id: ++calls, method, params }
      const bounds = { timeoutMs, maxBytes: ANSWER_MAX_BYTES }
      const response = await fetchBounded(url, { method: 'POST', headers, body: JSON.stringify(body) }, bounds)
      return await readResult(response, { body, url: host })
    },
  }
}

/**
 * The transport and timers that the adapter builds on. `soon` runs a function at the end of this turn of the event
 * loop.
 */
export type Machine = {
  readonly createTransport: (address: string, timeoutMs: number) => Transport
  readonly withTimeout: typeof runWithTimeout
  readonly soon: (run: () => void) => void
}

export const MACHINE: Machine = {
  createTransport: createHttpTransport,
  withTimeout: runWithTimeout,
  soon: setImmediate,
}

/** How often per second an endpoint may be called, and the clock that measures the seconds. */
type EndpointLimits = { readonly perSecond: number | undefined; readonly clock: Clock }

/** Makes an endpoint for a chain. */
export function createEndpoint(
  { host, post }: Transport,
  wanted: bigint,
  { perSecond, clock }: EndpointLimits,
  hasMulticall?: false,
): Endpoint {
  const turn = createCallQueue({ atOnce: CALLS_AT_ONCE, waitingMax: CALLS_WAITING_MAX, perSecond }, clock)
  const call: Endpoint['call'] = async ({ urgency, late }, method, params) => {
    let isLate = false
    const answer = await turn(urgency, () => {
      isLate = late.aborted
      return isLate ? undefined : post(method, params)
    })
    if (isLate) throw new Error('nobody is waiting for the response any more')
    return answer
  }
  let chainId: Promise<bigint> | undefined
  const checkChainId = async (context: CallContext) => {
    let answered: bigint | undefined
    try {
      answered = parseQuantity(await call(context, 'eth_chainId', []))
      return answered
    } finally {
      if (answered !== wanted) chainId = undefined
    }
  }
  return {
    host,
    logs: createLogWindow(),
    hasMulticall,
    isInTrouble: false,
    restsUntil: 0,
    queueCall: turn,
    post,
    call,
    readChainId: (context) => (chainId ??= checkChainId(context)),
  }
}

type SentCall = { readonly body: Record<string, unknown>; readonly url: string }

const TOO_MANY_REQUESTS = 429

// JSON-RPC errors of Alchemy, QuickNode and Ankr for too many calls.
const BUSY_CODES: ReadonlySet<number> = new Set([429, -32_007, -32_029])

async function readResult(response: Response, { body, url }: SentCall): Promise<unknown> {
  const { status, headers } = response
  if (status === TOO_MANY_REQUESTS) throw new EndpointBusy(parseRetryAfter(headers.get('retry-after')))
  const answer: unknown = await response.json().catch(() => undefined)
  const error = parseRpcError(answer)
  if (error !== undefined && BUSY_CODES.has(error.code)) throw new EndpointBusy(undefined)
  if (error !== undefined) throw new RpcRequestError({ body, error, url })
  if (!response.ok) throw new HttpRequestError({ body, url, status, headers })
  if (typeof answer !== 'object' || answer === null || !('result' in answer))
    throw new NoRpcAnswer('no JSON-RPC answer')
  return answer.result
}

function parseRetryAfter(retryAfter: string | null): number | undefined {
  const seconds = retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined
  return seconds === undefined ? undefined : Math.min(seconds * 1000, REST_MAX_MS)
}

function parseRpcError(answer: unknown): { code: number; message: string; data?: unknown } | undefined {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return undefined
  const { error } = answer
  if (typeof error !== 'object' || error === null || !('code' in error) || typeof error.code !== 'number')
    return undefined
  const message = 'message' in error && typeof error.message === 'string' ? error.message : ''
  return { code: error.code, message, ...('data' in error ? { data: error.data } : {}) }
}

/** Parses a JSON-RPC number. Throws for anything else. */
export function parseQuantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new TypeError('no quantity')
  return BigInt(value)
}
