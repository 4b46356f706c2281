import { expect, test } from 'bun:test'
import { createSqliteLog } from '../../../db/sqlite/log.ts'
import { connectBlank } from '../../support/blank-wall.ts'

// Goal: reading new entries takes no longer on a full wall than on an empty one, because they are read after each
// write. Method: SQLite explains its plan for each of the log's reads.

test('the newest entries are looked up one by one, however much is sold', async () => {
  const connection = connectBlank()
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
