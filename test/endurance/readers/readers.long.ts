import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { World } from '../../support/e2e/world.ts'
import { reportSkipped } from '../../support/skipped.ts'
import { measureUnreadResponses, openSoldWall, repaintRepeatedly } from './readers.ts'

// Goal: clients that do not read their responses take little of the server's memory, and not for long. Method: a
// process whose connections never read, a sold wall, and Linux's counters for the wall's process and its connections.

const READERS = 1000
const TOGETHER_MAX_MB = 520 // as in OPERATING.md
const KERNEL_MAX_KB = 192 // per connection
const REPAINTS = 1500

const linuxTest = test.skipIf(reportSkipped('ss', Bun.which('ss') !== null))

let world: World
beforeAll(async () => {
  world = await openSoldWall()
}, 60_000)
afterAll(async () => await world.stop())

linuxTest.each([
  ['the live stream', '/api/live', async (): Promise<number> => await repaintRepeatedly(world, REPAINTS)],
  ['the canvas', '/api/canvas', async (): Promise<number> => 1],
] as const)(
  'a thousand clients that request %s but never read it cost less than 520 MB of memory together, and are disconnected',
  async (_, path, meanwhile) => {
    const memory = await measureUnreadResponses(world, path, READERS, async () => {
      expect(await meanwhile()).toBeGreaterThan(0)
    })
    console.log(JSON.stringify({ path, readers: READERS, ...memory }))
    expect(memory.togetherMb).toBeLessThan(TOGETHER_MAX_MB)
    expect((1024 * memory.kernelMb) / READERS).toBeLessThan(KERNEL_MAX_KB)
    expect(memory.openAtEnd).toBe(0)
  },
  60_000,
)
