/** The one place that makes answers: any page may read and pay, and no browser guesses what it got. */

import { PAYMENT_RESPONSE_V1, PAYMENT_V1 } from '../../x402/v1.ts'

/** Further headers of one answer. */
export type HeaderFields = Readonly<Record<string, string>>

/** Kept by all for a moment, and by a proxy for another while it asks anew: what everybody asks for again and again. */
export const KEPT_BRIEFLY = 'public, max-age=2, stale-while-revalidate=10'

/** Asked about each time, and answered by a proxy for a moment: what a reader would rather wait for than see late. */
export const KEPT_BY_PROXIES = 'public, max-age=0, s-maxage=2'

/** For what must be asked for anew each time. */
export const NO_STORE: HeaderFields = { 'Cache-Control': 'no-store' }

/** For what another payment, or none, would get another answer to. */
export const VARIES_BY_PAYMENT: HeaderFields = { Vary: `Accept, PAYMENT-SIGNATURE, ${PAYMENT_V1}` }

const everywhere: HeaderFields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': `PAYMENT-REQUIRED, PAYMENT-RESPONSE, ${PAYMENT_RESPONSE_V1}, ETag, Link, Retry-After`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** An answer with a body of a media type. */
export function respond(
  status: number,
  type: string,
  body: string | Uint8Array<ArrayBuffer> | Blob,
  headers: HeaderFields,
): Response {
  return new Response(body, { status, headers: { ...everywhere, 'Content-Type': type, ...headers } })
}

/** An answer in JSON. */
export function respondJson(status: number, value: unknown, headers: HeaderFields): Response {
  return respond(status, 'application/json', JSON.stringify(value), headers)
}

/** An answer without a body. */
export function respondEmpty(status: 202 | 204, headers: HeaderFields): Response {
  return new Response(null, { status, headers: { ...everywhere, ...headers } })
}

/** That a client's copy is still good. What is said of a body came with the copy. */
export function respondUnchanged(headers: HeaderFields): Response {
  return new Response(null, { status: 304, headers: { 'Access-Control-Allow-Origin': '*', ...headers } })
}

/** A stream of server-sent events; `null` for the head of one. Proxies are asked not to hold it back. */
export function respondEvents(stream: ReadableStream<Uint8Array> | null): Response {
  const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }
  return new Response(stream, { headers: { ...everywhere, ...headers } })
}

/** Tells a browser what a page of another origin may send. x402 clients send the last header name with a payment. */
export function respondPreflight(): Response {
  return respondEmpty(204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, PUT, POST, OPTIONS',
    'Access-Control-Allow-Headers': `PAYMENT-SIGNATURE, ${PAYMENT_V1}, Content-Type, Access-Control-Expose-Headers`,
    'Access-Control-Max-Age': '86400',
  })
}
