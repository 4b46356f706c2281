/** Identifies clients by address, and refuses those that have used up a budget. */

import { isIP } from 'node:net'
import type { TObject } from '@sinclair/typebox'
import { statusOf, isFailure, type Failure } from '../../domain/failure.ts'
import type { BudgetName, RateLimits } from '../../wall/rate-limits.ts'
import { carriesPayment } from '../../x402/v1.ts'
import { CLOSE_CONNECTION, refuse } from '../answer/refuse.ts'
import type { AdmitPayment } from './admit-payment.ts'
import { type BodyLimits, readJson } from './body.ts'
import type { FairQueue } from './fair-queue.ts'
import { Refused } from './refused.ts'

/** Addresses and budgets of clients, the queue of expensive requests, and the admission of payments. */
export type Clients = {
  readonly limits: RateLimits
  readonly getClientAddress: AddressOf
  readonly queue: FairQueue
  readonly admitPayment: AdmitPayment
}

/** Reads the address of a client. For IPv6 it is the /64 network, because one customer usually has all of it. */
type AddressOf = (request: Request) => string

/** The inputs for finding a client's address. */
type AddressSource = {
  /** The address of the connection's peer; `undefined` without a connection. */
  readonly getPeer: (request: Request) => string | undefined
  readonly trustedHops: number | undefined // how many proxies are trusted; undefined: one on this machine
}

const FORWARDED = 'x-forwarded-for'

/**
 * Creates the reader of client addresses. Each trusted proxy appends its peer's address to X-Forwarded-For, so only the
 * last entries are trusted.
 */
export function createAddressReader({ getPeer, trustedHops }: AddressSource): AddressOf {
  return (request) => {
    const peer = getPeer(request) ?? ''
    const hops = trustedHops ?? (isLoopback(peer) ? 1 : 0)
    if (hops === 0) return toClientNetwork(peer)
    const forwarded = (request.headers.get(FORWARDED) ?? '').split(',').map((part) => stripAddress(part.trim()))
    const client = forwarded.at(-Math.min(hops, forwarded.length)) ?? ''
    return toClientNetwork(isIP(client) === 0 ? peer : client)
  }
}

/** Takes from a budget of the client; returns the refusal if nothing is left. */
export function refuseOverBudget(
  { limits, getClientAddress }: Clients,
  name: BudgetName,
  request: Request,
  cost?: number,
): Response | undefined {
  const refusal = limits.take(name, getClientAddress(request), cost)
  return refusal && refuse(refusal)
}

/** A hook for reads: takes from a budget of the client, then waits in the queue. */
export function createTurnHook({ limits, getClientAddress, queue }: Clients, name: BudgetName) {
  return async ({ request }: { readonly request: Request }): Promise<void> => {
    const refusal =
      limits.take(name, getClientAddress(request)) ?? (await queue.waitForReadTurn(getClientAddress(request)))
    if (refusal !== undefined) throw new Refused(refusal)
  }
}

/** A check before a body is read. */
type Before = (request: Request) => Failure | undefined

/**
 * The schema of a body that the `parse` hook of its route has read. Elysia's body reader would send error bodies of its
 * own, so Elysia uses only the type of this schema, and the API documents show its content.
 */
export const createBodySchema = <Body>(schema: TObject): BodySchema<Body> => ({
  '~standard': { version: 1, vendor: 'pixel-wall', validate: (body) => ({ value: body as Body }) },
  documents: schema,
})

/** A Standard Schema, and the schema that the API documents show. */
type BodySchema<Body> = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'pixel-wall'
    readonly types?: { readonly input: unknown; readonly output: Body }
    readonly validate: (body: unknown) => { readonly value: Body }
  }
  readonly documents: TObject
}

/** Limits of a body, and a check before it is read. */
export type BodyChecks = BodyLimits & { readonly before?: Before }

/** Reads the fields of a JSON body from its parsed value and its bytes. */
type BodyReader<Body> = ((value: unknown, bytes: Uint8Array<ArrayBuffer>) => Body | Failure) & {
  readonly schema: TObject
}

/**
 * The hooks of a route with a JSON body. The body is received before the request joins the queue, so that a slow sender
 * delays nobody else.
 */
export const createJsonBodyHooks = <Body>(
  { queue, getClientAddress }: Clients,
  read: BodyReader<Body>,
  { before, ...limits }: BodyChecks,
) => ({
  body: createBodySchema<Body>(read.schema),
  parse: async ({ request }: { readonly request: Request }): Promise<unknown> => {
    const spent = before?.(request)
    if (spent !== undefined) throw new Refused(spent, CLOSE_CONNECTION)
    const received = await readJson(request, limits)
    if (isFailure(received)) throw new Refused(received, CLOSE_CONNECTION)
    const busy = await queue.waitForTurn(getClientAddress(request))
    if (busy !== undefined) throw new Refused(busy, CLOSE_CONNECTION)
    const body = read(received.value, received.bytes)
    if (isFailure(body)) throw new Refused(body)
    return body
  },
})

