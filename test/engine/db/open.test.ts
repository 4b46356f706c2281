import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { CannotOpen } from '../../../db/cannot-open.ts'
import wallOfTheFirstVersion from '../../../db/migrations/0001_wall.sqlite.sql' with { type: 'text' }
import { DatabaseInUse } from '../../../db/sqlite/errors.ts'
import { checkVersion, openSqlite, openSqliteUnchecked } from '../../../db/sqlite/open.ts'
import { catchFailure, sellBlock } from '../../support/engine.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  createTestIdentity,
  NOW,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { WAYS } from './ways.ts'

// Goal: a database is opened by one process, for one network, and only if it is undamaged. Method: real files, and a
// real second process.

const folder = createScratchFolder()

const locateFile = (name: string) => join(folder, `${name}.sqlite`)

test('a reopened wall has the same purchases and log as before, and recognises a repeated edit', async () => {
  const path = locateFile('again')
  const first = await openSqlite(path, TERMS.network)
  const purchase = await sellBlock(first, '3,4', 1, 1)
  await first.blocks.edit(purchase.block, createTestEdit(1, { message: 'x' }), NOW)
  await first.agents.register(createWalletAddress(1), createTestIdentity(2, { name: 'Bob' }), NOW)
  const before = [await first.ledger.find(purchase.payment), await first.log.readAfter(0, 9)]
  first.close()
  const second = await openSqlite(path, TERMS.network)
  expect([await second.ledger.find(purchase.payment), await second.log.readAfter(0, 9)]).toEqual(before)
  expect(await second.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1, { message: 'x' }), NOW)).toBe('repeated')
  second.close()
})

test('after a wall is closed, only its database file and its lock file remain', async () => {
  const path = locateFile('closed')
  const engine = await openSqlite(path, TERMS.network)
  await sellBlock(engine, 'next', 1, 1)
  engine.close()
  engine.close()
  const beside = await Array.fromAsync(new Bun.Glob('closed.sqlite*').scan({ cwd: folder }))
  expect(beside.toSorted()).toEqual(['closed.sqlite', 'closed.sqlite.lock'])
})

test('a wall whose process was killed accepts writes as soon as its file has been checked', async () => {
  const path = locateFile('cut')
  const cut = locateFile('cut-off')
  const owner = await openSqlite(path, TERMS.network)
  await sellBlock(owner, '3,4', 1, 1)
  for (const ending of ['', '-wal']) copyFileSync(path + ending, cut + ending)
  owner.close()
  for (let times = 0; times < 8; times++) {
    const again = locateFile(`cut-${times}`)
    for (const ending of ['', '-wal']) copyFileSync(cut + ending, again + ending)
    const { store, checked } = await openSqliteUnchecked(again, TERMS.network)
    // The result of the check arrives only after the network of the wall was stored.
    expect(await checked).toBe('whole')
    store.close()
  }
})

describe('the lock of a database file', () => {
  test('an open database cannot be opened a second time under any name until it is closed', async () => {
    const path = locateFile('mine')
    const alias = locateFile('alias')
    const owner = await openSqlite(path, TERMS.network)
    symlinkSync(path, alias)
    for (const name of [path, alias])
      expect(await catchFailure(openSqlite(name, TERMS.network, { timeoutMs: 0 }))).toBeInstanceOf(DatabaseInUse)
    owner.close()
    ;(await openSqlite(path, TERMS.network, { timeoutMs: 0 })).close()
  })

  test('a database stays locked even after its handle is garbage-collected', async () => {
    const path = locateFile('forgotten')
    await openSqlite(path, TERMS.network)
    Bun.gc(true)
    expect(String(await catchFailure(openSqlite(path, TERMS.network, { timeoutMs: 0 })))).toContain(
      'another process is using',
    )
  })

  test('a second process cannot open a file while the first process lives, but can open it once the first process is killed', async () => {
    const path = locateFile('theirs')
    const child = Bun.spawn([process.execPath, Bun.fileURLToPath(import.meta.resolve('./seller.ts')), path], {
      stdout: 'pipe',
    })
    const output = child.stdout.getReader()
    await output.read()
    expect(await catchFailure(openSqlite(path, TERMS.network, { timeoutMs: 0 }))).toBeInstanceOf(DatabaseInUse)
    const waiting = openSqlite(path, TERMS.network)
    child.kill('SIGKILL')
    ;(await waiting).close()
    await output.cancel()
  })
})

