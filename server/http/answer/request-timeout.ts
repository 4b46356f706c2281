/** Answers buyers before their connection is given up, whatever their purchase still waits for. */

import { REPEAT } from '../../domain/advice.ts'
import { failure } from '../../domain/failure.ts'
import type { Outcome } from '../../domain/purchase/purchase.ts'
import { RETRY_AFTER_SECONDS } from '../../domain/purchase/refusals.ts'
import type { Seller } from '../../purchase/seller.ts'

// Bun ends a connection without a word after 255 s. A settlement takes 200 s at most, but copies of one request that
// differ in their listing wait for each other.
const TIMEOUT_MS = 240_000

/**
 * A seller whose buyers wait no longer than `timeoutMs`. The purchase goes on, and remembers that its client was left
 * without an answer, as if it had hung up.
 */
export function inTime(seller: Seller, timeoutMs: number = TIMEOUT_MS): Seller {
  return {
    ...seller,
    async buy(target, payment, listing, client) {
      const { promise: late, resolve } = Promise.withResolvers<Outcome>()
      const over = new AbortController()
      const timer = setTimeout(() => {
        over.abort()
        resolve({ kind: 'refused', failure: notYet() })
      }, timeoutMs)
      const waiting = client === undefined ? over.signal : AbortSignal.any([client, over.signal])
      try {
        return await Promise.race([seller.buy(target, payment, listing, waiting), late])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

const notYet = () =>
  failure('settlement_unknown', `This takes longer than a connection lasts. ${REPEAT}`, {
    retryAfter: RETRY_AFTER_SECONDS,
  })
