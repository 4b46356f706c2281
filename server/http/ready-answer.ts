/** Answers that are the same for everyone: made once, plain and compressed, and cloned for each request. */

import { holdsAlready, prefersGzip } from './negotiate.ts'
import { respond, respondEmpty, type HeaderFields } from './respond.ts'

/** Answers a read with status 200, or 304 when the client holds this very state. */
export type ReadyAnswer = (request: Request) => Response

/** What is served, and how long it may be kept. */
export type Ready = {
  readonly type: string
  readonly bytes: () => Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly cacheControl: string
}

const compressible = /^(?:text\/|application\/json|application\/javascript|image\/svg)/

/** Makes the answer; each form of it is built when first asked for. */
export function readyAnswer({ type, bytes, etag, cacheControl }: Ready): ReadyAnswer {
  const headers: HeaderFields = { ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' }
  const body = once(bytes)
  const plain = once(() => respond(200, type, body(), headers))
  const gzipped = once(() => respond(200, type, Bun.gzipSync(body()), { ...headers, 'Content-Encoding': 'gzip' }))

  return (request) => {
    if (holdsAlready(request.headers.get('if-none-match'), etag)) return respondEmpty(304, headers)
    const small = compressible.test(type) && prefersGzip(request.headers.get('accept-encoding'))
    return copyOf(small ? gzipped() : plain())
  }
}

/** A weak tag of a body's content. */
export const etagOf = (body: string | Uint8Array): string => `W/"${Bun.hash(body).toString(36)}"`

/** A copy of an answer that is kept. Bun's types name it after another library's class. */
export const copyOf = (response: Response): Response => response.clone() as Response

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
