/**
 * What costs waits here for its turn: one request for each round of the event loop, so that whoever asks for little is
 * answered in between, however many ask for much. When too much waits, it is refused, which costs nothing.
 */

import type { Failure } from '../../domain/failure.ts'
import { overloaded } from '../../domain/purchase/refusals.ts'

/** Turns of requests. */
export type FairQueue = {
  /** Resolves when the turn has come; with a refusal when too many wait, or when that took too long. */
  turn(): Promise<Failure | undefined>
  /** The same for payments: before all others, and never refused. */
  paymentTurn(): Promise<void>
}

// At a millisecond each, half a second.
const WAITING_MAX = 512

// A client that waited longer may have left, and those behind it wait, too.
const WAIT_MAX_MS = 2000

type Waiting = { readonly since: number; readonly go: (refusal: Failure | undefined) => void }

/** Makes the queue; `elapsed` is in milliseconds. */
export function fairQueue(elapsed: () => number): FairQueue {
  const payments: (() => void)[] = []
  const others: Waiting[] = []
  let isTaken = false // by a request of this round
  const nextRound = () => {
    isTaken = false
    const payment = payments.shift()
    if (payment !== undefined) {
      begin()
      return payment()
    }
    for (let next = others.shift(); next !== undefined; next = others.shift()) {
      if (elapsed() - next.since > WAIT_MAX_MS) {
        next.go(overloaded())
        continue
      }
      begin()
      return next.go(undefined)
    }
  }
  const begin = () => {
    isTaken = true
    setImmediate(nextRound)
  }
  return {
    async turn() {
      if (others.length >= WAITING_MAX) return overloaded()
      if (!isTaken) {
        begin()
        return undefined
      }
      const { promise, resolve } = Promise.withResolvers<Failure | undefined>()
      others.push({ since: elapsed(), go: resolve })
      return await promise
    },
    async paymentTurn() {
      if (!isTaken) return begin()
      const { promise, resolve } = Promise.withResolvers<void>()
      payments.push(resolve)
      await promise
    },
  }
}
