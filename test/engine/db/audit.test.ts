import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openPostgresAudit } from '../../../db/postgres/audit.ts'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openAudit } from '../../../db/sqlite/audit.ts'
import { prepareNote } from '../../../db/sqlite/migration-marker.ts'
import { openSqlite, openWall, createPorts } from '../../../db/sqlite/open.ts'
import { catchFailure, sellBlock } from '../../support/engine.ts'
import { sellAllBut, sellAllButOnPostgres } from '../../support/nearly-sold.ts'
import { TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { testAudit, type Audited } from '../ports/audit.contract.ts'
import { openPostgresWalls } from './postgres/walls.ts'

// Goal: the books can be read while other processes sell, and show all money. Method: one connection or engine
// writes, and the books of the same database are opened separately.

const folder = createScratchFolder()
const { getServer, createWall: newWall } = openPostgresWalls()
let files = 0

/** Opens a file and, separately, its books. With `left`, all but that many blocks are sold. */
async function openOnFile(left?: number): Promise<Audited> {
  const path = join(folder, `${files++}.sqlite`)
  const connection = openWall(path, TERMS.network)
  if (left !== undefined) sellAllBut(left, connection)
  const audit = openAudit(path)
  const close = async () => {
    audit.close()
    connection.close()
  }
  return { wall: createPorts(connection), books: [audit], close }
}

/**
 * Opens a database, with its books through the wall and through a separate connection. With `left`, all but that many
 * blocks are sold.
 */
async function openOnServer(left?: number): Promise<Audited> {
  const url = await newWall()
  if (left !== undefined) await sellAllButOnPostgres(url, left)
  const wall = await openPostgres(url, TERMS.network)
  const beside = await openPostgresAudit(url)
  const close = async () => void (await Promise.all([beside.close(), wall.close()]))
  return { wall, books: [wall.audit, beside], close }
}

testAudit('SQLite', openOnFile, () => openOnFile(1))
testAudit('PostgreSQL', openOnServer, () => openOnServer(1))

test('the books of a stopped wall can be read', async () => {
  const path = join(folder, 'stopped.sqlite')
  const wall = await openSqlite(path, TERMS.network)
  await sellBlock(wall, '3,4', 1, 1)
  await wall.close()
  const stopped = openAudit(path)
  expect(await stopped.readStatement()).toMatchObject({ claimed: 1 })
  stopped.close()
})

test('the position of a stopped wall cannot be read for another network, or once the wall has moved', async () => {
  const [path, url] = [join(folder, `${files++}.sqlite`), await newWall()]
  for (const [place, open] of [
    [path, async () => await openSqlite(path, TERMS.network)],
    [url, async () => await openPostgres(url, TERMS.network)],
  ] as const) {
    const wall = await open()
    await sellBlock(wall, '3,4', 1, 1)
    await wall.checkpoint.addPayees([TERMS.payTo])
    const position = await wall.store.readPosition()
    expect(position).toMatchObject({ change: 1, payment: 1, payees: [TERMS.payTo] })
    await wall.close()
    const [audit, leave] =
      place === path
        ? [openAudit(path), async () => prepareNote(path, 'has moved to somewhere')()]
        : [await openPostgresAudit(url), async () => await markMoved(url)]
    expect(await audit.readPosition(TERMS.network)).toEqual(position)
    const expectRefusal = (words: string) => ({ name: 'CannotOpen', message: expect.stringContaining(words) })
    expect(await catchFailure(audit.readPosition('eip155:1'))).toMatchObject(expectRefusal('not eip155:1'))
    await leave()
    expect(await catchFailure(audit.readPosition(TERMS.network))).toMatchObject(expectRefusal('has moved to somewhere'))
    await audit.close()
  }
})

async function markMoved(url: string): Promise<void> {
  const sql = new SQL(url, { max: 1 })
  await sql.unsafe("COMMENT ON TABLE wall IS 'has moved to somewhere'")
  await sql.close()
}

test('opening the books of a missing file, or of a file that is not a database, fails with CannotOpen', async () => {
  const openFile = async (name: string) => void openAudit(join(folder, name))
  expect(await catchFailure(openFile('none.sqlite'))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('there is no database'),
  })
  await Bun.write(join(folder, 'text.sqlite'), 'not a database, but long enough to be looked at as one'.repeat(20))
  expect(await catchFailure(openFile('text.sqlite'))).toMatchObject({ name: 'CannotOpen' })
})

test('the books of a database that does not contain a wall yet cannot be opened', async () => {
  const url = getServer().getUrl(await getServer().createDatabase())
  expect(await catchFailure(openPostgresAudit(url))).toMatchObject({
    name: 'CannotOpen',
    message: expect.stringContaining('has no tables'),
  })
})
