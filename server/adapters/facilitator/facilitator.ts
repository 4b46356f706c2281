/** Calls an x402 facilitator over HTTP, and classifies its responses by what they prove. */

import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { PaymentPayload } from '@x402/core/types'
import { getMember } from '../../../shared/json.ts'
import {
  isSignatureReason,
  type SettleResult,
  createUnclearResult,
  type VerifyResult,
} from '../../domain/purchase/facilitator-errors.ts'
import type { Hash, Payment, Target } from '../../domain/purchase/payment.ts'
import type { FacilitatorProbe, Manner, RingMember } from '../../ports.ts'
import { TIMES } from '../../times.ts'
import { buildDemand, toRequirements, type Offer } from '../../x402/terms.ts'
import {
  createCallLimit,
  describeConnectionError,
  fetchBounded,
  type HttpAddress,
  isUnsent,
  parseHttpAddress,
} from '../bounded-calls.ts'
import { createProbePayment } from './probe-payment.ts'

/** How to reach a facilitator. Verify and settle have their own time limits, in milliseconds. */
export type FacilitatorSettings = {
  readonly url: string
  readonly verifyTimeoutMs: number
  readonly settleTimeoutMs: number
  readonly probeTimeoutMs?: number // for each call of a probe
  readonly authorize: Authorize | undefined // undefined if the facilitator needs no authentication
  /** Called with a reported status of an extension, for example of the catalogue. */
  readonly onExtension?: (said: ExtensionSaid) => void
  /** Called after each probe with the problem, in our words; `null` if there is none. */
  readonly onProbed?: (trouble: string | null) => void
}

/** The headers that authenticate a call to `address`. */
export type Authorize = (method: 'GET' | 'POST', address: string) => Promise<Readonly<Record<string, string>>>

// Verify and settle have separate limits: a flood of verifications must not delay settlements of held blocks.
const LIMITS = { atOnce: 64, waitingMax: 256 }

// Real responses are much smaller.
const ANSWER_MAX_BYTES = 65_536

/**
 * Makes the facilitator port. Verify and settle each have a queue: at most 64 calls run concurrently and 256 wait; a
 * further call returns `busy` at once. Probes do not queue.
 */
export function createHttpFacilitator(settings: FacilitatorSettings, offer: Offer): RingMember {
  const [verifying, settling] = [createCallLimit(LIMITS), createCallLimit(LIMITS)]
  const { verifyTimeoutMs, settleTimeoutMs } = settings
  const connection: Connection = { ...settings, ...parseHttpAddress(settings.url) }
  return {
    host: connection.host,
    verify: (target, payment, manner = { withinMs: verifyTimeoutMs, isBare: false }) =>
      convertBusy(verifying.inTurn(() => verify(connection, offer, target, payment, manner))),
    settle: (target, payment, manner = { withinMs: settleTimeoutMs, isBare: false }) =>
      convertBusy(settling.inTurn(() => settle(connection, offer, target, payment, manner))),
    checkSupport: (probe = 'supported') => checkSupport(connection, offer, probe),
  }
}

type Connection = HttpAddress & Omit<FacilitatorSettings, 'url'>

async function convertBusy<T extends object>(answering: Promise<T | 'busy'>): Promise<T | { readonly kind: 'busy' }> {
  const answer = await answering
  return answer === 'busy' ? { kind: 'busy' } : answer
}

// The fields of each response that this service uses; x402 has more.
const Reason = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Verified = Type.Object({ isValid: Type.Boolean(), invalidReason: Reason })
const Settled = Type.Object({
  success: Type.Boolean(),
  errorReason: Reason,
  transaction: Type.String(),
  network: Type.String(),
})
const Kind = Type.Object({ x402Version: Type.Number(), scheme: Type.String(), network: Type.String() })
const Supported = Type.Object({ kinds: Type.Array(Kind) })

async function checkSupport(
  connection: Connection,
  offer: Offer,
  probe: FacilitatorProbe,
): Promise<'yes' | 'no' | 'unavailable'> {
  const { verifyTimeoutMs, probeTimeoutMs = TIMES.probeTimeoutMs, onProbed = () => {} } = connection
  const timeoutMs = Math.min(verifyTimeoutMs, probeTimeoutMs)
  try {
    const { kinds } = requireBody(Supported, await callFacilitator(connection, 'supported', timeoutMs), 'supported')
    const { network } = offer.terms
    const isOurs = kinds.some((kind) => kind.x402Version === 2 && kind.scheme === 'exact' && kind.network === network)
    if (isOurs && probe === 'verify') await verifyProbePayment(connection, offer, timeoutMs)
    onProbed(isOurs ? null : `does not support ${network}`)
    return isOurs ? 'yes' : 'no'
  } catch (error) {
    onProbed(describeProbeError(error))
    return 'unavailable'
  }
}

