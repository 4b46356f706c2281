import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { CannotOpen } from '../../../db/cannot-open.ts'
import type { Engine } from '../../../db/engine.ts'
import { moveWall } from '../../../db/move.ts'
import { openStore } from '../../../db/open.ts'
import { MOVED } from '../../../db/postgres/migration-marker.ts'
import { openPostgres } from '../../../db/postgres/open.ts'
import { openWall } from '../../../db/sqlite/open.ts'
import { WALL_COLUMNS, WALL_TABLES } from '../../../db/wall-rows.ts'
import { createCanvasParts, createPixelParts } from '../../../server/http/canvas/canvas-parts.ts'
import { followLog } from '../../../server/instances/follow-log.ts'
import { catchFailure, reserveTarget, sellBlock, findStoredPurchase } from '../../support/engine.ts'
import { scaleLimit } from '../../support/machine.ts'
import { sellAllBut } from '../../support/nearly-sold.ts'
import { startCutProxy } from '../../support/postgres/cut-proxy.ts'
import { startPostgres, type PostgresServer } from '../../support/postgres/server.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  HEAD,
  createTestListing,
  NOW,
  createTestPayment,
  TERMS,
} from '../../support/samples.ts'
import { addCredits, addOpenPurchases, addHistory } from './lived-in.ts'

type Place = Parameters<typeof openStore>[0]

// Goal: a moved wall is the same wall, down to its last byte, and a failed move leaves nothing behind. Method: real
// files and a real server, both also read with plain SQL.

const folder = mkdtempSync(join(tmpdir(), 'wall-move-'))
const createFilePlace = (name: string): Place & { kind: 'sqlite' } => ({
  kind: 'sqlite',
  path: join(folder, `${name}.sqlite`),
})
const lived = createFilePlace('lived')

let server: PostgresServer
const createServerPlace = async (): Promise<Place & { kind: 'postgres' }> => ({
  kind: 'postgres',
  url: server.getUrl(await server.createDatabase()),
})

beforeAll(async () => {
  server = await startPostgres()
  await useStoreAt(lived, async (wall) => {
    await addHistory(wall, 300)
    await addOpenPurchases(wall, 1000)
  })
}, 30_000)
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

/** Moves a wall, and removes the note of the move, so that the old database can be read unchanged. */
async function moveAndRemoveNote(from: Place, to: Place) {
  const moved = await moveWall(from, to, final)
  await undoMove(from)
  return moved
}

async function undoMove(place: Place): Promise<void> {
  if (place.kind === 'sqlite') rmSync(`${place.path}.moved`)
  else await queryRows(place, 'COMMENT ON TABLE wall IS NULL')
}

// A server notices only after a moment that a client has disconnected.
const final = { timeoutMs: scaleLimit(5000), isRehearsal: false }
const impatient = { ...final, timeoutMs: 0 }
const rehearsal = { timeoutMs: 0, isRehearsal: true }

