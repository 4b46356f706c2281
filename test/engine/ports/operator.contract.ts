import { describe, expect } from 'bun:test'
import { OPEN_REPORTS_MAX, REPORTS_KEPT_MS, REPORTS_OF_A_WORK_MAX } from '../../../server/domain/wall/reports.ts'
import { formatCoord } from '../../../shared/wall.ts'
import type { EngineTest } from '../../support/engine.ts'
import { parseBlockOrThrow, NOW } from '../../support/samples.ts'

// Goal: the operator sees how old the last backup is, the webhook continues where it stopped, and reports wait for the
// operator, within limits. Method: each record is read before its first entry, and after several entries.

/** The suite of the `Backups`, `Deliveries` and `Reports` ports. */
export function testOperator(name: string, test: EngineTest): void {
  testReports(name, test)

  describe(`backups on ${name}`, () => {
    test('the time of the last backup is unknown before the first backup, and afterwards is the time of the latest one', async ({
      backups,
    }) => {
      expect(await backups.readLastTime()).toBeUndefined()
      await backups.record(NOW)
      expect(await backups.readLastTime()).toBe(NOW)
      await backups.record(NOW + 1)
      expect(await backups.readLastTime()).toBe(NOW + 1)
    })
  })

  describe(`deliveries on ${name}`, () => {
    test('the number of the last delivered change is unknown at first, and never decreases', async ({ deliveries }) => {
      expect(await deliveries.readPosition()).toBeUndefined()
      for (const [number, reached] of [
        [0, 0],
        [7, 7],
        [5, 7],
      ] as const) {
        await deliveries.advanceTo(number)
        expect(await deliveries.readPosition()).toBe(reached)
      }
    })
  })
}

const TODAY = { day: '2027-01-15', fresh: 'one' }

/** A report of the work that begins at a block, from a reporter. */
const createReport = (coord: string, reporter: string, note: string | null = null) => ({
  work: parseBlockOrThrow(coord),
  block: parseBlockOrThrow(coord),
  reason: 'scam' as const,
  note,
  reporterFor: (key: string) => Bun.MD5.hash(`${key} ${reporter}`, 'hex'),
})

function testReports(name: string, test: EngineTest): void {
  describe(`reports on ${name}`, () => {
    test('a reporter can file one report per artwork and day, and every filed report is listed as open', async ({
      reports,
    }) => {
      expect(await reports.listOpen()).toEqual([])
      expect(await reports.fileReport(createReport('3,4', 'a', 'look'), TODAY, NOW)).toBe('filed')
      expect(await reports.fileReport(createReport('3,4', 'a'), { ...TODAY, fresh: 'two' }, NOW + 1)).toBe('known')
      expect(await reports.fileReport(createReport('3,4', 'b'), TODAY, NOW + 2)).toBe('filed')
      expect(await reports.fileReport(createReport('5,6', 'a'), TODAY, NOW + 3)).toBe('filed')
      expect(await reports.fileReport(createReport('3,4', 'a'), { day: '2027-01-16', fresh: 'x' }, NOW + 4)).toBe(
        'filed',
      )
      const open = await reports.listOpen()
      expect(open.map(({ work, at }) => [formatCoord(work), at - NOW])).toEqual([
        ['3,4', 0],
        ['3,4', 2],
        ['5,6', 3],
        ['3,4', 4],
      ])
      expect(open[0]).toEqual({
        id: 1,
        at: NOW,
        work: parseBlockOrThrow('3,4'),
        block: parseBlockOrThrow('3,4'),
        reason: 'scam',
        note: 'look',
      })
    })

    test('the operator closes all reports of an artwork together, and closed reports are deleted after a retention period', async ({
      reports,
    }) => {
      const by = { outcome: 'dismissed', who: 'ada', why: 'fine' } as const
      await reports.fileReport(createReport('3,4', 'a'), TODAY, NOW)
      await reports.fileReport(createReport('3,4', 'b'), TODAY, NOW)
      await reports.fileReport(createReport('5,6', 'a'), TODAY, NOW)
      expect(await reports.close([parseBlockOrThrow('3,4')], by, NOW + 1)).toBe(2)
      expect(await reports.close([parseBlockOrThrow('3,4')], by, NOW + 2)).toBe(0)
      expect((await reports.listOpen()).map(({ work }) => formatCoord(work))).toEqual(['5,6'])
      // A second report of a work by the same reporter on the same day is still recognised, although the first one is
      // closed.
      expect(await reports.fileReport(createReport('3,4', 'a'), TODAY, NOW + 3)).toBe('known')
      const later = NOW + 2 + REPORTS_KEPT_MS
      expect(await reports.fileReport(createReport('3,4', 'a'), TODAY, later)).toBe('filed')
    })

    test('reports beyond the limit per artwork are not stored', async ({ reports }) => {
      for (let reporter = 0; reporter < REPORTS_OF_A_WORK_MAX; reporter++)
        expect(await reports.fileReport(createReport('3,4', `${reporter}`), TODAY, NOW)).toBe('filed')
      expect(await reports.fileReport(createReport('3,4', 'one more'), TODAY, NOW)).toBe('known')
      expect(await reports.fileReport(createReport('5,6', 'one more'), TODAY, NOW)).toBe('filed')
      expect(await reports.listOpen()).toHaveLength(REPORTS_OF_A_WORK_MAX + 1)
      expect(OPEN_REPORTS_MAX).toBeGreaterThan(REPORTS_OF_A_WORK_MAX)
    })

    test('open reports are listed for delivery, oldest first, until they are marked as delivered', async ({
      reports,
    }) => {
      for (const reporter of ['a', 'b', 'c']) await reports.fileReport(createReport('3,4', reporter), TODAY, NOW)
      const listIds = async (limit = 9) => (await reports.listUndelivered(limit)).map(({ id }) => id)
      expect(await listIds(2)).toEqual([1, 2])
      await reports.markDelivered(1)
      expect(await listIds()).toEqual([2, 3])
    })
  })
}
