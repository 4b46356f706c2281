import { expect, test } from 'bun:test'
import { runTorture } from './run.ts'

// Goal: with real processes, chain and disk, no dollar is lost, doubled or given away. Method: rounds in which walls
// are killed under their buyers while facilitator, chain, disk and database server fail in turn; one round on a file
// and one of three instances here, and `bun run torture` plays any number.

test.each([
  { name: 'a wall on a file', crowd: 8, instances: undefined },
  { name: 'three instances on one database', crowd: 8, instances: 3 },
])(
  'after a round of kills and failures on $name, each dollar bought one block, areas are whole, receipts are true, and clients that hung up paid once',
  async ({ crowd, instances }) => {
    const { wrong, sold, areas, left, dollars, claimed, credits, kills } = await runTorture(
      { seed: 1, rounds: 1, crowd, instances },
      () => {},
    )
    expect(wrong).toEqual([])
    expect([claimed + credits, sold + credits]).toEqual([dollars, dollars])
    expect(kills).toBeGreaterThanOrEqual(1)
    expect(sold).toBeGreaterThan(3)
    expect(areas).toBeGreaterThan(0)
    expect(left).toBeGreaterThan(0)
  },
  { timeout: 120_000 },
)
