/** Budgets of clients for tests: unlimited, or used up. */

import { createRateLimitFailure } from '../../../server/domain/purchase/refusals.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'

/** No client is rejected. */
export const unlimited: RateLimits = { take: () => undefined, check: () => undefined }

/** All clients have used up some budgets, or all of them. */
export function createUsedUpLimits(...names: readonly BudgetName[]): RateLimits {
  const createRefusal = (name: BudgetName) =>
    names.length === 0 || names.includes(name) ? createRateLimitFailure(1500) : undefined
  return { take: createRefusal, check: createRefusal }
}
