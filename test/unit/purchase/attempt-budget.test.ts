import { describe, expect, test } from 'bun:test'
import type { PaymentKey } from '../../../server/domain/purchase/payment.ts'
import { createAttemptBudget, RARE_MS, type AttemptBudget } from '../../../server/purchase/attempt-budget.ts'
import { createFakeClock, type FakeClock } from '../../support/fakes/clock.ts'
import { toHash, createWalletAddress } from '../../support/samples.ts'

const SWEEP_MS = 5000
const RETRIES_AN_HOUR = 240
const HOUR_MS = 3_600_000

const createKey = (payer: number, nonce: number): PaymentKey => ({
  payer: createWalletAddress(payer),
  nonce: toHash(nonce),
})

/** The keys of a wallet's purchases: as many as can be held for the wallet at a time. */
const createKeys = (payer: number, from = 1) => Array.from({ length: 16 }, (_, at) => createKey(payer, from + at))

/** The times at which each purchase was tried in an hour of sweeps. */
function recordTries(budget: AttemptBudget, clock: FakeClock, keysNow: (at: number) => readonly PaymentKey[]) {
  const tries = new Map<string, number[]>()
  for (let at = 0; at < HOUR_MS; at += SWEEP_MS) {
    for (const { payer, nonce } of budget.selectDue(keysNow(at))) {
      const key = `${payer}:${nonce}`
      tries.set(key, [...(tries.get(key) ?? []), at])
    }
    clock.advance(SWEEP_MS)
  }
  return tries
}

const countTries = (tries: ReadonlyMap<string, readonly number[]>) => [...tries.values()].flat().length

describe('a wallet whose purchases keep failing', () => {
  test('if the purchases of a wallet keep failing, they are tried a limited number of times per hour, but each of them at least every five minutes', () => {
    const clock = createFakeClock(0)
    const tries = recordTries(createAttemptBudget(clock), clock, () => createKeys(1))
    expect(countTries(tries)).toBeLessThanOrEqual(16 + RETRIES_AN_HOUR + 16 * (HOUR_MS / RARE_MS))
    expect(tries.size).toBe(16)
    for (const moments of tries.values())
      for (const [at, moment] of [...moments, HOUR_MS].entries())
        expect(moment - (moments[at - 1] ?? 0)).toBeLessThanOrEqual(RARE_MS)
  })

  test('the hourly limit of a wallet whose purchases fail also holds if new purchases replace finished ones', () => {
    const clock = createFakeClock(0)
    const createKeysAt = (at: number) => createKeys(1, 1 + 16 * Math.floor(at / 360_000))
    const tries = recordTries(createAttemptBudget(clock), clock, createKeysAt)
    expect(tries.size).toBe(160)
    expect(countTries(tries)).toBeLessThanOrEqual(160 + RETRIES_AN_HOUR + 16 * (HOUR_MS / RARE_MS))
  })

  test('failing purchases of one wallet do not reduce the tries of other wallets', () => {
    const alone = createFakeClock(0)
    const expected = recordTries(createAttemptBudget(alone), alone, () => [createKey(2, 99)])
    const clock = createFakeClock(0)
    const tries = recordTries(createAttemptBudget(clock), clock, () => [...createKeys(1), createKey(2, 99)])
    const [other] = expected.keys()
    expect(tries.get(other ?? '')).toEqual(expected.get(other ?? '') ?? [])
  })
})

describe('a purchase', () => {
  test('a purchase is tried in each sweep at first, and less and less often later', () => {
    const clock = createFakeClock(0)
    const tries = recordTries(createAttemptBudget(clock), clock, () => [createKey(1, 1)])
    const seconds = [...tries.values()].flat().map((at) => at / 1000)
    expect(seconds.slice(0, 14)).toEqual([0, 5, 10, 15, 20, 25, 30, 40, 55, 75, 100, 135, 180, 240])
  })

  test('a purchase that is seen for the first time is due, even if its wallet has used up its limit', () => {
    const clock = createFakeClock(0)
    const budget = createAttemptBudget(clock)
    while (budget.mayRetry(createWalletAddress(1)));
    expect(budget.selectDue([createKey(1, 1)])).toEqual([createKey(1, 1)])
    expect(budget.selectDue([createKey(1, 1), createKey(1, 2)])).toEqual([createKey(1, 2)])
  })
})

test('requests for one wallet cause at most 240 tries per hour, and do not reduce the tries of other wallets', () => {
  const clock = createFakeClock(0)
  const budget = createAttemptBudget(clock)
  let allowed = 0
  for (let at = 0; at < HOUR_MS; at += 1000) {
    for (let times = 0; times < 10; times += 1) if (budget.mayRetry(createWalletAddress(1))) allowed += 1
    clock.advance(1000)
  }
  expect(allowed).toBeGreaterThan(RETRIES_AN_HOUR - 5)
  expect(allowed).toBeLessThanOrEqual(RETRIES_AN_HOUR)
  expect(budget.mayRetry(createWalletAddress(2))).toBe(true)
})
