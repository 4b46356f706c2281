import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { sellBlock } from '../../support/engine.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/server.ts'
import { TERMS } from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { reportSkipped } from '../../support/skipped.ts'

// Goal: the same command backs up a wall on either engine, and the backup can be restored. Method: the command as an
// operator types it, with a real file and a real server; PostgreSQL's own tool restores the dump into another database.

const folder = createScratchFolder()
const NOT_RECORDED = 'no wall is running on this machine, so the time of this backup is not recorded\n'

test('the name of a SQLite backup contains its time, and with --keep 2, only two backups remain', async () => {
  const path = join(folder, 'wall.sqlite')
  const wall = await openSqlite(path, TERMS.network)
  await sellBlock(wall, 'next', 1, 1)
  for (let copy = 0; copy < 3; copy++)
    expect(await runCommand({ DATABASE_PATH: path }, folder, 'backup', '--into', folder, '--keep', '2')).toMatchObject({
      status: 0,
      err: NOT_RECORDED,
    })
  wall.close()
  const copies = readdirSync(folder).filter((name) => /^wall-\d{8}T\d{9}Z\.sqlite$/.test(name))
  expect(copies).toHaveLength(2)
  const copy = await openSqlite(join(folder, copies[0] ?? ''), TERMS.network)
  expect(await copy.log.readAfter(0, 9)).toHaveLength(1)
  copy.close()
})

const tools = ['pg_dump', 'pg_restore'].map((name) => Bun.which(name))

describe('backups of a wall on a PostgreSQL server', () => {
  let server: PostgresServer
  let url: string
  let isNewEnough = false
  beforeAll(async () => {
    server = await startPostgres()
    url = server.getUrl(await server.createDatabase())
    const sql = new SQL(url, { max: 1 })
    const [row] = await sql`SELECT current_setting('server_version_num')::integer / 10000 AS version`
    await sql.close()
    const words = tools[0] === null ? '' : Bun.spawnSync([tools[0] ?? '', '--version']).stdout.toString()
    isNewEnough = Number(/ (\d+)\./.exec(words)?.[1] ?? 0) >= row.version
  }, 30_000)
  afterAll(async () => {
    await server.stop()
  })

  test('a dump is readable only by its owner, and the wall can be restored from it', async () => {
    if (reportSkipped('pg_dump of the server’s version', isNewEnough)) return
    const wall = await openPostgres(url, TERMS.network)
    await sellBlock(wall, 'next', 1, 1)
    const made = await runCommand({ DATABASE_URL: url }, folder, 'backup', '--into', folder, '--keep', '2')
    await wall.close()
    expect(made).toMatchObject({ status: 0, err: NOT_RECORDED, out: expect.stringContaining('.dump (') })
    const [dump = ''] = readdirSync(folder).filter((name) => /^wall-\d{8}T\d{9}Z\.dump$/.test(name))
    expect(statSync(join(folder, dump)).mode & 0o777).toBe(0o600)
    const empty = server.getUrl(await server.createDatabase())
    const restored = Bun.spawnSync([tools[1] ?? '', '--no-owner', `--dbname=${empty}`, join(folder, dump)])
    expect([restored.exitCode, restored.stderr.toString()]).toEqual([0, ''])
    const again = await openPostgres(empty, TERMS.network)
    expect(await again.log.readAfter(0, 9)).toHaveLength(1)
    await again.close()
  })

  test('if the dump of a database fails, no file is left, and the error does not contain the database password', async () => {
    const away = 'postgres://wall:hush-hush@127.0.0.1:1/wall'
    const file = join(folder, 'away.dump')
    const { out, err, status } = await runCommand({ DATABASE_URL: away }, folder, 'backup', file)
    expect([status, out, err]).toEqual([2, '', expect.stringContaining('pg_dump')])
    expect(err).not.toContain('hush-hush')
    expect(readdirSync(folder).filter((name) => name.startsWith('away'))).toEqual([])
  })

  test('if pg_dump is missing, the backup command says what to install', async () => {
    const settings = { DATABASE_URL: url, PATH: folder }
    const { err, status } = await runCommand(settings, folder, 'backup', join(folder, 'x.dump'))
    expect([status, err]).toEqual([2, expect.stringContaining('pg_dump is not installed on this machine')])
  })

  test('check accepts a database without a wall, and reports a missing pg_dump unless a backup is recorded', async () => {
    const empty = server.getUrl(await server.createDatabase())
    const away = 'http://127.0.0.1:1'
    const services = { BASE_URL: 'http://127.0.0.1', PAY_TO: TERMS.payTo, FACILITATOR_URL: away, RPC_URL: away }
    const settings = { ...services, DATABASE_URL: empty, PATH: folder }
    const runCheck = async () => (await runCommand(settings, folder, 'check')).out
    const first = await runCheck()
    expect(first).toContain('ok     database (postgres)\n')
    expect(first).toMatch(/^WRONG {2}backups: pg_dump is not installed .* or run pixel-wall backup --made after/m)
    const wall = await openPostgres(empty, TERMS.network)
    await wall.backups.record(Date.now())
    await wall.close()
    expect(await runCheck()).toContain('ok     backups\n')
  })
})
