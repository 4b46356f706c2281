/**
 * How often an unfinished purchase is tried again. Each try asks the chain and may ask for a settlement, so a wallet whose
 * payments keep failing costs the operator money: its tries are bounded, and come at growing intervals.
 */

import { keyOf, type Address, type PaymentKey } from '../domain/purchase/payment.ts'
import { tokenBuckets, type Budget } from '../domain/token-bucket.ts'
import type { Clock } from '../ports.ts'

/**
 * How often one wallet's purchases may be tried again, beside each one's first try and its rare ones: 180 at once and 60 an
 * hour, so never more than 240 in an hour.
 */
export const RETRIES: Budget = { burst: 180, perSecond: 60 / 3600 }

// Most ends are known within half a minute: as often as is swept until then, then ever more rarely.
const PROMPT_MS = 30_000
const GAP_MAX_MS = 60_000

/** However often a wallet fails, each purchase is tried this often: what is held must be given back some time. */
export const RARE_MS = 300_000

/** A budget that several instances need not share: each sweeps by turns, and answers its own requests. */
export type AttemptBudget = {
  /**
   * Which of all unfinished purchases are to be tried now; to be told all, since those not among them are forgotten. A
   * purchase that is seen for the first time is always due.
   */
  due(unfinished: readonly PaymentKey[]): readonly PaymentKey[]
  /** Whether a run for a request may try one again now. If not, what was last known of it is the answer. */
  mayRetry(payer: Address): boolean
}

// Wallets remembered, a hundred bytes each.
const WALLETS_MAX = 4096

type Tries = { readonly firstMs: number; readonly lastMs: number }

/** A budget of which nothing is spent. */
export function attemptBudget({ elapsed }: Pick<Clock, 'elapsed'>): AttemptBudget {
  let tries: ReadonlyMap<string, Tries> = new Map()
  const retries = tokenBuckets(RETRIES, WALLETS_MAX)
  const mayRetry = (payer: Address) => retries.take(payer, elapsed()) === 0
  const isDue = (payer: Address, { firstMs, lastMs }: Tries) => {
    const gapMs = elapsed() - lastMs
    return gapMs >= RARE_MS || (gapMs >= gapAfter(lastMs - firstMs) && mayRetry(payer))
  }

  return {
    mayRetry,
    due(unfinished) {
      const now = new Map<string, Tries>()
      const due = unfinished.filter((key) => {
        const before = tries.get(keyOf(key))
        if (before !== undefined && !isDue(key.payer, before)) {
          now.set(keyOf(key), before)
          return false
        }
        now.set(keyOf(key), { firstMs: before?.firstMs ?? elapsed(), lastMs: elapsed() })
        return true
      })
      tries = now
      return due
    },
  }
}

/** Milliseconds to wait after a purchase was tried for so long. */
const gapAfter = (triedForMs: number) => (triedForMs < PROMPT_MS ? 0 : Math.min(GAP_MAX_MS, triedForMs / 3))
