/**
 * Reads request bodies within limits of size and time, and parses JSON strictly, so that no two parsers read it
 * differently.
 */

import { parseStrictJson, UnsafeJson } from '../../../shared/json.ts'
import { createFailure, isFailure, type Failure } from '../../domain/failure.ts'
import { createPicturesBusyFailure } from '../../domain/purchase/refusals.ts'

/** The size limit of a signed change, and of any body without another limit. */
export const BODY_MAX_BYTES = 4096

// Bun never ends a request whose body stops arriving, so each body must be complete before a deadline.
const DEADLINE_MS = 5000

// A connection needs a moment to reach its full speed.
const PACE_FROM_SECONDS = 3

// JSON without a charset is UTF-8. Some honest clients send no media type.
const mediaTypePattern = /^application\/json\s*(?:;\s*charset\s*=\s*(?:"utf-8"|utf-8)\s*)?;?$/i

/**
 * The JSON of a body, or why the body was refused. `unsafe` marks JSON that parsers may read differently, and `cut`
 * marks a body that did not arrive completely. `size` is the size in bytes of a body that was rejected as JSON. After a
 * failure, part of the body may be unread, so the connection must be closed.
 */
export type ReadBody =
  | { readonly kind: 'read'; readonly value: unknown; readonly bytes: Uint8Array<ArrayBuffer> }
  | (Failure & { readonly unsafe?: true; readonly cut?: true; readonly size?: number })

/** Limits of size and time for a body. */
export type BodyLimits = {
  readonly maxBytes?: number
  readonly deadlineMs?: number
  readonly bytesPerSecondMin?: number // from the third second on
  readonly large?: LargeBodies
}

/** Slots for large bodies: a body over `fromBytes` takes one, and is refused if none is free. */
export type LargeBodies = { readonly fromBytes: number; readonly tryTakeSlot: () => boolean }

type Unread = Failure & { readonly cut?: true }

/** Reads a whole body as JSON; `whenEmpty`, if given, is the value of an empty body. */
export async function readJson(request: Request, limits: BodyLimits = {}, whenEmpty?: object): Promise<ReadBody> {
  const bytes = await readBody(request, limits)
  if (isFailure(bytes)) return bytes
  if (bytes.length === 0 && whenEmpty !== undefined) return { kind: 'read', value: whenEmpty, bytes }
  if (!isJsonType(request.headers.get('content-type')))
    return createBodyFailure('Content-Type must be application/json in UTF-8')
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { kind: 'read', value: parseStrictJson(text), bytes }
  } catch (error) {
    const refusal = {
      ...createBodyFailure('it must be JSON in UTF-8, without deep nesting or duplicate keys'),
      size: bytes.length,
    }
    return error instanceof UnsafeJson ? { ...refusal, unsafe: true } : refusal
  }
}

/** Reads a whole body of any type. */
export async function readBody(request: Request, limits: BodyLimits = {}): Promise<Uint8Array<ArrayBuffer> | Unread> {
  const { maxBytes = BODY_MAX_BYTES } = limits
  if (isCompressed(request.headers.get('content-encoding')))
    return createBodyFailure('send it uncompressed, without Content-Encoding')
  if (Number(request.headers.get('content-length')) > maxBytes) {
    await discardBody(request)
    return createSizeFailure(maxBytes)
  }
  const chunks: Uint8Array[] = []
  return (await readChunks(request, limits, (chunk) => void chunks.push(chunk))) ?? Buffer.concat(chunks)
}

// The largest body that proxies are configured to pass, and the time allowed for discarding one.
const PASSED_OVER = { maxBytes: 4 * 1024 * 1024, deadlineMs: 1000 }

/**
 * Discards a body that is too large. Otherwise, a proxy that is still sending when the response arrives would report a
 * failed server.
 */
const discardBody = async (request: Request) => void (await readChunks(request, PASSED_OVER, () => {}))

// A small compressed body may expand to a huge one. No client needs compression here.
const isCompressed = (contentEncoding: string | null) =>
  contentEncoding !== null && !/^(?:identity)?$/i.test(contentEncoding)

const isJsonType = (contentType: string | null) => contentType === null || mediaTypePattern.test(contentType)

/** Reads a body in chunks; returns the reason if it cannot be read completely. */
async function readChunks(
  request: Request,
  { maxBytes = BODY_MAX_BYTES, deadlineMs = DEADLINE_MS, bytesPerSecondMin = 0, large }: BodyLimits,
  take: (chunk: Uint8Array) => void,
): Promise<Unread | undefined> {
  if (request.body === null) return undefined
  const reader: Reader = request.body.getReader()
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), deadlineMs)
  let [size, seconds] = [0, 0]
  const pace = setInterval(() => {
    seconds++
    if (seconds >= PACE_FROM_SECONDS && size < bytesPerSecondMin * seconds) late.resolve('late')
  }, 1000)
  try {
    for (;;) {
      const step = await Promise.race([reader.read(), late.promise])
      if (step === 'late') return { ...createBodyFailure('it took too long to arrive'), cut: true }
      if (step.done) return undefined
      const before = size
      size += step.value.byteLength
      if (size > maxBytes) return createSizeFailure(maxBytes)
      const isLarge = large !== undefined && before <= large.fromBytes && size > large.fromBytes
      if (isLarge && !large.tryTakeSlot()) return createPicturesBusyFailure()
      take(step.value)
    }
  } catch {
    return { ...createBodyFailure('the connection was interrupted'), cut: true }
  } finally {
    clearTimeout(timer)
    clearInterval(pace)
    reader.cancel().catch(() => {})
  }
}

type Reader = {
  read(): Promise<{ done: true; value?: unknown } | { done: false; value: Uint8Array }>
  cancel(): Promise<void>
}

/** The refusal of a body larger than `maxBytes`. */
export const createSizeFailure = (maxBytes: number): Failure =>
  createFailure('body_too_large', `The body is larger than ${maxBytes} bytes.`)

const createBodyFailure = (what: string): Failure => createFailure('invalid_body', `The body cannot be read: ${what}.`)
