/** Who asks: the address that budgets are counted by, and the refusal of those who have used theirs up. */

import { isIP } from 'node:net'
import { statusOf, type Failure } from '../../domain/failure.ts'
import type { BudgetName, RateLimits } from '../../wall/rate-limits.ts'
import { refuse } from '../answer/refuse.ts'
import type { HeaderFields } from '../answer/respond.ts'
import { readJson, type BodyLimits } from './body.ts'
import type { FairQueue } from './fair-queue.ts'
import { Refused } from './strict.ts'

/** How clients are told apart, what each may do, and where what costs waits for its turn. */
export type Clients = { readonly limits: RateLimits; readonly addressOf: AddressOf; readonly queue: FairQueue }

/** The address of whoever sent a request: of an IPv6 client its /64, which one household has all of. */
export type AddressOf = (request: Request) => string

/** Where addresses are known from. */
export type AddressSource = {
  readonly peerOf: (request: Request) => string | undefined // the other end of the connection; unknown without one
  readonly trustedHops: number | undefined // how many proxies' words to believe; undefined: one on this machine
}

const FORWARDED = 'x-forwarded-for'

/** Reads addresses. Each trusted proxy adds the one it was asked from, so the last of them are theirs. */
export function addressReader({ peerOf, trustedHops }: AddressSource): AddressOf {
  return (request) => {
    const peer = peerOf(request) ?? ''
    const hops = trustedHops ?? (isLoopback(peer) ? 1 : 0)
    if (hops === 0) return networkOf(peer)
    const forwarded = (request.headers.get(FORWARDED) ?? '').split(',').map((part) => bareAddress(part.trim()))
    const told = forwarded.at(-Math.min(hops, forwarded.length)) ?? ''
    return networkOf(isIP(told) === 0 ? peer : told)
  }
}

/** The refusal of a request that is beyond a budget of its client's; `undefined` while there is some left. */
export function refuseBeyond(
  { limits, addressOf }: Clients,
  name: BudgetName,
  request: Request,
  cost?: number,
): Response | undefined {
  const refusal = limits.take(name, addressOf(request), cost)
  return refusal && refuse(refusal, request.body === null ? {} : UNREAD)
}

// A connection on which a body was not read cannot go on.
export const UNREAD: HeaderFields = { Connection: 'close' }

/** Refuses what is beyond a budget of its client's, and has the rest wait for its turn: for requests without a body. */
export function inTurn({ limits, addressOf, queue }: Clients, name: BudgetName) {
  return async ({ request }: { readonly request: Request }): Promise<void> => {
    const refusal = limits.take(name, addressOf(request)) ?? (await queue.turn())
    if (refusal !== undefined) throw new Refused(refusal)
  }
}

/** What is seen to before a body is read. */
type Before = (request: Request) => Failure | undefined

/**
 * The `parse` hook of a route that takes JSON. The body is read first, and its request then waits for its turn: one that
 * is slow to come takes nobody else's.
 */
export function jsonBody({ queue }: Clients, before: Before, limits?: BodyLimits) {
  return async ({ request }: { readonly request: Request }): Promise<unknown> => {
    const spent = before(request)
    if (spent !== undefined) throw new Refused(spent, UNREAD)
    const read = await readJson(request, limits)
    if ('failure' in read) throw new Refused(read.failure, UNREAD)
    const busy = await queue.turn()
    if (busy !== undefined) throw new Refused(busy, UNREAD)
    return read.value
  }
}

/** The hooks of a signed change, closed to clients that sent too many which the wallet had not signed. */
export function signedBody(clients: Clients, bodyLimits?: BodyLimits) {
  const { limits, addressOf } = clients
  return {
    parse: jsonBody(clients, (request) => limits.check('signatures', addressOf(request)), bodyLimits),
    afterHandle: ({ request, responseValue }: { readonly request: Request; readonly responseValue: unknown }) => {
      if (responseValue instanceof Response && responseValue.status === statusOf.unauthorized)
        void limits.take('signatures', addressOf(request))
    },
  }
}

/** How many things are under way, of all clients and of each. */
export function slots() {
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
    of: (address: string) => taken.get(address) ?? 0,
    /** Takes one; the answer gives it back. */
    take(address: string) {
      add(address, 1)
      return () => add(address, -1)
    },
  }
}

const isLoopback = (address: string) => /^(?:127\.|::1$|::ffff:127\.)/.test(address)

/** An address without the port and brackets that some proxies write. */
function bareAddress(text: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? dotted ?? text
}

/** What one client has: an IPv4 address, or the first 64 bits of an IPv6 one. */
function networkOf(address: string): string {
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
