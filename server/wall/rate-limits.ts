/**
 * Limits how often expensive requests may be made per client, wallet or block. The limits are far above honest use, and
 * far below a flood.
 */

import type { Failure } from '../domain/failure.ts'
import { createRateLimitFailure } from '../domain/purchase/refusals.ts'
import { createTokenBuckets, type Budget } from '../domain/token-bucket.ts'
import type { Clock } from '../ports.ts'

/** A budget, the kind of owner that each of its buckets has, and what the budget counts. */
export type NamedBudget = Budget & { readonly per: 'address' | 'wallet' | 'block'; readonly what: string }

/** All budgets. docs/operating-reference.md repeats them, and a test compares that list with this one. */
export const BUDGETS = {
  pictures: {
    per: 'address',
    burst: 120,
    perSecond: 10,
    what: 'pictures of the wall and of blocks, and link preview cards; a large one counts up to four times',
  },
  uploads: {
    per: 'address',
    burst: 120,
    perSecond: 2,
    what: 'megapixels of pictures sent for conversion; an order for an area counts as one, unless the wall knows its payment',
  },
  previews: { per: 'address', burst: 120, perSecond: 20, what: 'purchase previews' },
  searches: {
    per: 'address',
    burst: 240,
    perSecond: 40,
    what: 'searches for space and for wallets, and texts to sign',
  },
  pages: { per: 'address', burst: 1000, perSecond: 50, what: 'pages of the log and of the atlas' },
  calls: { per: 'address', burst: 600, perSecond: 60, what: 'MCP calls' },
  streams: { per: 'address', burst: 512, perSecond: 8, what: 'live streams opened' },
  signatures: { per: 'address', burst: 300, perSecond: 10, what: 'changes with an invalid signature or body' },
  challenges: { per: 'address', burst: 300, perSecond: 10, what: 'sign-in challenges' },
  payments: { per: 'address', burst: 300, perSecond: 10, what: 'rejected payments' },
  'signed payments': {
    per: 'address',
    burst: 100,
    perSecond: 5,
    what: 'payments signed by their payer, from a client address with too many rejected payments',
  },
  'wallet payments': {
    per: 'wallet',
    burst: 30,
    perSecond: 1,
    what: 'payments signed by this wallet, from client addresses with too many rejected payments',
  },
  repaints: { per: 'block', burst: 30, perSecond: 1, what: 'repaints by the owner' },
  'daily repaints': {
    per: 'block',
    burst: 1440,
    perSecond: 0.02,
    what: 'repaints by the owner in a day, because each is kept for hours',
  },
  reports: { per: 'address', burst: 10, perSecond: 0.005, what: 'reports of artworks' },
  registrations: {
    per: 'wallet',
    burst: 300,
    perSecond: 1,
    what: 'changes of a name, framework or painter, and lists of receipts',
  },
  'daily names': {
    per: 'wallet',
    burst: 300,
    perSecond: 0.01,
    what: 'changes of a name or framework in a day, because each is kept for hours',
  },
} as const satisfies Readonly<Record<string, NamedBudget>>

export type BudgetName = keyof typeof BUDGETS

// The refusal's message for budgets that may stay used up for longer than a client would guess.
const REFUSALS: Readonly<Partial<Record<BudgetName, string>>> = {
  'daily repaints':
    'This block has used up its repaints for today. Nothing was changed. Wait Retry-After seconds, then send the change again; if its ts is then older than 5 minutes, sign again.',
  'daily names':
    'This wallet has used up its name changes for today. Nothing was changed. Wait Retry-After seconds, then send the change again; if its ts is then older than 5 minutes, sign again.',
}

/** How many live streams one address may have open in parallel. */
export const STREAMS_PER_ADDRESS = 256

/**
 * How many live streams one IPv6 site (/48) may have open in parallel; such a site counts as 65,536 client addresses.
 */
export const STREAMS_PER_SITE = 1024

// Each bucket takes about 100 bytes. Budgets do not help against a client with more than `KEYS_MAX` addresses.
const KEYS_MAX = 20_000

/** How much of each budget every client, wallet or block has used up, in this process's memory only. */
export type RateLimits = {
  /** Takes one unit, or `cost` units, from a budget; returns a refusal if the budget is used up. */
  take(name: BudgetName, who: string, cost?: number): Failure | undefined
  /** Returns the refusal if the budget is used up, without taking anything. */
  check(name: BudgetName, who: string): Failure | undefined
}

/** Makes rate limits, with every bucket full. */
export function createRateLimits(
  { elapsed }: Pick<Clock, 'elapsed'>,
  budgets: Readonly<Record<BudgetName, Budget>> = BUDGETS,
): RateLimits {
  const buckets = new Map(Object.entries(budgets).map(([name, budget]) => [name, createTokenBuckets(budget, KEYS_MAX)]))
  const createRefusal = (name: BudgetName, waitMs = 0) =>
    waitMs === 0 ? undefined : createRateLimitFailure(waitMs, REFUSALS[name])
  return {
    take: (name, who, cost) => createRefusal(name, buckets.get(name)?.take(who, elapsed(), cost)),
    check: (name, who) => createRefusal(name, buckets.get(name)?.computeWait(who, elapsed())),
  }
}
