import { expect, test } from 'bun:test'
import { createSqliteLog } from '../../../db/sqlite/log.ts'
import { connectToBlankWall } from '../../support/blank-wall.ts'

// Goal: reading new entries, which happens after each write, takes no longer on a full wall than on an empty one.
// Method: SQLite explains its query plan for that read.

test('new entries of the log are looked up by their numbers, without a scan of any table', async () => {
  const connection = connectToBlankWall()
  const asked: string[] = []
  const log = createSqliteLog({
    ...connection,
    prepare: (sql) => {
      asked.push(sql)
      return connection.prepare(sql)
    },
  })
  expect(await log.readAfter(0, 1)).toEqual([])
  const [after = ''] = asked
  const steps = connection
    .prepare<{ detail: string }, { after: number; limit: number }>(`EXPLAIN QUERY PLAN ${after}`)
    .all({ after: 0, limit: 1 })
    .map(({ detail }) => detail)
  expect(steps.filter((step) => /^(SCAN|MATERIALIZE|CO-ROUTINE)|AUTOMATIC/.test(step))).toEqual([])
  expect(steps[0]).toStartWith('SEARCH changes USING INTEGER PRIMARY KEY')
  connection.close()
})
