import { expect, test } from 'bun:test'
import { torture } from './run.ts'

// Goal: on real processes, chain and disk no dollar is lost, doubled or given away. Method: rounds in which walls are killed
// under their buyers while facilitator, chain, disk and database server fail in turn; `bun run torture` plays as many as
// you like.

test(
  'ten rounds of kills and failures: each dollar bought one block, areas are whole, and every receipt stays true',
  async () => {
    const { wrong, sold, areas, dollars, claimed, credits, kills } = await torture(
      { seed: 1, rounds: 10, crowd: 10 },
      () => {},
    )
    expect(wrong).toEqual([])
    expect([claimed + credits, sold + credits]).toEqual([dollars, dollars])
    expect(kills).toBeGreaterThanOrEqual(10)
    expect(sold).toBeGreaterThan(40)
    expect(areas).toBeGreaterThan(10)
  },
  { timeout: 120_000 },
)

test(
  'two rounds with three instances on one database: the same, and all of them show the same wall',
  async () => {
    const run = { seed: 1, rounds: 2, crowd: 12, instances: 3 }
    const { wrong, sold, areas, dollars, claimed, credits, kills } = await torture(run, () => {})
    expect(wrong).toEqual([])
    expect([claimed + credits, sold + credits]).toEqual([dollars, dollars])
    expect(kills).toBeGreaterThanOrEqual(2)
    expect(sold).toBeGreaterThan(12)
    expect(areas).toBeGreaterThan(2)
  },
  { timeout: 120_000 },
)
