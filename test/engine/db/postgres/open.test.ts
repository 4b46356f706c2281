import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { CannotOpen } from '../../../../db/cannot-open.ts'
import type { Engine } from '../../../../db/engine.ts'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { SESSION_SETTINGS } from '../../../../db/postgres/pool.ts'
import { openSqlite } from '../../../../db/sqlite/open.ts'
import { WALL_COLUMNS, WALL_TABLES } from '../../../../db/wall-rows.ts'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
import { findFreePort } from '../../../../server/local/wall-process.ts'
import { catchFailure, reserveTarget, sellBlock, recordLatePayment } from '../../../support/engine.ts'
import { scaleLimit } from '../../../support/machine.ts'
import { startCutProxy } from '../../../support/postgres/cut-proxy.ts'
import { startPostgres } from '../../../support/postgres/server.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  HEAD,
  createTestIdentity,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { reportSkipped } from '../../../support/skipped.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: a database is opened only if it can store everything, by any number of processes, and its rows equal those of
// the other engine, to the byte. Method: real databases, and SQL written by hand.

const { getServer, createWall: newWall } = openPostgresWalls()

const createUrl = async () => getServer().getUrl(await getServer().createDatabase())

/** Runs SQL by hand, without the ports. */
async function queryRows<Row>(url: string, text: string): Promise<readonly Row[]> {
  const sql = new SQL(url, { max: 1, bigint: false })
  try {
    return await sql.unsafe(text)
  } finally {
    await sql.close()
  }
}

/**
 * Fills the tables: sales, a repaint, a name, moderation, painters, and held, released and late purchases. Block 7,8
 * stays held.
 */
async function writeHistory(engine: Omit<Engine, 'close'>): Promise<void> {
  await sellBlock(engine, '3,4', 1, 1)
  await sellBlock(engine, '5,6', 2, 2, SILENT)
  await engine.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1, { message: 'ein gemaltes Wort' }), NOW)
  await reserveTarget(engine, parseBlockOrThrow('7,8'), createTestPayment(3, 3))
  await engine.agents.register(createWalletAddress(2), createTestIdentity(2, { name: 'Bob 🤖' }), NOW + 1)
  await engine.moderation.moderate(parseBlockOrThrow('3,4'), 'hide', ['link'], NOW + 2)
  await engine.moderation.moderateWallet(createWalletAddress(1), { act: 'ban' }, NOW + 2)
  await engine.ledger.release(await reserveTarget(engine, 'next', createTestPayment(1, 4)), true)
  await recordLatePayment(
    engine,
    { payment: createTestPayment(5, 5), target: 'next', listing: SILENT, head: HEAD },
    toHash(5),
  )
  await sellBlock(engine, '9,9', 2, 6, { ...SILENT, painter: createWalletAddress(9) })
  await engine.agents.namePainter(createWalletAddress(1), { painter: createWalletAddress(8), ts: NOW })
  await engine.checkpoint.advanceTo(HEAD)
}

test('a reopened wall has the same log and books as before, and recognises a repeated edit', async () => {
  const url = await createUrl()
  const first = await openPostgres(url, TERMS.network)
  await writeHistory(first)
  const before = [await first.log.readCompacted(), await first.audit.readStatement()]
  await first.close()
  await first.close()
  const second = await openPostgres(url, TERMS.network)
  expect([await second.log.readCompacted(), await second.audit.readStatement()]).toEqual(before)
  expect(await second.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1), NOW)).toBe('repeated')
  await second.close()
})

test('if several processes open an empty database, one of them creates the tables, and all can use them', async () => {
  const url = await createUrl()
  const walls = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url, TERMS.network)))
  expect(await Promise.all(walls.map(({ ledger }) => ledger.checkSpace('next')))).toEqual([
    'open',
    'open',
    'open',
    'open',
  ])
  await Promise.all(walls.map((wall) => wall.close()))
})

test('a running process continues to read and write tables to which another process adds columns', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  const sold = await sellBlock(wall, 'next', 1, 1)
  for (let times = 0; times < 20; times += 1) await wall.ledger.find(sold.payment)
  await queryRows(url, 'ALTER TABLE payments ADD COLUMN later text; ALTER TABLE blocks ADD COLUMN later text')
  expect(await wall.ledger.find(sold.payment)).toEqual(sold)
  expect(await wall.blocks.edit(sold.block, createTestEdit(1, { message: 'x' }), NOW)).toBe('applied')
  await sellBlock(wall, 'next', 2, 2)
  await wall.close()
})

