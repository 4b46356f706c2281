import { expect, test } from 'bun:test'
import { runTorture } from './run.ts'

// Goal: with real processes, a real chain and a real disk, no dollar is lost, charged twice or given away. Method:
// rounds in which walls are killed during purchases while the facilitator, chain, disk and database server fail in
// turn. This test plays one round on a file and one with three instances; `bun run torture` plays any number of rounds.

test.each([
  { name: 'a wall on a file', crowd: 8, instances: undefined },
  { name: 'three instances on one database', crowd: 8, instances: 3 },
])(
  'after a round of kills and failures on $name, no dollar is lost or charged twice, and all areas and receipts are correct',
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
