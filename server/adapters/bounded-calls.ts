/** Limits for calls to third parties: concurrency, duration, size, and no redirects. */

import pLimit from 'p-limit'
import { runWithTimeout } from '../times.ts'

/** How many calls run concurrently, and how many may wait. */
type CallLimits = { readonly atOnce: number; readonly waitingMax: number }

/** Runs calls within limits; returns `busy` if too many calls wait. */
export function createCallLimit({ atOnce, waitingMax }: CallLimits) {
  const limit = pLimit(atOnce)
  const isFull = () => limit.pendingCount >= waitingMax
  const callInTurn = async <T>(call: () => Promise<T>): Promise<T | 'busy'> => (isFull() ? 'busy' : await limit(call))
  return { isFull, inTurn: callInTurn }
}

// Limits for queries about wallets.
const LIMITS: CallLimits = { atOnce: 8, waitingMax: 64 }

// This deadline includes the time in the queue.
const DEADLINE_MS = 3000

export type BoundedCalls = {
  /** The result of a call; `silent` if it fails or takes too long, `busy` if too many other calls wait. */
  make<T>(call: () => Promise<T>): Promise<T | 'busy' | 'silent'>
  /** Whether one more call would be `busy`. */
  areFull(): boolean
}

export function createBoundedCalls(): BoundedCalls {
  const { isFull, inTurn } = createCallLimit(LIMITS)
  return {
    areFull: isFull,
    make: <T>(call: () => Promise<T>) =>
      runWithTimeout<T | 'busy' | 'silent'>(
        DEADLINE_MS,
        (late) => inTurn(async () => (late.aborted ? 'silent' : await call().catch(() => 'silent' as const))),
        'silent',
      ),
  }
}

/** An address without secrets in its URL: the credentials are in `headers`, and logs may show the `host`. */
export type HttpAddress = {
  readonly url: string
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
}

/** Moves credentials from a URL into a header, because `fetch` rejects them in a URL and no message may show them. */
export function parseHttpAddress(address: string): HttpAddress {
  const url = new URL(address)
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  const auth = user === ':' ? {} : { authorization: `Basic ${Buffer.from(user).toString('base64')}` }
  url.username = url.password = ''
  return { url: url.href, host: url.host, headers: { ...auth } }
}

/** Limits of one call. */
type Bounds = { readonly timeoutMs: number; readonly maxBytes: number }

/**
 * Fetches a response completely. Rejects if it takes too long, is too large, or is a redirect: only the operator
 * chooses where requests go.
 */
export async function fetchBounded(
  input: string | URL | Request,
  init: RequestInit,
  { timeoutMs, maxBytes }: Bounds,
): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  const { status, statusText, headers } = response
  const body = await readUpTo(response, maxBytes)
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers })
}

async function readUpTo({ body }: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    // Leaving the loop closes the connection, so the rest is not sent.
    if (size > maxBytes) throw new RangeError(`a response of more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const UNSENT_CODES: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ConnectionRefused', 'ENOTFOUND', 'EAI_AGAIN'])

/** The code of an error, or of its cause; empty if neither has a code. */
function findErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : findErrorCode(error.cause)
}

/** Whether an error proves that the request did not reach a server. */
export const isUnsent = (error: unknown): boolean => UNSENT_CODES.has(findErrorCode(error))

/** Why an address cannot be reached, in our words; `undefined` if the error is not about the connection. */
export function describeConnectionError(error: unknown): string | undefined {
  const code = findErrorCode(error)
  if (UNSENT_CODES.has(code)) return 'cannot be reached'
  if (code === 'ECONNRESET') return 'closes connections before it has responded'
  if (/CERT|_SIGNATURE$|ISSUER/.test(code)) return `presents an untrusted certificate (${code})`
  return code === 'EPROTO' ? 'does not speak TLS' : undefined
}
