/**
 * Makes all responses. Handlers return finished responses, not values for Elysia to serialise, so that a body is built
 * once and its headers are decided here. Each response allows every origin (CORS) and forbids browsers to guess media
 * types.
 */

import { SIGN_IN_HEADER } from '../../x402/sign-in.ts'
import { PAYMENT_RESPONSE_V1, PAYMENT_V1 } from '../../x402/v1.ts'
import { EVERY_RESPONSE } from './security-headers.ts'

/** Further headers of a response. */
export type HeaderFields = Readonly<Record<string, string>>

/**
 * For frequently requested reads: clients and proxies cache the response for 2 s, and may serve it for 10 s more while
 * they revalidate it.
 */
export const CACHED_BRIEFLY = 'public, max-age=2, stale-while-revalidate=10'

/** For reads that must be current: clients revalidate the response each time, and proxies cache it for 2 s. */
export const CACHED_BY_PROXIES = 'public, max-age=0, s-maxage=2'

/**
 * For a stream that a cache shares: clients that connect in its first 40 s get the stream that is already being sent.
 */
export const CACHED_FOR_A_STREAM = 'public, max-age=0, s-maxage=40'

/** For responses that must not be stored. */
export const NO_STORE: HeaderFields = { 'Cache-Control': 'no-store' }

/**
 * The header with the number of the newest change that a read of the whole wall shows. Clients continue in the log
 * after this number.
 */
export const LOG_NUMBER = 'Log-Number'

/** For responses that depend on the payment headers and on Accept. */
export const VARIES_BY_PAYMENT: HeaderFields = { Vary: `Accept, PAYMENT-SIGNATURE, ${PAYMENT_V1}` }

const everywhere: HeaderFields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': `PAYMENT-REQUIRED, PAYMENT-RESPONSE, ${PAYMENT_RESPONSE_V1}, ETag, Link, ${LOG_NUMBER}, Retry-After`,
  ...EVERY_RESPONSE,
}

/** Makes a response with a body of the given media type. */
export function respond(
  status: number,
  type: string,
  body: string | Uint8Array<ArrayBuffer> | Blob,
  headers: HeaderFields,
): Response {
  return new Response(body, { status, headers: { ...everywhere, 'Content-Type': type, ...headers } })
}

export function respondJson(status: number, value: unknown, headers: HeaderFields): Response {
  return respond(status, 'application/json', JSON.stringify(value), headers)
}

/** Makes a response without a body. */
export function respondEmpty(status: 202 | 204, headers: HeaderFields): Response {
  return new Response(null, { status, headers: { ...everywhere, ...headers } })
}

/** Makes a 304. Headers that describe a body are omitted, because the client has them. */
export function respondUnchanged(headers: HeaderFields): Response {
  return new Response(null, { status: 304, headers: { 'Access-Control-Allow-Origin': '*', ...headers } })
}

/**
 * Makes a response with server-sent events; `stream` is `null` for a HEAD request. The response's headers ask proxies
 * not to buffer it.
 */
export function respondEvents(stream: ReadableStream<Uint8Array> | null, cacheControl = 'no-store'): Response {
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': cacheControl, 'X-Accel-Buffering': 'no' }
  return new Response(stream, { headers: { ...everywhere, ...headers } })
}

/**
 * Responds to a CORS preflight. x402 clients send `Access-Control-Expose-Headers` as a request header along with a
 * payment.
 */
export function respondPreflight(): Response {
  return respondEmpty(204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, PUT, POST, OPTIONS',
    'Access-Control-Allow-Headers': `PAYMENT-SIGNATURE, ${PAYMENT_V1}, ${SIGN_IN_HEADER}, Content-Type, Access-Control-Expose-Headers`,
    'Access-Control-Max-Age': '86400',
  })
}
