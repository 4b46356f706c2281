/** Sends generated requests to a wall, and checks every response against the rules for all responses. */

import fc from 'fast-check'
import { scaleLimit } from '../../support/machine.ts'
import { BASE_URL } from '../../support/service/wall.ts'
import { exchangeBytes } from '../hostile/wire.ts'
import type { FuzzWall } from './fuzz-wall.ts'
import { wild, wildBytes, type Wild } from './requests.ts'

// Far more time than a slow machine needs, and less than a person would wait.
const ANSWER_MAX_MS = scaleLimit(10_000)

/**
 * Sends `runs` requests, and returns how often each status occurred; throws an error with the smallest request that
 * gets a wrong response.
 */
export async function fuzzRequests(wall: FuzzWall, runs: number, seed: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const property = fc.asyncProperty(wild, async (request) => await checkRequest(wall, request, statuses))
  await fc.assert(property, { numRuns: runs, seed })
  return statuses
}

async function checkRequest(wall: FuzzWall, sent: Wild, statuses: Map<number, number>): Promise<void> {
  const request = createRequest(sent)
  if (request === undefined) return
  const before = await wall.readRowsVersion()
  const { response, body } = await fetchAnswer(wall, request)
  const { status } = response
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  if (status >= 500) throw new Error(`${status}: ${body}`)
  if (wall.logger.alerts.length > 0) throw new Error(`an alert: ${JSON.stringify(wall.logger.alerts.at(-1))}`)
  const isCall = new URL(request.url).pathname === '/mcp'
  if (status >= 400 && request.method !== 'HEAD' && !hasErrorFormat(response, body, isCall))
    throw new Error(`${status} in an unknown format: ${body.slice(0, 200)}`)
  if ((await wall.readRowsVersion()) !== before && !mayChange(request, status, body))
    throw new Error(`${status} changed a row: ${body}`)
}

/** Sends a request, and reads the whole response; throws if there is none in time. */
async function fetchAnswer(wall: FuzzWall, request: Request): Promise<{ response: Response; body: string }> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no response in time')), ANSWER_MAX_MS)
  try {
    const response = await Promise.race([wall.handle(request), late.promise])
    return { response, body: await Promise.race([readText(response), late.promise]) }
  } finally {
    clearTimeout(timer)
  }
}

/** The whole body; empty for an event stream, which never ends. */
async function readText(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return await response.text()
  await response.body?.cancel()
  return ''
}

/** A request as Bun accepts it; `undefined` for a request that only a socket could send. */
function createRequest({ method, target, headers, body }: Wild): Request | undefined {
  const hasNone = method === 'GET' || method === 'HEAD' || method === 'get' || body === undefined
  try {
    return new Request(BASE_URL + target, { method, headers, ...(hasNone ? {} : { body }) })
  } catch {
    return undefined
  }
}

// The statuses of errors that people see as a page.
const PAGES: ReadonlySet<number> = new Set([400, 402, 404, 410])

/** Whether an error has the Error format or JSON-RPC's own format, or is a page for people. */
function hasErrorFormat(response: Response, body: string, isCall: boolean): boolean {
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
  if (isPage && PAGES.has(response.status)) return true
  const refusal: unknown = JSON.parse(body)
  if (typeof refusal !== 'object' || refusal === null || !('error' in refusal)) return false
  const { error } = refusal
  if (isCall && typeof error === 'object' && error !== null) return 'code' in error && 'message' in error
  return typeof error === 'string' && 'message' in refusal && typeof refusal.message === 'string'
}

/** Whether a request may change a row: only a payment, a signed change or a successful tool call, with a 200. */
function mayChange({ method, headers, url }: Request, status: number, body: string): boolean {
  if (status !== 200) return false
  if (method === 'PUT') return true
  if (method === 'POST' && new URL(url).pathname !== '/mcp') return false
  if (method === 'POST') return !body.includes('"isError":true') && !body.startsWith('{"jsonrpc":"2.0","id":1,"error"')
  return method === 'GET' && headers.has('payment-signature')
}

// A corrupted length may make the server wait for bytes that never come, so the test gives up early. The limit is
// longer on a slow machine: if the test gave up on a valid request, the request's change would be attributed to the
// next requests.
const TIMEOUT_MS = scaleLimit(200)

const AT_ONCE = 20

/** Sends `count` requests over sockets, several at a time; returns how often each status occurred. */
export async function fuzzWire(
  wall: FuzzWall,
  host: string,
  count: number,
  seed: number,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>()
  const requests = fc.sample(wildBytes, { numRuns: count, seed })
  for (let at = 0; at < requests.length; at += AT_ONCE) {
    const before = await wall.readRowsVersion()
    const some = requests.slice(at, at + AT_ONCE)
    const answers = await Promise.all(some.map((bytes) => sendBytes(host, bytes)))
    for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if ((await wall.readRowsVersion()) !== before && !answers.includes(200))
      throw new Error(`${answers.join()} changed a row`)
  }
  return statuses
}

/** Bun rejects an unsupported version of HTTP with a 505, which is allowed. */
const WRONG_VERSION = 505

async function sendBytes(host: string, bytes: Uint8Array): Promise<number> {
  const { status, body } = await exchangeBytes(host, bytes, { timeoutMs: TIMEOUT_MS })
  if (status >= 500 && status !== WRONG_VERSION)
    throw new Error(`${status}: ${body} to ${JSON.stringify(Buffer.from(bytes).toString())}`)
  return status
}
