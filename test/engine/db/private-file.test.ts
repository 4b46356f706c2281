import { expect, test } from 'bun:test'
import { chmodSync, cpSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { backUp } from '../../../db/sqlite/file/backup.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { sellBlock } from '../../support/engine.ts'
import { TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'

const folder = createScratchFolder()

/** Every file in the folder, with its mode in octal. */
const listModes = () =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]))

test('only the user that runs the wall may read its database files and backups', async () => {
  const path = join(folder, 'wall.sqlite')
  const first = await openSqlite(path, TERMS.network)
  first.close()
  // Older versions created the file with this mode.
  chmodSync(path, 0o644)
  const db = await openSqlite(path, TERMS.network)
  await sellBlock(db, '3,4', 1, 1)
  backUp(path, join(folder, 'backup.sqlite'))
  expect(listModes()).toEqual({
    'wall.sqlite': '600',
    'wall.sqlite-shm': '600',
    'wall.sqlite-wal': '600',
    'wall.sqlite.lock': '600',
    'backup.sqlite': '600',
  })
  db.close()
})

test('a write-ahead log that an older version left readable to others becomes private when the wall is opened', async () => {
  const [path, left] = [join(folder, 'one.sqlite'), join(folder, 'left.sqlite')]
  const db = await openSqlite(path, TERMS.network)
  await sellBlock(db, '3,4', 1, 1)
  // Copies the files as a crash would leave them.
  for (const end of ['', '-wal']) {
    cpSync(path + end, left + end)
    chmodSync(left + end, 0o644)
  }
  db.close()
  const again = await openSqlite(left, TERMS.network)
  expect(listModes()).toMatchObject({ 'left.sqlite': '600', 'left.sqlite-wal': '600' })
  again.close()
})
