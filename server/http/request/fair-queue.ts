/**
 * A queue for expensive requests. It admits one request per turn of the event loop, so that cheap requests are served
 * in between. Clients take turns, so a client that sends many requests delays only its own requests.
 */

import type { Failure } from '../../domain/failure.ts'
import { createFairLine } from '../../domain/fair-line.ts'
import { createOverloadFailure } from '../../domain/purchase/refusals.ts'

/**
 * The classes of requests, each with a line of its own: payments that are new to the wall, reads of pages and pictures,
 * and all other requests.
 */
export const QUEUE_CLASSES = ['payments', 'requests', 'reads'] as const

export type QueueClass = (typeof QUEUE_CLASSES)[number]

export type FairQueue = {
  /**
   * Resolves when a request of the client may proceed; resolves with a refusal if too many requests wait or this one
   * waited too long.
   */
  waitForTurn(client: string): Promise<Failure | undefined>
  /**
   * Like `waitForTurn`, for a read: reads have their own line, so that many reads hardly delay clients that buy,
   * repaint or request a preview.
   */
  waitForReadTurn(client: string): Promise<Failure | undefined>
  /**
   * Like `waitForTurn`, for a payment that the ledger knows: it waits with ordinary requests, but is never refused.
   */
  waitForKnownPayment(client: string): Promise<void>
  /**
   * Like `waitForTurn`, for a new payment: new payments get every second turn. A new payment is refused only if too
   * many new payments from the same client are waiting.
   */
  waitForNewPayment(client: string): Promise<Failure | undefined>
}

// At one millisecond per request, this many requests take half a second.
const WAITING_MAX = 512

// A client that has waited longer may have left, while others wait behind it.
const WAIT_MAX_MS = 2000

// Each waiting payment takes about 5 kB. Refusing one costs more than letting it wait, because a flooding client
// immediately sends the next.
const NEW_PAYMENTS_OF_ONE = 4096

type Waiting = {
  readonly since: number
  readonly isRefusable: boolean
  resume(refusal: Failure | undefined): void
}

/**
 * Makes the queue; `elapsed` is in milliseconds. `waited` is called with the time that each request waited, whether it
 * was served or refused.
 */
export function createFairQueue(
  elapsed: () => number,
  waited: (of: QueueClass, ms: number) => void = () => {},
): FairQueue {
  const createLine = () => createFairLine<Waiting>(({ isRefusable }) => isRefusable)
  const lines = { payments: createLine(), requests: createLine(), reads: createLine() }
  let isTaken = false // whether a request has used the current turn
  const takeTurn = () => {
    isTaken = true
    setImmediate(giveNextTurn)
  }
  const serve = (of: QueueClass, { since, isRefusable, resume }: Waiting): boolean => {
    const waitedMs = elapsed() - since
    waited(of, waitedMs)
    const isLate = isRefusable && waitedMs > WAIT_MAX_MS
    if (!isLate) takeTurn()
    resume(isLate ? createOverloadFailure() : undefined)
    return !isLate
  }
  const serveFirst = (of: QueueClass): boolean => {
    for (let first = lines[of].shift(); first !== undefined; first = lines[of].shift())
      if (serve(of, first)) return true
    return false
  }
  const serveNext = createAlternator(
    () => serveFirst('payments'),
    createAlternator(
      () => serveFirst('requests'),
      () => serveFirst('reads'),
    ),
  )
  const giveNextTurn = () => {
    isTaken = false
    serveNext()
  }
  const waitInLine = async (of: QueueClass, client: string, isRefusable: boolean): Promise<Failure | undefined> => {
    if (!isTaken) {
      waited(of, 0)
      takeTurn()
      return undefined
    }
    const { promise, resolve: go } = Promise.withResolvers<Failure | undefined>()
    lines[of].push(client, { since: elapsed(), isRefusable, resume: go })
    const isOver = of !== 'payments' && lines[of].getLength() > WAITING_MAX
    const tooMany = isOver ? lines[of].dropOne(client) : undefined
    if (tooMany !== undefined) {
      waited(of, elapsed() - tooMany.since)
      tooMany.resume(createOverloadFailure())
    }
    return await promise
  }
  return {
    waitForTurn: async (client) => await waitInLine('requests', client, true),
    waitForReadTurn: async (client) => await waitInLine('reads', client, true),
    waitForKnownPayment: async (client) => void (await waitInLine('requests', client, false)),
    waitForNewPayment: async (client) =>
      lines.payments.countWaiting(client) < NEW_PAYMENTS_OF_ONE
        ? await waitInLine('payments', client, false)
        : createOverloadFailure(),
  }
}

/** Alternates between two sources; while one of them has nothing to serve, serves only the other. */
function createAlternator(one: () => boolean, other: () => boolean): () => boolean {
  let [first, second] = [one, other]
  return () => {
    if (!first()) return second()
    ;[first, second] = [second, first]
    return true
  }
}
