/** Who is likely to be an owner: told by what was sent from an address before, so that a flood does not keep owners waiting. */

import { lru } from '../../../shared/lru.ts'
import { tokenBuckets, type Budget } from '../../domain/token-bucket.ts'
import type { Clock } from '../../ports.ts'

export type Standing = {
  /** Whether what is sent from an address now is to be looked at before what suspects send. */
  isTrusted(from: string): boolean
  /** Takes note of whether a signature that was sent from there was its wallet's. */
  saw(from: string, isGood: boolean): void
}

// What an address may send that nothing is known of: somebody who does as Retry-After says sends less.
const ATTEMPTS: Budget = { burst: 3, perSecond: 0.5 }

const SUSPECTED_MS = 600_000

// Addresses that are remembered of each kind, some hundred bytes each.
const REMEMBERED_MAX = 4096

/** Nothing is known of anybody. */
export function standing({ elapsed }: Pick<Clock, 'elapsed'>): Standing {
  const attempts = tokenBuckets(ATTEMPTS, REMEMBERED_MAX)
  const good = lru<string, true>(REMEMBERED_MAX)
  const badAt = lru<string, number>(REMEMBERED_MAX)
  return {
    isTrusted(from) {
      const at = badAt.get(from)
      if (at !== undefined && elapsed() - at < SUSPECTED_MS) return false
      return good.get(from) === true || attempts.take(from, elapsed()) === 0
    },
    saw(from, isGood) {
      if (isGood) {
        good.set(from, true)
        badAt.delete(from)
      } else {
        badAt.set(from, elapsed())
        good.delete(from)
      }
    },
  }
}
