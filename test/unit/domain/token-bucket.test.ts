import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createTokenBuckets } from '../../../server/domain/token-bucket.ts'

const BUDGET = { burst: 3, perSecond: 2 }

test('a bucket allows its burst immediately and then its rate, independently of other buckets', () => {
  const { take } = createTokenBuckets(BUDGET, 10)
  expect([0, 0, 0].map((now) => take('a', now))).toEqual([0, 0, 0])
  expect([take('a', 0), take('a', 499), take('a', 500), take('a', 500)]).toEqual([500, 1, 0, 500])
  expect(take('b', 0)).toBe(0)
})

test('a bucket starts with its whole burst even if its refill interval is not a whole number of milliseconds', () => {
  const { take } = createTokenBuckets({ burst: 3, perSecond: 7 }, 10)
  expect([0, 0, 0].map((now) => take('a', now))).toEqual([0, 0, 0])
})

test('a query of the waiting time takes no token', () => {
  const { take, computeWait: wait } = createTokenBuckets(BUDGET, 10)
  expect([wait('a', 0), wait('a', 0), take('a', 0, 3), wait('a', 0), wait('a', 500)]).toEqual([0, 0, 0, 500, 0])
})

test('if there are too many keys, the least recently used key is dropped', () => {
  const { take } = createTokenBuckets({ burst: 1, perSecond: 1 }, 2)
  for (const key of ['a', 'b', 'c']) take(key, 0)
  expect([take('b', 0), take('c', 0), take('a', 0)]).toEqual([1000, 1000, 0])
})

test('in any period a bucket allows at most its burst plus its rate times the period', () => {
  const steps = fc.array(fc.record({ passed: fc.nat(2000), cost: fc.integer({ min: 1, max: 3 }) }), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (asked) => {
      const { take } = createTokenBuckets(BUDGET, 10)
      const given: { at: number; cost: number }[] = []
      let now = 0
      for (const { passed, cost } of asked) {
        now += passed
        if (take('a', now, cost) === 0) given.push({ at: now, cost })
      }
      for (const { at: from } of given) {
        const since = given.filter(({ at }) => at >= from)
        for (const { at: to } of since) {
          const sum = since.filter(({ at }) => at <= to).reduce((total, { cost }) => total + cost, 0)
          expect(sum).toBeLessThanOrEqual(BUDGET.burst + ((to - from) / 1000) * BUDGET.perSecond + 1e-9)
        }
      }
    }),
  )
})
