/** Answers that are the same for everyone: made once, plain and compressed, and cloned for each request. */

import { holdsAlready, prefersGzip } from '../request/negotiate.ts'
import { respond, respondUnchanged, type HeaderFields } from './respond.ts'

/** Answers a read with status 200, or 304 when the client holds this very state. */
export type CachedResponse = (request: Request) => Response

/** What is served, and how long it may be kept. */
export type Ready = {
  readonly type: string
  readonly bytes: () => Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly cacheControl: string
}

const compressible = /^(?:text\/|application\/json|application\/javascript|image\/svg)/

/** Makes the answer; each form of it is built when first asked for. */
export function cachedResponse({ type, bytes, etag, cacheControl }: Ready): CachedResponse {
  const headers: HeaderFields = { ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' }
  const body = once(bytes)
  const plain = once(() => respond(200, type, body(), headers))
  const gzipped = once(() => respond(200, type, Bun.gzipSync(body()), { ...headers, 'Content-Encoding': 'gzip' }))

  const unchanged = once(() => respondUnchanged(headers))

  return (request) => {
    if (holdsAlready(request.headers.get('if-none-match'), etag)) return copyOf(unchanged())
    const small = compressible.test(type) && prefersGzip(request.headers.get('accept-encoding'))
    return copyOf(small ? gzipped() : plain())
  }
}

/**
 * A route's handler for an answer that is ready. Elysia compiles a route from its handler's text, and takes one that returns
 * a call for asynchronous: each answer would cost a promise, a tenth of a 304. So this one names its answer first, in two
 * steps because Bun would put the call where the name is used.
 */
export const synchronous =
  (answer: CachedResponse) =>
  ({ request }: { readonly request: Request }): Response => {
    // oxlint-disable-next-line prefer-const
    let response: Response
    response = answer(request)
    return response
  }

/** A weak tag of a body's content. */
export const etagOf = (body: string | Uint8Array): string => `W/"${Bun.hash(body).toString(36)}"`

/** A copy of an answer that is kept. Bun's types name it after another library's class. */
export const copyOf = (response: Response): Response => response.clone() as Response

/**
 * An answer with a large body, to be copied until it is released. Left to the collector, bodies stay long after their time:
 * each new one is laid in memory that the system has to clear first, and all of them bring collections on. The collector
 * counts the bytes of an answer made of them, and none of its copies'.
 */
export function held(response: Response): Response {
  const copy = copyOf(response)
  release(response)
  return copy
}

/** Gives back the memory of an answer that was kept, if there is one; copies under way keep theirs. */
export function release(response: Response | undefined): void {
  void response?.body?.cancel()
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
