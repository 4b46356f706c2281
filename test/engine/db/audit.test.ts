import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAudit } from '../../../db/sqlite/audit.ts'
import { openSqlite, openWall, ports } from '../../../db/sqlite/open.ts'
import { failureOf, sell } from '../../support/engine.ts'
import { sellAllBut } from '../../support/nearly-sold.ts'
import { TERMS } from '../../support/samples.ts'
import { auditContract } from '../ports/audit.contract.ts'

// Goal: the books can be read beside the process that owns them, and tell everything about money. Method: one connection
// writes, another reads the same file.

const folder = mkdtempSync(join(tmpdir(), 'wall-audit-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `${files++}.sqlite`)

auditContract(
  'SQLite',
  async () => {
    const path = newPath()
    const wall = await openSqlite(path, TERMS.network)
    const audit = openAudit(path)
    const close = async () => {
      audit.close()
      await wall.close()
    }
    return { wall, books: [audit], close }
  },
  async () => {
    const path = newPath()
    const connection = openWall(path, TERMS.network)
    sellAllBut(1, connection)
    const audit = openAudit(path)
    const close = async () => {
      audit.close()
      connection.close()
    }
    return { wall: ports(connection), books: [audit], close }
  },
)

test('the books of a wall that is stopped can be read', async () => {
  const path = newPath()
  const wall = await openSqlite(path, TERMS.network)
  await sell(wall, '3,4', 1, 1)
  await wall.close()
  const stopped = openAudit(path)
  expect(await stopped.statement()).toMatchObject({ claimed: 1 })
  stopped.close()
})

test('a file that is not there, or no wall, is refused in plain words', async () => {
  const open = async (name: string) => void openAudit(join(folder, name))
  expect(await failureOf(open('none.sqlite'))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('there is no database'),
  })
  await Bun.write(join(folder, 'text.sqlite'), 'not a database, but long enough to be looked at as one'.repeat(20))
  expect(await failureOf(open('text.sqlite'))).toMatchObject({ name: 'CannotOpen' })
})