describe('databases that are refused, and the errors about them', () => {
  const readRefusal = async (url: string, network = TERMS.network) => {
    const error = await catchFailure(openPostgres(url, network))
    expect(error).toBeInstanceOf(CannotOpen)
    expect(String(error)).not.toContain('secret')
    return String(error)
  }

  test('a database of another network is refused, and the error does not contain its password', async () => {
    expect(await readRefusal(await newWall(), 'eip155:84532')).toContain(
      'belongs to network eip155:8453, not eip155:84532',
    )
  })

  test('a database of a newer version is refused, and the error does not contain its password', async () => {
    const url = await newWall()
    await queryRows(url, 'INSERT INTO migrations (version) VALUES (99)')
    expect(await readRefusal(url)).toContain('newer version (schema 99')
  })

  test('a database that cannot be reached or does not exist is refused, and the error does not contain its password', async () => {
    expect(await readRefusal('postgres://wall:secret@127.0.0.1:1/wall')).toContain('127.0.0.1:1/wall cannot be used')
    expect(await readRefusal(getServer().getUrl('no_such_database'))).toContain(
      'cannot be used: the database rejected a statement: the database does not exist (3D000)',
    )
    expect(await readRefusal('wall.sqlite')).toContain('is not a URL')
  })

  test.skipIf(reportSkipped('pgbouncer', Bun.which('pgbouncer') !== null)).each([
    ['drops settings', 'transaction', 'drops the session settings'],
    ['drops settings', 'session', 'drops the session settings'],
    ['rejects settings', 'transaction', 'rejects the session settings'],
  ])(
    'a database behind a pooler that %s in %s mode is refused, even if the database itself sets the right timeouts',
    async (how, mode, words) => {
      const url = new URL(await newWall())
      for (const limit of ['statement_timeout = 4000', 'lock_timeout = 3000'])
        await queryRows(url.href, `ALTER DATABASE ${url.pathname.slice(1)} SET ${limit}`)
      const folder = mkdtempSync(join(tmpdir(), 'wall-pooler-'))
      const port = await findFreePort()
      const config = join(folder, 'pgbouncer.ini')
      await Bun.write(
        config,
        `[databases]
* = host=${url.hostname} port=${url.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = ${how === 'rejects settings' ? '' : Object.keys(SESSION_SETTINGS).join()}
`,
      )
      chmodSync(folder, 0o755)
      const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
      const pooler = Bun.spawn(['pgbouncer', ...asNobody, '-q', config], { stdout: 'ignore', stderr: 'ignore' })
      try {
        url.port = String(port)
        // The pooler does not listen until a moment after its start.
        let refusal = await readRefusal(url.href)
        while (refusal.includes('cannot be reached')) refusal = await readRefusal(url.href)
        expect(refusal).toContain(words)
      } finally {
        pooler.kill()
        await pooler.exited
        rmSync(folder, { recursive: true })
      }
    },
  )

  test('a database that does not store text as UTF-8 is refused, and the error does not contain its password', async () => {
    const name = `latin_${crypto.randomUUID().replaceAll('-', '')}`
    await queryRows(
      getServer().getUrl('postgres'),
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`,
    )
    expect(await readRefusal(getServer().getUrl(name))).toContain('uses the encoding LATIN1')
    await queryRows(getServer().getUrl('postgres'), `DROP DATABASE ${name}`)
  })
})

test('the same purchases and texts create the same rows on both engines', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'wall-'))
  const [url, file] = [await newWall(), join(folder, 'wall.sqlite')]
  const walls = [await openPostgres(url, TERMS.network), await openSqlite(file, TERMS.network)] as const
  for (const wall of walls) await writeHistory(wall)
  await Promise.all(walls.map((wall) => wall.close()))
  const sqlite = new Database(file, { readonly: true })
  for (const table of WALL_TABLES) {
    const text = `SELECT ${WALL_COLUMNS[table].join(', ')} FROM ${table}`
    const formatLines = (rows: readonly object[]) =>
      rows.map((row) =>
        Object.values(row)
          .map((cell) => (cell instanceof Uint8Array ? cell.toHex() : String(cell)))
          .join(' '),
      )
    expect(formatLines(await queryRows(url, text)).toSorted()).toEqual(
      formatLines(sqlite.query<object, []>(text).all()).toSorted(),
    )
  }
  sqlite.close()
  rmSync(folder, { recursive: true })
})

test('a process commits nothing once a newer version has upgraded the tables', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  await queryRows(
    url,
    'ALTER TABLE commits DROP CONSTRAINT commits_tables_check, ADD CONSTRAINT commits_tables_check CHECK (tables > 99) NOT VALID',
  )
  const claiming = catchFailure(wall.ledger.claim('next', createTestPayment(1, 1), SILENT, HEAD, NOW, []))
  expect(await claiming).toMatchObject({ message: 'a newer version of the wall has upgraded the database' })
  expect(await wall.ledger.find(createTestPayment(1, 1))).toBeUndefined()
  await wall.close()
})

test('a server without page checksums causes one notice', async () => {
  const url = await newWall()
  const [{ checksums } = { checksums: '' }] = await queryRows<{ checksums: string }>(
    url,
    `SELECT current_setting('data_checksums') AS checksums`,
  )
  let notices = 0
  const wall = await openPostgres(url, TERMS.network, { onUnchecked: () => (notices += 1) })
  expect(notices).toBe(checksums === 'on' ? 0 : 1)
  await wall.close()
})

test('a wall whose database server is restarted continues automatically, and receives notifications again', async () => {
  const own = await startPostgres({ isDurable: true })
  if (own.getUrl('x') === getServer().getUrl('x')) return
  const wall = await openPostgres(own.getUrl(await own.createDatabase()), TERMS.network)
  const sold = await sellBlock(wall, 'next', 1, 1)
  let rung = 0
  let onRing = () => {}
  const waitForRing = () => new Promise<void>((resolve) => (onRing = resolve))
  const first = waitForRing()
  const stop = wall.notifier.listen(() => {
    rung += 1
    onRing()
  })
  await first
  const again = waitForRing()
  await own.kill()
  expect(await catchFailure(wall.ledger.checkSpace('next'))).toBeInstanceOf(StoreUnavailable)
  await own.start()
  expect(await wall.ledger.find(sold.payment)).toEqual(sold)
  await again
  expect(rung).toBe(2)
  stop()
  await wall.close()
  await own.stop()
})

test('a query on a connection that goes silent is abandoned, and succeeds on another connection', async () => {
  const proxy = startCutProxy(await newWall())
  const wall = await openPostgres(proxy.url, TERMS.network, { answerMs: scaleLimit(300) })
  const sprung = proxy.cutAt('EXISTS', 'silence')
  const space = wall.ledger.checkSpace('next')
  await sprung
  expect(await space).toBe('open')
  await wall.close()
  proxy.stop()
})
