/** Responses that are the same for every client: built once, plain and compressed, and cloned for each request. */

import { holdsAlready, prefersGzip } from '../request/negotiate.ts'
import { respond, respondUnchanged, type HeaderFields } from './respond.ts'

/** Answers a read with status 200, or with 304 when the client has the current version. */
export type CachedResponse = (request: Request) => Response

/** A body to serve, and its caching headers. */
export type Ready = {
  readonly type: string
  readonly bytes: () => Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly cacheControl: string
}

const compressible = /^(?:text\/|application\/json|application\/javascript|image\/svg)/

/** Makes the handler. Each encoding is built when it is first requested. */
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
 * The route handler of a cached response. Elysia compiles a route from the source text of its handler, and treats
 * `return f()` as asynchronous. The extra promise costs a tenth of a 304. So the response gets a name first. It is assigned
 * after its declaration, because Bun inlines a constant that is used once.
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

/** Clones a cached response. The cast is needed because Bun types `clone` with a class of another library. */
export const copyOf = (response: Response): Response => response.clone() as Response

/**
 * Makes a response with a large body that is cloned until `release`. Garbage collection would free such bodies late: the
 * system must then clear new memory for each body, and collections run more often. The collector counts the bytes of the
 * response that was made from them, but not those of its clones, so only a clone is kept.
 */
export function held(response: Response): Response {
  const copy = copyOf(response)
  release(response)
  return copy
}

/** Frees the memory of a kept response, if there is one. Clones that are being sent keep theirs. */
export function release(response: Response | undefined): void {
  void response?.body?.cancel()
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
