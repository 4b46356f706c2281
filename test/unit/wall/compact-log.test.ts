import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Change } from '../../../server/domain/wall/log.ts'
import { COMPACTED_AFTER_MS } from '../../../server/domain/wall/log.ts'
import { createLogCompactor } from '../../../server/wall/compact-log.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { sellBlock } from '../../support/engine.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  createTestIdentity,
  NOW,
  SILENT,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: a compacted log gives the same wall as the original log at every full hour, and its recent part is complete.
// Method: the log of random repaints in the real engine is read before and after compaction.

const HOUR_MS = 3_600_000
const BLOCKS = ['3,4', '5,6', '7,8'].map(parseBlockOrThrow)

const never = new AbortController().signal

/** The message of each block just before a moment. */
function replayUntil(changes: readonly Change[], moment: number): Map<number, string | null> {
  const said = new Map<number, string | null>()
  for (const change of changes)
    if ('content' in change && change.at < moment) said.set(change.block, change.content.message)
  return said
}

const repaint = fc.record({ block: fc.nat(BLOCKS.length - 1), afterMs: fc.nat(HOUR_MS / 4) })

test('compacting keeps the wall as it was at every full hour, and all recent repaints', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(repaint, { minLength: 1, maxLength: 40 }), fc.nat(12), async (repaints, hoursLater) => {
      const wall = await openBlankWall()
      for (const [at, block] of BLOCKS.entries())
        await sellBlock(wall, ['3,4', '5,6', '7,8'][at] ?? '', at + 1, block, SILENT)
      let now = NOW
      for (const [at, { block, afterMs }] of repaints.entries()) {
        now += afterMs
        await wall.blocks.edit(
          BLOCKS[block] ?? parseBlockOrThrow('3,4'),
          { ...createTestEdit(at, { message: `${at}` }), ts: 0 },
          now,
        )
      }
      const before = await wall.log.readAfter(0, 100)
      const clock = createFakeClock(NOW + COMPACTED_AFTER_MS + hoursLater * HOUR_MS)
      const compact = createLogCompactor({ ...wall, clock, logger: createFakeLogger(), historyDays: 1 })
      await compact(never)
      const after = await wall.log.readAfter(0, 100)

      const cut = Math.floor((clock.now() - COMPACTED_AFTER_MS) / HOUR_MS) * HOUR_MS
      for (let hour = Math.floor(NOW / HOUR_MS) * HOUR_MS; hour <= now + HOUR_MS; hour += HOUR_MS)
        expect(replayUntil(after, hour)).toEqual(replayUntil(before, hour))
      expect(after.filter(({ at }) => at >= cut)).toEqual(before.filter(({ at }) => at >= cut))
      expect(after.filter(({ kind }) => kind === 'sale')).toEqual(before.filter(({ kind }) => kind === 'sale'))
      const old = after.filter((change) => change.kind === 'repaint' && change.at < cut)
      const hours = old.map((change) => `${'block' in change && change.block} ${Math.floor(change.at / HOUR_MS)}`)
      expect(new Set(hours).size).toBe(hours.length)
      // A second run has nothing left to do.
      await compact(never)
      expect(await wall.log.readAfter(0, 100)).toEqual(after)
      wall.close()
    }),
    { numRuns: 40 },
  )
})

test('a long log is compacted page by page, and the compaction is logged once', async () => {
  const wall = await openBlankWall()
  await sellBlock(wall, '3,4', 1, 1, SILENT)
  const edits = Array.from({ length: 1300 }, (_, at) => ({ ...createTestEdit(at, { message: `${at}` }), ts: 0 }))
  for (const edit of edits) await wall.blocks.edit(parseBlockOrThrow('3,4'), edit, NOW)
  const logger = createFakeLogger()
  const clock = createFakeClock(NOW + COMPACTED_AFTER_MS + HOUR_MS)
  const compact = createLogCompactor({ ...wall, clock, logger, historyDays: 1 })
  await compact(never)
  expect((await wall.log.readAfter(0, 9)).map(({ number }) => number)).toEqual([1, 1301])
  expect(logger.notes.filter(({ event }) => event === 'log-compacted')).toHaveLength(1)
  wall.close()
})

test('names are compacted like repaints; after the days of history, only sales and the last change of each block and name are left', async () => {
  const wall = await openBlankWall()
  await sellBlock(wall, '3,4', 1, 1, SILENT)
  for (const [at, minutes] of [0, 1, 61].entries()) {
    const now = NOW + minutes * 60_000
    await wall.blocks.edit(parseBlockOrThrow('3,4'), { ...createTestEdit(at, { message: `${at}` }), ts: NOW + at }, now)
    await wall.agents.register(
      createWalletAddress(1),
      { ...createTestIdentity(at, { name: `${at}` }), ts: NOW + at },
      now,
    )
  }
  const shown = await wall.log.readCompacted()
  const clock = createFakeClock(NOW + COMPACTED_AFTER_MS + 2 * HOUR_MS)
  const compact = createLogCompactor({ ...wall, clock, logger: createFakeLogger(), historyDays: 2 })
  const listNumbers = async () => (await wall.log.readAfter(0, 9)).map(({ number }) => number)
  await compact(never)
  expect(await listNumbers()).toEqual([1, 4, 5, 6, 7])
  clock.advance(2 * 24 * HOUR_MS)
  await compact(never)
  expect(await listNumbers()).toEqual([1, 6, 7])
  expect(await wall.log.readCompacted()).toEqual(shown)
  await wall.blocks.edit(
    parseBlockOrThrow('3,4'),
    { ...createTestEdit(9, { message: 'new' }), ts: clock.now() },
    clock.now(),
  )
  // Entry 6 is no longer the last one of its block, so the next run drops it.
  await compact(never)
  expect(await listNumbers()).toEqual([1, 7, 8])
  wall.close()
})