/** Opens the wall at a location, runs `work` with it, and closes it. */
async function useStoreAt<T>(place: Place, work: (wall: Engine) => Promise<T>): Promise<T> {
  const wall = await openStore(place, TERMS.network)
  try {
    return await work(wall)
  } finally {
    await wall.close()
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Returns each row of a wall as one line, grouped by table. */
async function readAllRows(place: Place): Promise<Record<string, readonly string[]>> {
  const formatRows = (rows: Rows) => rows.map(formatRow).toSorted()
  if (place.kind === 'sqlite') {
    using file = new Database(place.path, { readonly: true })
    return Object.fromEntries(
      WALL_TABLES.map((name) => [name, formatRows(file.query(`SELECT * FROM ${name}`).all() as Rows)]),
    )
  }
  const all: Record<string, readonly string[]> = {}
  for (const name of WALL_TABLES) {
    const rows = await queryRows(place, `SELECT * FROM ${name}`)
    // Only PostgreSQL numbers the stored edits.
    all[name] = formatRows(name === 'edits' ? rows.map(({ id, ...row }) => (id === undefined ? {} : row)) : rows)
  }
  return all
}

function formatRow(row: Rows[number]): string {
  const cells = Object.entries(row).flatMap(([name, cell]) => {
    // Only SQLite has row checksums, and `size`, from which they are computed.
    if (name === 'sum' || name === 'size') return []
    if (cell instanceof Uint8Array) return `${name}: bytes ${cell.toHex()}`
    return `${name}: ${typeof cell === 'string' ? JSON.stringify(cell) : String(cell)}`
  })
  return cells.toSorted().join(', ')
}

/** Runs SQL on a server directly, without the ports. */
async function queryRows({ url }: { readonly url: string }, text: string): Promise<Rows> {
  const sql = new SQL(url, { max: 1, bigint: true })
  try {
    return text.includes(';') ? await sql.unsafe(text).simple() : await sql.unsafe(text)
  } finally {
    await sql.close()
  }
}

/** The bodies of `GET /api/canvas` and its pixels, before compression. */
async function readCanvas({ log }: Pick<Engine, 'log'>): Promise<readonly Uint8Array[]> {
  const { view } = await followLog(log)
  return [createCanvasParts(view, TERMS), createPixelParts(view)].map((parts) =>
    Buffer.concat(parts.take().map(([, content]) => content)),
  )
}

const readFailureMessage = async (work: Promise<unknown>): Promise<string> => {
  const failure = await catchFailure(work)
  expect(failure).toBeInstanceOf(CannotOpen)
  return failure instanceof Error ? failure.message : ''
}

/** Whether a location has no wall: no file, or an empty database. */
async function isEmpty(place: Place): Promise<boolean> {
  if (place.kind === 'sqlite') {
    const files = await Array.fromAsync(new Bun.Glob(`${place.path.split('/').at(-1)}*`).scan({ cwd: folder }))
    return files.every((name) => name.endsWith('.lock'))
  }
  const [row] = await queryRows(
    place,
    `SELECT (SELECT count(*) FROM changes) + (SELECT count(*) FROM payments) + (SELECT count(*) FROM wall)
      + (SELECT count(*) FROM blocks WHERE state <> 'open') AS count`,
  )
  return Number(row?.['count']) === 0
}

describe('a wall that moves to PostgreSQL and back', () => {
  test('a wall that moved to PostgreSQL and back has the same rows in every table and the same canvas bytes as before', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('back')]
    const moved = await moveAndRemoveNote(lived, there)
    expect(moved).toMatchObject({
      blocks: 14_400,
      payments: 308,
      moderated: 30,
      purchase_painters: 43,
      payouts: 2,
      wall: 1,
    })
    const rows = await readAllRows(lived)
    expect(await readAllRows(there)).toEqual(rows)
    expect(await moveAndRemoveNote(there, back)).toEqual(moved)
    expect(await readAllRows(back)).toEqual(rows)
    const [first, ...others] = [
      await useStoreAt(lived, readCanvas),
      await useStoreAt(there, readCanvas),
      await useStoreAt(back, readCanvas),
    ]
    expect(others).toEqual([first ?? [], first ?? []])
  })

  test('a moved wall sells the same next block as the original, under the same numbers, and recognises a repeated edit', async () => {
    const buyNext = async (wall: Engine) => {
      const { number } = (await wall.log.readCompacted()).at(-1) ?? { number: 0 }
      const { block } = await sellBlock(wall, 'next', 60, 60_000)
      const again = await wall.blocks.edit(block, createTestEdit(70_000, { message: 'x' }), NOW)
      const known = await wall.blocks.edit(block, createTestEdit(70_000, { message: 'x' }), NOW)
      return {
        block,
        again,
        known,
        news: await wall.log.readAfter(number, 9),
        owned: await wall.blocks.findOwned(block),
      }
    }
    const [source, there, back] = [createFilePlace('sells'), await createServerPlace(), createFilePlace('sells-again')]
    await Bun.write(source.path, Bun.file(lived.path))
    await moveAndRemoveNote(source, there)
    await moveAndRemoveNote(there, back)
    const expected = await useStoreAt(source, buyNext)
    expect(expected.news).toMatchObject([{ kind: 'sale' }, { kind: 'repaint' }])
    expect(expected.known).toBe('repeated')
    expect(await useStoreAt(there, buyNext)).toEqual(expected)
    expect(await useStoreAt(back, buyNext)).toEqual(expected)
    expect(await readAllRows(there)).toEqual(await readAllRows(source))
  })

  test('a sold-out wall with credits can be moved', async () => {
    const [source, there] = [createFilePlace('sold-out'), await createServerPlace()]
    const connection = openWall(source.path, TERMS.network)
    sellAllBut(60, connection)
    connection.close()
    await useStoreAt(source, async (wall) => {
      await addHistory(wall, 60)
      await addCredits(wall, 20_000)
    })
    expect(await moveAndRemoveNote(source, there)).toMatchObject({ blocks: 14_400, payments: 14_402 })
    expect(await readAllRows(there)).toEqual(await readAllRows(source))
    const { credits } = await useStoreAt(there, ({ ledgerReader }) =>
      ledgerReader.readAccount(createTestPayment(40, 1).payer),
    )
    // The operator has paid the other of the two credits back.
    expect(credits).toHaveLength(1)
  })

  test('a wall that has never sold anything can be moved', async () => {
    const [source, there, back] = [createFilePlace('new'), await createServerPlace(), createFilePlace('new-again')]
    await useStoreAt(source, async () => {})
    await useStoreAt(there, async () => {})
    await moveAndRemoveNote(source, there)
    await moveAndRemoveNote(there, back)
    expect(await readAllRows(back)).toEqual(await readAllRows(source))
    expect((await useStoreAt(there, (wall) => sellBlock(wall, 'next', 1, 1))).block).toBe(parseBlockOrThrow('79,44'))
  })
})

