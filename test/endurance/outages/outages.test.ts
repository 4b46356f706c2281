import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { ON_A_FILE, ON_A_SERVER, type Outage } from './outages.ts'
import { playOutage } from './see-through.ts'
import { openFileStage, openServerStage, type Stage } from './stage.ts'

// Goal: every outage is reported by name, once, with its reason. While an outage prevents sales, the wall reports that
// it is not ready, and continues to serve readers and supervisors. After the outage, it sells again automatically.
// Method: real processes, and a failure of each dependency. `bun run endurance outages` plays every outage, and prints
// how long it took until each was reported, and until it was over.

function testOutagesOn<On extends Stage>(open: () => Promise<On>, outages: Readonly<Record<string, Outage<On>>>): void {
  let stage: On
  beforeAll(async () => {
    stage = await open()
  }, 60_000)
  afterAll(async () => {
    await stage.stop()
  }, 60_000)
  for (const [what, outage] of Object.entries(outages))
    test.if(outage.isPossible !== false && (IS_LONG_RUN || outage.longOnly !== true))(
      `the wall reports this outage and its end: ${what}`,
      async () => {
        const { misses, called, namedS, overS } = await playOutage(stage, outage)
        if (IS_LONG_RUN)
          console.log(`${called}: reported after ${namedS?.toFixed(1)} s, over after ${overS?.toFixed(1)} s`)
        expect(misses).toEqual([])
      },
    )
}

describe('a wall on a file', () => testOutagesOn(openFileStage, ON_A_FILE))
describe('a wall on a database server', () => testOutagesOn(openServerStage, ON_A_SERVER))