/**
 * The hooks of a route for signed changes. They refuse clients that sent too many changes with an invalid signature or
 * body, and requests that `before` refuses.
 */
export function createSignedBodyHooks<Body>(
  clients: Clients,
  read: BodyReader<Body>,
  { before, ...rest }: BodyChecks = {},
) {
  const { limits, getClientAddress } = clients
  const charge = (request: Request) => void limits.take('signatures', getClientAddress(request))
  const { body, parse } = createJsonBodyHooks(clients, read, {
    ...rest,
    before: (request) => before?.(request) ?? limits.check('signatures', getClientAddress(request)),
  })
  return {
    body,
    parse: async ({ request }: { readonly request: Request }): Promise<unknown> => {
      try {
        return await parse({ request })
      } catch (error) {
        if (error instanceof Refused && isBodyFailure(error.refusal)) charge(request)
        throw error
      }
    },
    afterHandle: ({ request, responseValue }: { readonly request: Request; readonly responseValue: unknown }) => {
      if (responseValue instanceof Response && responseValue.status === statusOf.unauthorized) charge(request)
    },
  }
}

/** Whether a request was refused because of its body. */
const isBodyFailure = ({ code }: Failure) => statusOf[code] === statusOf.invalid_body || code === 'body_too_large'

/** Counts requests in progress, in total and per client. */
export function createSlots() {
  const taken = new Map<string, number>()
  let count = 0
  const add = (address: string, difference: 1 | -1) => {
    count += difference
    const left = (taken.get(address) ?? 0) + difference
    if (left === 0) taken.delete(address)
    else taken.set(address, left)
  }
  return {
    count: () => count,
    countTakenBy: (address: string) => taken.get(address) ?? 0,
    /** Takes a slot. The returned function releases it. */
    take(address: string) {
      add(address, 1)
      return () => add(address, -1)
    },
  }
}

const isLoopback = (address: string) => /^(?:127\.|::1$|::ffff:127\.)/.test(address)

/** Removes the port and brackets that some proxies add to an address. */
function stripAddress(text: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? dotted ?? text
}

/** The network of a client: an IPv4 address, or the first 64 bits of an IPv6 address. */
function toClientNetwork(address: string): string {
  if (!address.includes(':')) return address
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const parts = head === '' ? [] : head.split(':')
  const left = tail === undefined || tail === '' ? 0 : tail.split(':').length
  const gap = tail === undefined ? [] : Array.from({ length: 8 - parts.length - left }, () => '0')
  const groups = [...parts, ...gap, ...(tail === undefined || tail === '' ? [] : tail.split(':'))]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** The site (/48) of an IPv6 network; an IPv4 address is returned unchanged. */
export const toSite = (network: string): string => network.replace(/^((?:[^:]+:){3})[^:]+::\/64$/, '$1:/48')

export const UPLOAD_MAX_BYTES = 4 * 1024 * 1024

/** Limits of a large body. A sender slower than these limits allow would occupy memory for too long. */
const UPLOAD: BodyLimits = {
  maxBytes: UPLOAD_MAX_BYTES,
  deadlineMs: 30_000,
  bytesPerSecondMin: 16 * 1024,
}

// The maximum number of large bodies that are read at the same time, in total and per client. They need no worker until
// they are complete. Requests with a payment have the same number of slots of their own.
const UPLOADS_AT_ONCE = 64
const UPLOADS_OF_ONE = 32

// A smaller body needs no slot, so a client that opens a request and sends almost nothing takes no slot from others.
const LARGE_FROM_BYTES = 64 * 1024

/** Reads a body that may be large, and refuses it if it grows large while too many large bodies are being read. */
export type Uploads = <T>(request: Request, read: (limits: BodyLimits) => Promise<T>) => Promise<T>

/** Creates the limit on large bodies; all routes share one limit. */
export function createUploadLimit({ getClientAddress }: Pick<Clients, 'getClientAddress'>): Uploads {
  const [paid, free] = [createSlots(), createSlots()]
  return async (request, read) => {
    const address = getClientAddress(request)
    const reading = carriesPayment(request) ? paid : free
    let leave = () => {}
    const hasPlace = () => {
      if (reading.count() >= UPLOADS_AT_ONCE || reading.countTakenBy(address) >= UPLOADS_OF_ONE) return false
      leave = reading.take(address)
      return true
    }
    return await read({ ...UPLOAD, large: { fromBytes: LARGE_FROM_BYTES, tryTakeSlot: hasPlace } }).finally(() =>
      leave(),
    )
  }
}
