import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { createVandalisedWall } from './vandal.ts'

// Goal: an owner of a few blocks neither fills the disk nor delays the start of the service. Method: on a sold wall in
// a file, an owner uses up every budget for a month of a fake clock. The log is compacted hourly, its history is kept
// for the month, and the service really starts.

const path = join(createScratchFolder(), 'wall.sqlite')

const DAYS = [0, 1, 7, 30]

// The copies that the backup unit keeps (`--keep 48 --max-gb 10`).
const COPIES_MAX = 48
const COPIES_MAX_MB = 10_000

const DISK_MAX_MB = 20_000 // database and backups together, as in docs/operating-reference.md
const START_MAX_S = 2

test('if an owner repaints ten blocks for a month as often as the budgets allow, the database and its backups stay below 20 GB, and the wall starts within 2 seconds', async () => {
  const wall = await createVandalisedWall(path, DAYS.at(-1) ?? 0)
  const rows = []
  for (const [at, day] of DAYS.entries()) {
    await wall.writeDays(day - (DAYS[at - 1] ?? 0))
    const databaseMb = wall.measureMegabytes()
    const backupsMb = Math.max(databaseMb, Math.min(COPIES_MAX * databaseMb, COPIES_MAX_MB))
    const startSeconds = await wall.measureFirstRead()
    rows.push({ day, written: wall.countWritten(), databaseMb, backupsMb, startSeconds })
  }
  console.table(rows)
  for (const { databaseMb, backupsMb, startSeconds } of rows) {
    expect(databaseMb + backupsMb).toBeLessThan(DISK_MAX_MB)
    expect(startSeconds).toBeLessThan(START_MAX_S)
  }
}, 600_000)
