import { expect, test } from 'bun:test'
import { torture } from './run.ts'

// Goal: on real processes, chain and disk no dollar is lost, doubled or given away. Method: ten rounds in which the wall
// is killed under its buyers while facilitator, chain and disk fail in turn; `bun run torture` plays as many as you like.

test(
  'ten rounds of kills and failures: each dollar bought one block, and every receipt stays true',
  async () => {
    const { wrong, sold, transfers, claimed, credits, kills } = await torture(1, 10, () => {}, 10)
    expect(wrong).toEqual([])
    expect([claimed + credits, sold + credits]).toEqual([transfers, transfers])
    expect(kills).toBeGreaterThanOrEqual(10)
    expect(sold).toBeGreaterThan(40)
  },
  { timeout: 120_000 },
)