/**
 * Verifies a payment that nobody can make. Any verdict shows that the facilitator works, unless it rejects the
 * signature, which is valid. Even an error about the request shows this: it may be about the amount, which is smaller
 * in real payments. Throws if the facilitator does not work. The payment is sent without resource and extensions,
 * because a catalogue may list verified payments.
 */
async function verifyProbePayment(connection: Connection, offer: Offer, timeoutMs: number): Promise<void> {
  const wire = buildRequestBody(offer, 'next', await createProbePayment(offer), true)
  const answer = await callFacilitator(connection, 'verify', timeoutMs, wire).catch((error: unknown) => {
    throw isTimeout(error) ? new NotUsable('does not respond to verify requests') : error
  })
  if (NOT_UNDERSTOOD.has(answer.status)) return
  const refused = ourTrouble.has(answer.status) ? undefined : findRefusal(answer, 'isValid')
  const { invalidReason } = refused ?? requireBody(Verified, answer, 'verify')
  if (isSignatureReason(sanitiseReason(invalidReason))) throw new NotUsable('rejects valid signatures')
}

/** A facilitator returned something unexpected. The message describes it in our words. */
class NotUsable extends Error {
  override name = 'NotUsable'
}

const HINTS: Readonly<Record<number, string>> = {
  401: 'rejects our API key, or needs one (401)',
  403: 'denies us access (403)',
  429: 'is rate-limiting us (429)',
}

/**
 * The body of a successful response. Throws `NotUsable` for any other response, and for a body that does not match the
 * schema.
 */
function requireBody<Schema extends TSchema>(
  schema: Schema,
  { status, value }: HttpAnswer,
  path: Path,
): Static<Schema> {
  if (isSuccess(status) && Value.Check(schema, value)) return value
  if (isSuccess(status)) throw new NotUsable(`does not return a valid x402 response for /${path}`)
  if (status === 404) throw new NotUsable(`has no /${path} at its address (404)`)
  throw new NotUsable(HINTS[status] ?? `returns status ${status} for /${path}`)
}

const isTimeout = (error: unknown) => error instanceof DOMException && error.name === 'TimeoutError'

function describeProbeError(error: unknown): string {
  if (error instanceof NotUsable) return error.message
  if (error instanceof SyntaxError) return 'does not return JSON'
  return describeConnectionError(error) ?? 'does not respond'
}

async function verify(
  connection: Connection,
  offer: Offer,
  target: Target,
  payment: Payment,
  { withinMs, isBare }: Manner,
): Promise<VerifyResult> {
  try {
    const answer = await callFacilitator(
      connection,
      'verify',
      withinMs,
      buildRequestBody(offer, target, payment, isBare),
    )
    const refused = findRefusal(answer, 'isValid')
    if (refused === undefined && NOT_UNDERSTOOD.has(answer.status)) return { kind: 'unavailable', unreadable: true }
    if (refused !== undefined && !ourTrouble.has(answer.status))
      return { kind: 'invalid', reason: sanitiseReason(refused['invalidReason']) }
    const { isValid, invalidReason } = requireBody(Verified, answer, 'verify')
    return isValid ? { kind: 'valid' } : { kind: 'invalid', reason: sanitiseReason(invalidReason) }
  } catch {
    return { kind: 'unavailable' }
  }
}

async function settle(
  connection: Connection,
  offer: Offer,
  target: Target,
  payment: Payment,
  { withinMs, isBare }: Manner,
): Promise<SettleResult> {
  try {
    const answer = await callFacilitator(
      connection,
      'settle',
      withinMs,
      buildRequestBody(offer, target, payment, isBare),
    )
    const refused = findRefusal(answer, 'success')
    if (refused === undefined && NOT_UNDERSTOOD.has(answer.status)) return { kind: 'unclear', unreadable: true }
    if (refused !== undefined) return createRefusal(refused['errorReason'], refused['transaction'])
    if (!isSuccess(answer.status)) return createUnclearResult(parseHash(getMember(answer.value, 'transaction')))
    const { success, transaction, network, errorReason } = requireBody(Settled, answer, 'settle')
    if (!success) return createRefusal(errorReason, transaction)
    const tx = parseHash(transaction)
    return tx !== undefined && network === payment.accepted.network ? { kind: 'success', tx } : { kind: 'unclear' }
  } catch (error) {
    return isUnsent(error) ? { kind: 'unsent' } : { kind: 'unclear' }
  }
}

type Path = 'verify' | 'settle' | 'supported'

type HttpAnswer = { readonly status: number; readonly value: unknown }

/**
 * Calls once. The SDK's client would follow redirects, read responses of any size, and print untrusted text. Rejects if
 * there is no response, or if a success is not JSON.
 */
