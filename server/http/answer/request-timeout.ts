/** Answers buyers before Bun closes their connection, also while the purchase is still under way. */

import { REPEAT } from '../../domain/advice.ts'
import { failure } from '../../domain/failure.ts'
import type { Outcome } from '../../domain/purchase/purchase.ts'
import { RETRY_AFTER_SECONDS } from '../../domain/purchase/refusals.ts'
import type { Seller } from '../../purchase/seller.ts'

// Bun closes an idle connection after 255 s. A settlement takes 200 s at most, but requests with the same payment and
// different listings wait for each other.
const TIMEOUT_MS = 240_000

/**
 * Makes a seller that answers within `timeoutMs`. After that time the purchase goes on, and counts its client as
 * disconnected.
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
