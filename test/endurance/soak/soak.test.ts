import { expect, test } from 'bun:test'
import { soak } from './soak.ts'

// Goal: a wall that is used for long takes no more of its machine than at first. Method: `bun run endurance soak` looks at a process that
// is read, repainted, followed and bought from for half an hour; here it is for some seconds, to see that all of it is used.

test.skipIf(process.platform !== 'linux')(
  'a full wall in use sells its last blocks, serves all who come, and lets go of those who left',
  async () => {
    const rates = { readsPerSecond: 20, repaintsPerSecond: 10, followers: 20, purchases: 5 }
    const { wrong, alerts, bought, sold, reads, repaints, events, samples, rest } = await soak(
      { ms: 1500, everyMs: 250, restMs: 500, rates, floods: ['atlas', 'bad signatures'] },
      () => {},
    )
    expect([wrong, alerts]).toEqual([[], []])
    expect(bought).toBeGreaterThan(0)
    expect(sold).toBe(14_395 + bought)
    expect(Math.min(reads, repaints)).toBeGreaterThan(0)
    expect(events).toBeGreaterThan(0)
    expect(Math.max(...samples.map(({ descriptors }) => descriptors)) - rest.descriptors).toBeGreaterThanOrEqual(20)
    expect(rest.residentMb).toBeGreaterThan(0)
  },
)
