/** Budgets of clients for tests: without an end, or used up. */

import { tooManyRequests } from '../../../server/domain/purchase/refusals.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'

/** Nobody is turned away. */
export const unlimited: RateLimits = { take: () => undefined, check: () => undefined }

/** Everybody has used some budgets up, or all of them. */
export function usedUp(...names: readonly BudgetName[]): RateLimits {
  const refusal = (name: BudgetName) => (names.length === 0 || names.includes(name) ? tooManyRequests(1500) : undefined)
  return { take: refusal, check: refusal }
}
