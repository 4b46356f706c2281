/**
 * A queue for costly requests. It admits one request per turn of the event loop, so that cheap requests are answered in
 * between. When too many requests wait, further ones are refused, which is cheap.
 */

import type { Failure } from '../../domain/failure.ts'
import { overloaded } from '../../domain/purchase/refusals.ts'

export type FairQueue = {
  /** Resolves when the request may go on; with a refusal when too many wait, or when it waited too long. */
  turn(): Promise<Failure | undefined>
  /** The same for payments, which go first and are never refused. */
  paymentTurn(): Promise<void>
}

// At one millisecond each, this is half a second.
const WAITING_MAX = 512

// A client that waited longer may have left, while others wait behind it.
const WAIT_MAX_MS = 2000

type Waiting = { readonly since: number; readonly go: (refusal: Failure | undefined) => void }

/** Makes the queue; `elapsed` is in milliseconds. */
export function fairQueue(elapsed: () => number): FairQueue {
  const payments: (() => void)[] = []
  const others: Waiting[] = []
  let isTaken = false // by a request of this turn
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
