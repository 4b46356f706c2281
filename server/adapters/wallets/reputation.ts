/** Reputation of client addresses: those that sent good signatures are checked first, so that a flood does not delay owners. */

import { lru } from '../../../shared/lru.ts'
import { tokenBuckets, type Budget } from '../../domain/token-bucket.ts'
import type { Clock } from '../../ports.ts'

export type Reputation = {
  /** Whether requests from an address are checked before those of suspects. */
  isTrusted(from: string): boolean
  /** Records whether a signature sent from there was good. */
  saw(from: string, isGood: boolean): void
}

// What an address may send that nothing is known of: somebody who does as Retry-After says sends less.
const ATTEMPTS: Budget = { burst: 3, perSecond: 0.5 }

const SUSPECTED_MS = 600_000

// Addresses that are remembered of each kind, some hundred bytes each.
const REMEMBERED_MAX = 4096

/** Starts with no address known. */
export function reputation({ elapsed }: Pick<Clock, 'elapsed'>): Reputation {
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
