/** Caches responses that are made from the view, until the view changes. */

import type { WallView } from '../../domain/wall/wall-view.ts'
import { holdsAlready } from '../request/negotiate.ts'
import { queryOf } from '../request/request-url.ts'
import { copyOf, etagOf, type CachedResponse } from './cached-response.ts'
import { KEPT_BY_PROXIES, respond, respondUnchanged } from './respond.ts'

// Followers request the same few pages. Other pages are made for each request.
const ANSWERS_MAX = 64
const KEY_MAX = 40

/** Caches what `make` returns until the view changes, for each key of a request (by default its query). */
export function viewCached(
  view: WallView,
  make: CachedResponse,
  keyOf: (request: Request) => string = ({ url }) => queryOf(url),
): CachedResponse {
  const ready = new Map<string, Response>()
  let asOf: number | undefined
  return (request) => {
    if (asOf !== view.number) ready.clear()
    asOf = view.number
    const key = keyOf(request)
    const known = ready.get(key)
    if (known !== undefined) return unlessHeld(request, known) ?? copyOf(known)
    const made = make(request)
    if (made.status !== 200) return made
    const isKept = key.length <= KEY_MAX && ready.size < ANSWERS_MAX
    if (isKept) ready.set(key, made)
    return unlessHeld(request, made) ?? (isKept ? copyOf(made) : made)
  }
}

// A string would be encoded again for each clone that is sent.
const encoder = new TextEncoder()

/** Makes a JSON response with an ETag. */
export function respondTagged(text: string): Response {
  const bytes = encoder.encode(text)
  return respond(200, 'application/json', bytes, { ETag: etagOf(bytes), 'Cache-Control': KEPT_BY_PROXIES })
}

/** Makes a 304 when the client has this version; else `undefined`. */
function unlessHeld({ headers }: Request, answer: Response): Response | undefined {
  const ifNoneMatch = headers.get('if-none-match')
  const etag = answer.headers.get('etag')
  if (ifNoneMatch === null || etag === null || !holdsAlready(ifNoneMatch, etag)) return undefined
  return respondUnchanged({ ETag: etag, 'Cache-Control': answer.headers.get('cache-control') ?? 'no-cache' })
}
