import { expect, test } from 'bun:test'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { FLOOD_NAMES } from '../abuse/floods.ts'
import { runSoak, type Run } from './soak.ts'

// Goal: a wall that is used for a long time uses no more resources than at the start. Method: `bun run endurance soak`
// samples the resources of a process while users read, repaint, follow and buy for half an hour. A short run of a few
// seconds checks that every kind of user is served.

const MINUTES = 30

const RUN: Run = IS_LONG_RUN
  ? {
      ms: MINUTES * 60_000,
      everyMs: 60_000,
      restMs: 3000,
      rates: { readsPerSecond: 10, repaintsPerSecond: 3, followers: 200, purchases: 10 * MINUTES },
      floods: FLOOD_NAMES,
    }
  : {
      ms: 1500,
      everyMs: 250,
      restMs: 500,
      rates: { readsPerSecond: 20, repaintsPerSecond: 10, followers: 20, purchases: 5 },
      floods: ['atlas', 'bad signatures'],
    }

test.skipIf(process.platform !== 'linux')(
  'under load, an almost sold-out wall sells blocks, serves every client, and closes the connections of clients that left',
  async () => {
    const { wrong, alerts, bought, sold, reads, repaints, events, samples, rest } = await runSoak(RUN, (sample) => {
      if (IS_LONG_RUN) console.log(JSON.stringify(sample))
    })
    expect([wrong, alerts]).toEqual([[], []])
    expect(bought).toBeGreaterThan(0)
    expect(sold).toBe(14_400 - RUN.rates.purchases + bought)
    expect(Math.min(reads, repaints)).toBeGreaterThan(0)
    expect(events).toBeGreaterThan(0)
    const most = Math.max(...samples.map(({ descriptors }) => descriptors))
    expect(most - rest.descriptors).toBeGreaterThanOrEqual(RUN.rates.followers)
    expect(rest.residentMb).toBeGreaterThan(0)
  },
  RUN.ms + 120_000,
)