async function callFacilitator(
  { url, headers: credentials, authorize, onExtension }: Connection,
  path: Path,
  timeoutMs: number,
  body?: object,
): Promise<HttpAnswer> {
  const method = body === undefined ? 'GET' : 'POST'
  // A server may close an idle connection just as a request arrives. `fetch` repeats a GET then, but not a POST, whose
  // payment would be refused or in doubt. Therefore each POST uses a new connection (RFC 9112, section 9.3.1).
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body), keepalive: false }
  const address = buildUrl(url, path)
  const headers = { 'Content-Type': 'application/json', ...credentials, ...(await authorize?.(method, address)) }
  const response = await fetchBounded(address, { ...init, headers }, { timeoutMs, maxBytes: ANSWER_MAX_BYTES })
  if (onExtension !== undefined) for (const said of parseExtensions(response)) onExtension(said)
  const { status } = response
  // The status of an error is enough, and its body need not be JSON.
  return { status, value: isSuccess(status) ? await response.json() : await response.json().catch(() => undefined) }
}

function buildUrl(base: string, path: Path): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url.href
}

/** A facilitator's report about an extension. Only texts that look like codes are kept. */
export type ExtensionSaid = { readonly extension: string; readonly status: string; readonly reason?: string }

// More extensions than any facilitator reports.
const EXTENSIONS_TOLD_MAX = 8

/** Reads EXTENSION-RESPONSES: base64 of an object by extension. An unreadable header counts as empty. */
function parseExtensions({ headers }: Response): readonly ExtensionSaid[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(headers.get('extension-responses') ?? '', 'base64').toString())
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value)
      .slice(0, EXTENSIONS_TOLD_MAX)
      .flatMap(([extension, said]) => {
        const { status, rejectedReason: reason } = { status: '', rejectedReason: '', ...said }
        if (!isCode(extension) || !isCode(status)) return []
        return [{ extension, status, ...(isCode(reason) ? { reason } : {}) }]
      })
  } catch {
    return []
  }
}

const isSuccess = (status: number) => status >= 200 && status < 300

const SERVER_ERROR = 500

/** The rejection that a response with an error status contains; x402 allows this. */
function findRefusal({ status, value }: HttpAnswer, field: 'isValid' | 'success'): Record<string, unknown> | undefined {
  if (isSuccess(status) || status >= SERVER_ERROR) return undefined
  return typeof value === 'object' && value !== null && field in value ? { ...value } : undefined
}

// A response with one of these statuses, but without a rejection, is about the request, not about the payment.
const NOT_UNDERSTOOD: ReadonlySet<number> = new Set([400, 422])

/** A facilitator that names a transaction has sent it, whatever else the response contains. */
const createRefusal = (reason: unknown, transaction: unknown): SettleResult =>
  transaction === '' || transaction === undefined || transaction === null
    ? { kind: 'refused', reason: sanitiseReason(reason) }
    : createUnclearResult(parseHash(transaction))

/**
 * The request to the facilitator: the payer's authorization with our own terms, resource and extensions, never the
 * client's copy of them. Some facilitators reject unknown or long fields, but accept the bare payment.
 */
function buildRequestBody(offer: Offer, target: Target, payment: Payment, isBare: boolean) {
  const { resource, extensions } = buildDemand(offer, target)
  const requirements = toRequirements(offer, {
    network: payment.accepted.network,
    asset: payment.accepted.asset,
    payTo: payment.to,
    amount: payment.amount,
  })
  const payload: PaymentPayload = {
    x402Version: 2,
    ...(isBare ? {} : { resource }),
    accepted: requirements,
    payload: {
      signature: payment.signature,
      authorization: {
        from: payment.payer,
        to: payment.to,
        value: payment.amount.toString(),
        validAfter: payment.validAfter.toString(),
        validBefore: payment.validBefore.toString(),
        nonce: payment.nonce,
      },
    },
    ...(isBare ? {} : { extensions: { ...payment.extensions, ...extensions } }),
  }
  return { x402Version: payload.x402Version, paymentPayload: payload, paymentRequirements: requirements }
}

// Rejected keys or a used-up quota prove nothing about the payer.
const ourTrouble = new Set([401, 403, 429])

const reasonPattern = /^[a-z0-9_]{1,80}$/

const isCode = (text: unknown): text is string => typeof text === 'string' && /^[a-z0-9_-]{1,80}$/.test(text)

/** Passes on a reason that looks like a code, but no other text, because other text may contain anything. */
const sanitiseReason = (reason: unknown) =>
  typeof reason === 'string' && reasonPattern.test(reason) ? reason : 'the facilitator rejected the payment'

function parseHash(text: unknown): Hash | undefined {
  const hash = typeof text === 'string' ? text.toLowerCase() : ''
  return /^0x[0-9a-f]{64}$/.test(hash) ? (hash as Hash) : undefined
}
