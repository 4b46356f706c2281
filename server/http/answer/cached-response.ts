/** Responses that are the same for every client: built once, plain and compressed, and cloned for each request. */

import type { WallView } from '../../domain/wall/wall-view.ts'
import { chooseEncoding, matchesEtag, type Encoding } from '../request/negotiate.ts'
import { getQuery } from '../request/request-url.ts'
import { BROTLI_LEVEL_MAX, createBrotliBody } from './precompressed-body.ts'
import { type HeaderFields, CACHED_BY_PROXIES, respond, respondUnchanged } from './respond.ts'

/** Responds to a read with status 200, or with 304 if the client has the current version. */
export type CachedResponse = (request: Request) => Response

/** A body to serve, its media type, and its cache lifetime. */
type Ready = {
  readonly type: string
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly cacheControl: string
  readonly hasBrotli?: boolean // whether Brotli is also offered, for a body that never changes
}

const compressible = /^(?:text\/|application\/json|application\/javascript|image\/svg)/

// Bodies are bytes, because a string would be encoded again for each clone that is sent.
const encoder = new TextEncoder()

/**
 * Makes the handler. Each encoding is built when it is first requested. Until Brotli is ready, its clients get gzip.
 */
export function createCachedResponse({ type, body, cacheControl, hasBrotli = false }: Ready): CachedResponse {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const etag = computeEtag(bytes)
  const headers: HeaderFields = { ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' }
  const encode = (encoding: Encoding, content: Uint8Array<ArrayBuffer> | Blob) =>
    respond(200, type, content, { ...headers, 'Content-Encoding': encoding })
  const plain = createLazyValue(() => respond(200, type, bytes, headers))
  const gzipped = createLazyValue(() => encode('gzip', Bun.gzipSync(bytes)))
  const findBrotliBody = hasBrotli ? createBrotliBody([bytes], BROTLI_LEVEL_MAX) : undefined
  let brotli: Response | undefined
  const isBrotliReady = () => {
    const content = findBrotliBody?.()
    if (content !== undefined) brotli ??= encode('br', content)
    return brotli !== undefined
  }
  const offered = hasBrotli ? WITH_BROTLI : undefined
  const unchanged = createLazyValue(() => respondUnchanged(headers))

  return (request) => {
    if (matchesEtag(request.headers.get('if-none-match'), etag)) return cloneResponse(unchanged())
    const accepted = compressible.test(type) ? request.headers.get('accept-encoding') : null
    const encoding = chooseEncoding(accepted, offered, isBrotliReady)
    const encoded = encoding === 'br' ? brotli : encoding === 'gzip' ? gzipped() : undefined
    return cloneResponse(encoded ?? plain())
  }
}

const WITH_BROTLI: readonly Encoding[] = ['br', 'gzip']

/** Returns the same responses with additional headers. */
export function addHeaders(answer: CachedResponse, headers: HeaderFields): CachedResponse {
  return (request) => {
    const response = answer(request)
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    return response
  }
}

/**
 * The route handler of a cached response. Elysia inspects a handler's source and treats one that returns a call as
 * asynchronous; the extra promise costs a tenth of the time of a 304. A bound function has no source, so Elysia calls
 * it directly.
 */
export const respondSynchronously = (answer: CachedResponse) => respondWith.bind(undefined, answer)

const respondWith = (answer: CachedResponse, { request }: { readonly request: Request }): Response => answer(request)

/** The weak ETag of a body. */
export const computeEtag = (body: string | Uint8Array): string => `W/"${Bun.hash(body).toString(36)}"`

/** Clones a cached response. The cast is needed because Bun types `clone` with a class of another library. */
export const cloneResponse = (response: Response): Response => response.clone() as Response

/**
 * Keeps a response with a large body, to be cloned for each request until `releaseBody` is called. Garbage collection
 * would free such bodies late: the system would have to clear new memory for each body, and collections would run more
 * often. The collector counts the bytes of the original response, but not those of its clones, so only a clone is kept.
 */
export function retainBody(response: Response): Response {
  const copy = cloneResponse(response)
  releaseBody(response)
  return copy
}

/** Frees the memory of a kept response, if there is one. Clones that are being sent keep theirs. */
export function releaseBody(response: Response | undefined): void {
  void response?.body?.cancel()
}

function createLazyValue<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

// Clients that follow the wall request the same few pages. Other pages are made for each request.
const ANSWERS_MAX = 64
const KEY_MAX = 40

/** Caches what `make` returns until the view changes, separately for each request key (by default the query). */
export function cachePerView(
  view: WallView,
  make: CachedResponse,
  keyOf: (request: Request) => string = ({ url }) => getQuery(url),
): CachedResponse {
  const ready = new Map<string, Response>()
  let asOf: number | undefined
  return (request) => {
    if (asOf !== view.number) ready.clear()
    asOf = view.number
    const key = keyOf(request)
    const known = ready.get(key)
    if (known !== undefined) return respondIfUnchanged(request, known) ?? cloneResponse(known)
    const made = make(request)
    if (made.status !== 200) return made
    const isKept = key.length <= KEY_MAX && ready.size < ANSWERS_MAX
    if (isKept) ready.set(key, made)
    return respondIfUnchanged(request, made) ?? (isKept ? cloneResponse(made) : made)
  }
}

/** Makes a JSON response with an ETag. */
export function respondTagged(text: string): Response {
  const bytes = encoder.encode(text)
  return respond(200, 'application/json', bytes, { ETag: computeEtag(bytes), 'Cache-Control': CACHED_BY_PROXIES })
}

/** Makes a 304 if the client has this version; otherwise returns `undefined`. */
function respondIfUnchanged({ headers }: Request, answer: Response): Response | undefined {
  const ifNoneMatch = headers.get('if-none-match')
  const etag = answer.headers.get('etag')
  if (ifNoneMatch === null || etag === null || !matchesEtag(ifNoneMatch, etag)) return undefined
  return respondUnchanged({ ETag: etag, 'Cache-Control': answer.headers.get('cache-control') ?? 'no-cache' })
}