test('a move copies every column of every table, except derived data and the data of running processes', async () => {
  const there = await createServerPlace()
  await useStoreAt(there, async () => {})
  using file = new Database(lived.path, { readonly: true })
  const here = file
    .query(`SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
      WHERE t.type = 'table'`)
    .all() as Rows
  const beyond = await queryRows(
    there,
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns WHERE table_schema = 'public'`,
  )
  const kept = WALL_TABLES.flatMap((table) => WALL_COLUMNS[table].map((column) => `${table}.${column}`)).toSorted()
  const formatNames = (rows: Rows) =>
    rows
      .map(({ table, column }) => `${String(table)}.${String(column)}`)
      .filter((name) => !name.endsWith('.sum') && name !== 'payments.size')
      .toSorted()
  expect(formatNames(here)).toEqual(kept)
  // These tables hold derived data, or data of the current processes.
  const own = ['counters', 'leases', 'commits', 'migrations', 'sales']
  expect(formatNames(beyond.filter(({ table }) => !own.includes(String(table))))).toEqual(
    [...kept, 'edits.id'].toSorted(),
  )
})

test('no wall starts at the old location after a move, until the move is undone or reversed', async () => {
  const [source, there, back] = [createFilePlace('left'), await createServerPlace(), createFilePlace('left-back')]
  await useStoreAt(source, (wall) => sellBlock(wall, 'next', 1, 1))
  await moveWall(source, there, final)
  expect(await readFailureMessage(useStoreAt(source, async () => {}))).toMatch(
    /has moved to [\w.]+:\d+\/wall_\w+ at \d{4}-/,
  )
  expect(await readFailureMessage(moveWall(source, await createServerPlace(), final))).toContain('has moved to')
  await undoMove(source)
  await useStoreAt(source, (wall) => sellBlock(wall, 'next', 2, 2))

  await Bun.write(`${back.path}.moved`, 'has moved to somewhere before that')
  await moveWall(there, back, final)
  expect(await readFailureMessage(useStoreAt(there, async () => {}))).toContain(`has moved to ${back.path} at `)
  expect(await readFailureMessage(moveWall(there, createFilePlace('left-again'), final))).toContain('has moved to')
  await undoMove(there)
  await useStoreAt(there, (wall) => sellBlock(wall, 'next', 2, 2))
  await useStoreAt(back, (wall) => sellBlock(wall, 'next', 2, 2))
})

describe('the old and the new location can never both sell:', () => {
  test('after a move, an instance that the move did not detect can neither write nor read', async () => {
    const [source, there, back] = [createFilePlace('unseen'), await createServerPlace(), createFilePlace('unseen-back')]
    await useStoreAt(source, (wall) => sellBlock(wall, '3,4', 1, 1))
    await moveWall(source, there, final)
    const proxy = startCutProxy(there.url)
    try {
      const cutOff = await openPostgres(proxy.url, TERMS.network)
      const held = await reserveTarget(cutOff, parseBlockOrThrow('5,6'), createTestPayment(2, 2))
      proxy.breakDown()
      await moveWall(there, back, final)
      proxy.endFailures()
      const steps = [
        () => cutOff.ledger.finalize(held, toHash(2), true, NOW),
        () =>
          cutOff.ledger.claim(parseBlockOrThrow('7,8'), createTestPayment(3, 3), createTestListing(), HEAD, NOW, []),
        () => cutOff.ledger.find(held.payment),
      ]
      for (const step of steps) expect(await catchFailure(step())).toMatchObject({ message: MOVED })
      await cutOff.close()
    } finally {
      proxy.stop()
    }
    expect((await useStoreAt(back, (wall) => findStoredPurchase(wall, createTestPayment(2, 2)))).state.kind).toBe(
      'reserved',
    )
  })

  test('a transaction that began before the move is rejected at its commit', async () => {
    const there = await createServerPlace()
    await useStoreAt(there, async (wall) => {
      const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
      const waiting = new SQL(there.url, { max: 1 })
      await waiting
        .begin(async (vandal) => {
          await vandal`SELECT 1 FROM counters FOR UPDATE`
          const selling = catchFailure(wall.ledger.finalize(held, toHash(1), true, NOW))
          await waitForLockWaiter(there)
          await queryRows(there, "COMMENT ON TABLE wall IS 'has moved to another place'")
          return { selling }
        })
        .then(async ({ selling }) => expect(await selling).toMatchObject({ message: MOVED }))
      await waiting.close()
      const further = [
        () => wall.ledger.claim(parseBlockOrThrow('5,6'), createTestPayment(2, 2), createTestListing(), HEAD, NOW, []),
        () => wall.payouts.recordReference(createTestPayment(9, 9), 'x', NOW),
        () => wall.compaction.dropEntries([7]),
      ]
      for (const step of further) expect(await catchFailure(step())).toMatchObject({ message: MOVED })
      expect(await wall.store.tryWrite()).toEqual({ of: 'store-write', reason: MOVED })
      await undoMove(there)
      expect((await findStoredPurchase(wall, held.payment)).state.kind).toBe('reserved')
    })
  })

  test('if the connection to the new database is lost during the commit, the old file stays closed, and the error says that the outcome is unknown', async () => {
    const [source, there] = [createFilePlace('doubt'), await createServerPlace()]
    await useStoreAt(source, (wall) => sellBlock(wall, 'next', 1, 1))
    const proxy = startCutProxy(there.url)
    try {
      const cut = proxy.cutAt('COMMIT', 'before', 'ANALYZE')
      expect(await readFailureMessage(moveWall(source, { ...there, url: proxy.url }, final))).toContain(
        'it is not known whether the wall is there',
      )
      await cut
    } finally {
      proxy.stop()
    }
    expect(await readFailureMessage(useStoreAt(source, async () => {}))).toContain('has moved to')
    expect(await isEmpty(there)).toBe(true)
    await undoMove(source)
    await moveAndRemoveNote(source, there)
  })

  test('if the new file cannot be renamed into place, the old database can be opened again', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('nameless')]
    await useStoreAt(there, (wall) => sellBlock(wall, 'next', 1, 1))
    const moving = catchFailure(moveWall(there, back, final))
    while (!existsSync(`${back.path}.unfinished`)) await Bun.sleep(1)
    mkdirSync(back.path)
    expect(await moving).toMatchObject({ message: expect.stringContaining('cannot create') })
    rmSync(back.path, { recursive: true })
    await useStoreAt(there, (wall) => sellBlock(wall, 'next', 2, 2))
    await moveAndRemoveNote(there, back)
  })

  test('if something fails after the new file is renamed into place, the old database stays closed', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('late')]
    await useStoreAt(there, (wall) => sellBlock(wall, 'next', 1, 1))
    // A folder in place of the note cannot be removed as a file.
    mkdirSync(`${back.path}.moved`)
    expect(await readFailureMessage(moveWall(there, back, final))).toContain('the old location stays closed')
    rmSync(`${back.path}.moved`, { recursive: true })
    expect(await readFailureMessage(useStoreAt(there, async () => {}))).toContain('has moved to')
    expect((await useStoreAt(back, (wall) => wall.audit.readStatement())).claimed).toBe(1)
  })

  test('if the note of the move cannot be stored in the old database, no new file is left', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('no-note')]
    await useStoreAt(there, (wall) => wall.payouts.recordReference(createTestPayment(1, 1), 'x', NOW))
    await queryRows(
      there,
      renderCommitTrigger('leases', "RAISE EXCEPTION 'no' USING ERRCODE = 'integrity_constraint_violation'"),
    )
    await queryRows(
      there,
      `CREATE FUNCTION touch() RETURNS event_trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO leases VALUES ('a', 'b', gen_random_uuid(), now()); END $$;
      CREATE EVENT TRIGGER touches ON ddl_command_end WHEN TAG IN ('COMMENT') EXECUTE FUNCTION touch()`,
    )
    expect(await readFailureMessage(moveWall(there, back, final))).toContain('23000')
    expect(await isEmpty(back)).toBe(true)
    await useStoreAt(there, (wall) => sellBlock(wall, 'next', 1, 1))
  })
})

/** SQL that runs a statement at the commit of each transaction that inserts into a table. */
const renderCommitTrigger = (table: string, body: string) => `
  CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER meddles AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION meddle()`

/** Resolves once a transaction waits for a lock in the database. */
async function waitForLockWaiter(place: { readonly url: string }): Promise<void> {
  const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  while ((await queryRows(place, waits)).length === 0) await Bun.sleep(5)
}

describe('a rehearsal', () => {
  test('a rehearsal performs the whole move while the wall continues to sell, and leaves nothing behind', async () => {
    const [source, there, back] = [
      createFilePlace('rehearsed'),
      await createServerPlace(),
      createFilePlace('rehearsed-back'),
    ]
    await Bun.write(source.path, Bun.file(lived.path))
    await useStoreAt(source, async (wall) => {
      expect((await moveWall(source, there, rehearsal)).payments).toBe(308)
      await sellBlock(wall, 'next', 61, 61_000)
    })
    expect(await isEmpty(there)).toBe(true)
    expect((await moveAndRemoveNote(source, there)).payments).toBe(309)
    await useStoreAt(there, async (wall) => {
      expect((await moveWall(there, back, rehearsal)).payments).toBe(309)
      await sellBlock(wall, 'next', 62, 62_000)
    })
    expect(await isEmpty(back)).toBe(true)
  })
})

describe('a move that is refused leaves nothing at its destination:', () => {
  test('a move is refused while a wall is open at either location', async () => {
    const [source, there, back] = [
      createFilePlace('running'),
      await createServerPlace(),
      createFilePlace('running-back'),
    ]
    await Bun.write(source.path, Bun.file(lived.path))
    await useStoreAt(source, async () => {
      expect(await readFailureMessage(moveWall(source, there, impatient))).toContain('another process is using')
    })
    await useStoreAt(there, async () => {
      expect(await readFailureMessage(moveWall(source, there, impatient))).toContain('a wall is using the database')
      expect(await readFailureMessage(moveWall(there, back, impatient))).toContain('a wall is using the database')
    })
    expect(await isEmpty(back)).toBe(true)
    await moveAndRemoveNote(source, there)
  })

  test('a move is refused if the new location contains a wall or a file, and changes nothing there', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('taken')]
    await useStoreAt(there, (wall) => wall.payouts.recordReference(createTestPayment(1, 1), 'x', NOW))
    const before = await readAllRows(there)
    expect(await readFailureMessage(moveWall(lived, there, final))).toContain('already contains a wall')
    expect(await readFailureMessage(moveWall(lived, there, rehearsal))).toContain('already contains a wall')
    expect(await readAllRows(there)).toEqual(before)
    for (const ending of ['', '-wal', '-shm']) {
      await Bun.write(`${back.path}${ending}`, 'mine')
      expect(await readFailureMessage(moveWall(there, back, final))).toContain('exists')
      expect(await Bun.file(`${back.path}${ending}`).text()).toBe('mine')
      rmSync(`${back.path}${ending}`)
    }
  })

  test('a move is refused if any row is damaged', async () => {
    const changes = [
      `UPDATE blocks SET rank = rank + 100000 WHERE i = 0`,
      `UPDATE blocks SET message = 'forged' WHERE rank = 0`,
      `UPDATE payments SET amount = 2000000 WHERE id = 3`,
      `UPDATE agents SET name = 'Eve' WHERE id = 2`,
      `UPDATE moderated SET hidden = 7 WHERE block = (SELECT min(block) FROM moderated)`,
      `UPDATE wall SET seen_height = 1`,
      `UPDATE changes SET message = 'forged' WHERE number = 5`,
    ]
    const there = await createServerPlace()
    for (const [number, change] of changes.entries()) {
      const damaged = createFilePlace(`damaged-${number}`)
      await Bun.write(damaged.path, Bun.file(lived.path))
      const vandal = new Database(damaged.path)
      vandal.run(`DROP TRIGGER changes_are_never_rewritten; DROP TRIGGER payments_at_their_end_stay_there; ${change}`)
      vandal.close(true)
      expect(await readFailureMessage(moveWall(damaged, there, final))).toMatch(
        /row \d+ of \w+ is damaged|the database is damaged/,
      )
    }
  })

  test('a move is refused if the log lacks a sale', async () => {
    const [whole, back] = [await createServerPlace(), createFilePlace('gap')]
    await moveAndRemoveNote(lived, whole)
    await queryRows(
      whole,
      `ALTER TABLE changes DISABLE TRIGGER USER; DELETE FROM edits;
      ALTER TABLE payments DROP CONSTRAINT payments_seq_fkey;
      ALTER TABLE blocks DROP CONSTRAINT blocks_changed_fkey;
      DELETE FROM changes WHERE seq = 2`,
    )
    expect(await readFailureMessage(moveWall(whole, back, final))).toContain('the log lacks sale 2')
    expect(await isEmpty(back)).toBe(true)
  })

  test('a move leaves nothing behind if the new database rejects a row, or disconnects during the move', async () => {
    const there = await createServerPlace()
    await moveWall(lived, there, rehearsal)
    await queryRows(there, 'ALTER TABLE edits ADD CHECK (number < 50)')
    expect(await readFailureMessage(moveWall(lived, there, final))).toContain('23514')
    await queryRows(
      there,
      `CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;
      CREATE TRIGGER leaves BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION leave();
      ALTER TABLE edits DROP CONSTRAINT edits_number_check`,
    )
    expect(await readFailureMessage(moveWall(lived, there, final))).toMatch(/57P01|CONNECTION/)
    await queryRows(there, 'DROP TRIGGER leaves ON payouts')
    expect(await isEmpty(there)).toBe(true)
    await moveAndRemoveNote(lived, there)
  })

  test('a move is refused if the new database returns rows that differ from those written', async () => {
    const changes = {
      payouts: `NEW.reference = 'something else'; RETURN NEW`,
      edits: 'RETURN NULL',
      agents: `NEW.name = 'Eve'; RETURN NEW`,
    }
    const there = await createServerPlace()
    await moveWall(lived, there, rehearsal)
    for (const [table, body] of Object.entries(changes)) {
      await queryRows(
        there,
        `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; END $$;
        CREATE TRIGGER meddles BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION meddle()`,
      )
      expect(await readFailureMessage(moveWall(lived, there, final))).toMatch(
        /a different row 1 in (payouts|agents)|stored 0 rows of edits instead/,
      )
      expect(await isEmpty(there)).toBe(true)
      await queryRows(there, `DROP TRIGGER meddles ON ${table}; DROP FUNCTION meddle`)
    }
  })

  test('a move succeeds despite the files that a killed move left, and removes them', async () => {
    const [source, there, back] = [createFilePlace('killed'), await createServerPlace(), createFilePlace('killed-back')]
    await Bun.write(source.path, Bun.file(lived.path))
    for (const ending of ['', '-wal', '-journal'])
      for (const left of [`${source.path}.leaving`, `${back.path}.unfinished`])
        await Bun.write(`${left}${ending}`, 'half')
    await moveAndRemoveNote(source, there)
    await moveAndRemoveNote(there, back)
    expect(await readAllRows(back)).toEqual(await readAllRows(lived))
    expect(await Array.fromAsync(new Bun.Glob('killed*{leaving,unfinished}*').scan({ cwd: folder }))).toEqual([])
  })

  test('a move is refused if the old location has no wall, or if both locations use the same kind of database', async () => {
    const [there, back] = [await createServerPlace(), createFilePlace('nowhere')]
    expect(await readFailureMessage(moveWall(createFilePlace('none'), there, final))).toContain('no database at')
    expect(await readFailureMessage(moveWall(there, back, final))).toContain('the database has no tables')
    expect(await readFailureMessage(moveWall(lived, back, final))).toContain('already uses that kind of database')
    expect(await isEmpty(back)).toBe(true)
  })
})

test('a compacted log keeps the numbers of its entries when its wall moves to PostgreSQL and back', async () => {
  const [gapped, there, back] = [createFilePlace('gapped'), await createServerPlace(), createFilePlace('gapped-back')]
  await useStoreAt(gapped, async (wall) => {
    await sellBlock(wall, '3,4', 1, 1)
    for (const number of [1, 2, 3])
      await wall.blocks.edit(
        parseBlockOrThrow('3,4'),
        { ...createTestEdit(number, { message: `${number}` }), ts: 0 },
        NOW,
      )
    await wall.compaction.dropEntries([2, 3])
  })
  const readNumbers = (place: Place) =>
    useStoreAt(place, async ({ log }) => (await log.readAfter(0, 9)).map(({ number }) => number))
  await moveWall(gapped, there, final)
  expect(await readNumbers(there)).toEqual([1, 4])
  await moveWall(there, back, final)
  expect(await readNumbers(back)).toEqual([1, 4])
  await useStoreAt(back, async (wall) => void (await sellBlock(wall, '5,6', 2, 2)))
  expect(await readNumbers(back)).toEqual([1, 4, 5])
})