describe.each(WAYS)('files that are refused and left unchanged if opened %s', (way, open) => {
  const readRefusal = async (path: string) => {
    const before = await Bun.file(path).bytes()
    const error: unknown = await open(path, TERMS.network, { timeoutMs: 0 }).catch((reason: unknown) => reason)
    expect(await Bun.file(path).bytes()).toEqual(before)
    expect(error).toBeInstanceOf(CannotOpen)
    return error instanceof Error ? error.message : ''
  }

  test('a file that is not a database is refused', async () => {
    const path = locateFile(`text ${way}`)
    await Bun.write(path, 'a text that is long enough to be read as a header, but is none. '.repeat(64))
    expect(await readRefusal(path)).toContain('SQLITE_NOTADB')
  })

  test('the database of another program is refused', async () => {
    const path = locateFile(`foreign ${way}`)
    const foreign = new Database(path)
    foreign.run('CREATE TABLE notes (text TEXT)')
    foreign.close(true)
    expect(await readRefusal(path)).toContain('another program')
  })

  test('the database of a newer version is refused', async () => {
    const path = locateFile(`newer ${way}`)
    ;(await openSqlite(path, TERMS.network)).close()
    const newer = new Database(path)
    newer.run('PRAGMA user_version = 99; PRAGMA journal_mode = DELETE')
    newer.close(true)
    expect(await readRefusal(path)).toContain('newer version')
  })

  test('a damaged database is refused', async () => {
    const path = locateFile(`damaged ${way}`)
    ;(await openSqlite(path, TERMS.network)).close()
    const bytes = await Bun.file(path).bytes()
    await Bun.write(path, bytes.fill(0xee, 200_000, 220_000))
    expect(await readRefusal(path)).toMatch(/damaged|SQLITE_CORRUPT/)
  })

  test('a path in a folder that does not exist is refused', async () => {
    expect(
      await catchFailure(open(join(folder, 'none', 'wall.sqlite'), TERMS.network, { timeoutMs: 0 })),
    ).toBeInstanceOf(CannotOpen)
  })

  test('the database of another network is refused, and its lock is released', async () => {
    const path = locateFile(`network ${way}`)
    ;(await openSqlite(path, TERMS.network)).close()
    expect(String(await catchFailure(open(path, 'eip155:84532')))).toContain('belongs to network eip155:8453')
    ;(await openSqlite(path, TERMS.network, { timeoutMs: 0 })).close()
  })
})

test.each(WAYS)('a damaged index of a file that is opened %s is rebuilt', async (way, open) => {
  const path = locateFile(`index ${way}`)
  const wall = await openSqlite(path, TERMS.network)
  const { block } = await sellBlock(wall, '3,4', 1, 1)
  await wall.blocks.edit(block, createTestEdit(1, { message: 'x' }), NOW)
  wall.close()
  await flipBit('edits_by_age', path)
  expect(listFlaws(path)).not.toEqual(['ok'])
  const again = await open(path, TERMS.network)
  again.close()
  expect(listFlaws(path)).toEqual(['ok'])
})

function listFlaws(path: string): unknown[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.query('PRAGMA integrity_check').values().flat()
  } finally {
    db.close(true)
  }
}

/** Flips the lowest bit of the key in an index of times that has one entry. */
async function flipBit(index: string, path: string): Promise<void> {
  const db = new Database(path, { readonly: true })
  const page = db
    .query<{ start: number }, [string]>(
      `SELECT (rootpage - 1) * page_size AS start FROM sqlite_schema, pragma_page_size WHERE name = ?`,
    )
    .get(index)
  db.close(true)
  const file = Buffer.from(await Bun.file(path).bytes())
  const start = page?.start ?? 0
  // A page of an index begins with a header of eight bytes and the offset of the entry. The entry begins with its
  // length (one byte) and a header of three bytes; the time takes six.
  const entry = start + file.readUInt16BE(start + 8)
  const lowest = entry + 1 + 3 + 5
  file.writeUInt8(file.readUInt8(lowest) ^ 1, lowest)
  await Bun.write(path, file)
}

test('a version of SQLite that can lose commits is refused', () => {
  for (const version of ['3.51.3', '3.52.0', '3.100.1', '4.0.0']) expect(() => checkVersion(version)).not.toThrow()
  for (const version of ['3.51.2', '3.50.9', '3.7.0', '2.99.99', ''])
    expect(() => checkVersion(version)).toThrow(CannotOpen)
})

test('a database with the first version of the tables is migrated, and its wall sells, repaints and compacts its log', async () => {
  const path = join(folder, 'first-version.sqlite')
  const first = new Database(path)
  first.run(wallOfTheFirstVersion)
  first.run('PRAGMA user_version = 1')
  first.close(true)
  const store = await openSqlite(path, TERMS.network)
  await sellBlock(store, '3,4', 1, 1)
  for (const at of [1, 2])
    await store.blocks.edit(parseBlockOrThrow('3,4'), { ...createTestEdit(at, { message: `${at}` }), ts: 0 }, NOW)
  await store.compaction.dropEntries([2])
  await store.agents.namePainter(createWalletAddress(1), { painter: createWalletAddress(9), ts: NOW })
  store.close()
  const again = await openSqlite(path, TERMS.network)
  expect((await again.log.readAfter(0, 9)).map(({ number }) => number)).toEqual([1, 3])
  expect(await again.blocks.findOwned(parseBlockOrThrow('3,4'))).toHaveProperty('painter', createWalletAddress(9))
  again.close()
})
