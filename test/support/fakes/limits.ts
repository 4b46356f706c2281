/** Rate limits for tests: unlimited, or used up. */

import { createRateLimitFailure } from '../../../server/domain/purchase/refusals.ts'
import type { BudgetName, RateLimits } from '../../../server/wall/rate-limits.ts'

/** No client is rejected. */
export const unlimited: RateLimits = { take: () => undefined, check: () => undefined }

/** Every client has used up the named budgets, or all budgets if none is named. */
export function createUsedUpLimits(...names: readonly BudgetName[]): RateLimits {
  const createRefusal = (name: BudgetName) =>
    names.length === 0 || names.includes(name) ? createRateLimitFailure(1500) : undefined
  return { take: createRefusal, check: createRefusal }
}
