/**
 * How often an unfinished purchase is retried. Each try queries the chain and may request a settlement, so a wallet
 * whose payments keep failing costs the operator money. Its tries are therefore limited, and the intervals between them
 * grow.
 */

import { toPaymentKey, type Address, type PaymentKey } from '../domain/purchase/payment.ts'
import { createTokenBuckets, type Budget } from '../domain/token-bucket.ts'
import type { Clock } from '../ports.ts'

/**
 * How often one wallet's purchases may be retried: 180 times at once and 60 times per hour, so never more than 240
 * times in an hour. The first try of each purchase, and a try that comes `RARE_MS` after the one before, do not count.
 */
export const RETRIES: Budget = { burst: 180, perSecond: 60 / 3600 }

// Most purchases end within half a minute. Until then, every sweep tries them; after that, fewer and fewer sweeps do.
const PROMPT_MS = 30_000
const GAP_MAX_MS = 60_000

/**
 * Each purchase is tried at least this often, even if its wallet has used up its budget: a held block must be released
 * in the end.
 */
export const RARE_MS = 300_000

/**
 * A budget of one process. Several instances need not share it: they take turns to sweep, and serve their own requests.
 */
export type AttemptBudget = {
  /**
   * Selects the unfinished purchases to try now. The caller passes all of them, because the budget forgets those that
   * are missing. A purchase that is new to the budget is always due.
   */
  selectDue(unfinished: readonly PaymentKey[]): readonly PaymentKey[]
  /**
   * Whether a client's request may retry a purchase of this wallet now. If not, the response is the purchase's last
   * known state.
   */
  mayRetry(payer: Address): boolean
}

// The maximum number of wallets that are remembered, at a hundred bytes each.
const WALLETS_MAX = 4096

type Tries = { readonly firstMs: number; readonly lastMs: number }

/** Makes a full budget. */
export function createAttemptBudget({ elapsed }: Pick<Clock, 'elapsed'>): AttemptBudget {
  let tries: ReadonlyMap<string, Tries> = new Map()
  const retries = createTokenBuckets(RETRIES, WALLETS_MAX)
  const mayRetry = (payer: Address) => retries.take(payer, elapsed()) === 0
  const isDue = (payer: Address, { firstMs, lastMs }: Tries) => {
    const gapMs = elapsed() - lastMs
    return gapMs >= RARE_MS || (gapMs >= chooseGap(lastMs - firstMs) && mayRetry(payer))
  }

  return {
    mayRetry,
    selectDue(unfinished) {
      const now = new Map<string, Tries>()
      const due = unfinished.filter((key) => {
        const before = tries.get(toPaymentKey(key))
        if (before !== undefined && !isDue(key.payer, before)) {
          now.set(toPaymentKey(key), before)
          return false
        }
        now.set(toPaymentKey(key), { firstMs: before?.firstMs ?? elapsed(), lastMs: elapsed() })
        return true
      })
      tries = now
      return due
    },
  }
}

/**
 * How often the chain is queried about payments that buy nothing, from any sender. The query only shows whether they
 * were charged.
 */
const LOOK_UPS: Budget = { burst: 300, perSecond: 5 }

/** Makes a function that returns whether one more payment that buys nothing may be looked up on the chain. */
export function createLookUpBudget({ elapsed }: Pick<Clock, 'elapsed'>): () => boolean {
  const lookUps = createTokenBuckets(LOOK_UPS, 1)
  return () => lookUps.take('all', elapsed()) === 0
}

/** Milliseconds to wait between two tries, depending on how long the purchase has been tried. */
const chooseGap = (triedForMs: number) => (triedForMs < PROMPT_MS ? 0 : Math.min(GAP_MAX_MS, triedForMs / 3))
