/**
 * Row checksums: every row has a hash of its content, computed in the transaction that wrote the row, because SQLite's
 * own check misses most flipped bits in a file. A row that does not match its checksum is damaged: it is no longer
 * served or written, but all other rows remain available.
 *
 * Triggers note which rows a transaction touches, and what these rows contained before. The old checksums are verified
 * and new ones computed just before the commit, so writers need not handle them. A writer of hundreds of rows supplies
 * the checksums itself, because it knows the new content and has checked the rows in the same transaction. This saves
 * reading and writing each row again.
 */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import {
  computeHash,
  renderChecksumSql,
  matchesChecksum,
  SUM_BYTES,
  SUMMED,
  TABLES,
  type DamagedRow,
  type Table,
} from '../row-checksums.ts'
import type { Prepared, RawConnection } from './raw.ts'

/** The column with a table's row numbers. */
const getKeyColumn = (table: Table) => SUMMED[table][0]

/** Maintains the row checksums of one connection. */
export type Sums = {
  /**
   * Computes the checksums of the rows that the current transaction has touched. Throws `StoreUnavailable` if a row was
   * already damaged.
   */
  updateChecksums(): void
  /** Throws `StoreUnavailable` if one of these rows is damaged. */
  checkRows(table: Table, rows: readonly number[]): void
  /** Marks rows as damaged after a check found the damage. */
  excludeRows(rows: readonly DamagedRow[]): void
  /** Whether any row was found damaged. */
  isDamaged(): boolean
  /** Excludes damaged rows from all further reads; must be called outside of a transaction. */
  excludeDamaged(): void
}

/** SQL for the condition that `column` contains the number of a damaged row. */
export const renderDamagedCondition = (table: Table, column: string) =>
  `${column} IN (SELECT id FROM damaged WHERE name = '${table}')`

/** Starts maintaining checksums. Calls `onDamaged` only once for each damaged row. */
export function maintainChecksums(connection: RawConnection, onDamaged: (row: DamagedRow) => void): Sums {
  connection.run(BOOKKEEPING)
  connection.run(TABLES.map(renderTriggers).join(''))
  const sql = prepareStatements(connection)
  const known = new Set<string>()
  let found: DamagedRow[] = []
  const rejectDamagedRow = (table: Table, row: number): never => {
    found.push({ table, row })
    throw new StoreUnavailable(`row ${row} of ${table} is damaged`)
  }
  const sums: Sums = {
    updateChecksums() {
      const touched = sql.touched.all({})
      if (touched.length === 0) return
      for (const table of new Set(touched.map(({ name }) => name))) {
        const ids = new Set<number>()
        for (const { name, id, was, sum } of touched) {
          if (name !== table || ids.has(id)) continue
          if (was !== null && !matchesChecksum(table, id, was, sum)) rejectDamagedRow(table, id)
          ids.add(id)
        }
        const rows = sql.read(table, [...ids])
        const made = Buffer.alloc(SUM_BYTES * rows.length)
        for (const [at, { held }] of rows.entries()) made.writeBigUInt64BE(computeHash(held), SUM_BYTES * at)
        sql.write(table).run({ ids: JSON.stringify(rows.map(({ id }) => id)), sums: made })
      }
      sql.forget.run({})
    },
    checkRows(table, ids) {
      const wrong = sql.read(table, ids).filter(({ id, held, sum }) => !matchesChecksum(table, id, held, sum))
      if (wrong.length === 0) return
      // If this transaction wrote the row, `updateChecksums` checks its old content and computes its new checksum at
      // the end.
      const own = new Set(sql.touchedOf.all({ name: table }).map(({ id }) => id))
      for (const { id } of wrong) if (!own.has(id)) rejectDamagedRow(table, id)
    },
    excludeRows(rows) {
      found.push(...rows)
      sums.excludeDamaged()
    },
    isDamaged: () => known.size > 0,
    excludeDamaged() {
      const news = found.filter(({ table, row }) => !known.has(`${table} ${row}`))
      found = []
      for (const { table, row } of news) {
        known.add(`${table} ${row}`)
        sql.keepOut.run({ name: table, id: row })
        onDamaged({ table, row })
      }
    },
  }
  return sums
}

/**
 * Returns the rows that do not match their checksums. In the log, checks only rows that meet the condition `ofChanges`.
 * Only reads.
 */
export function listDamagedRows(connection: RawConnection, ofChanges = 'TRUE'): DamagedRow[] {
  const found: DamagedRow[] = []
  for (const table of TABLES) {
    const all = connection.prepare<Row>(`
      SELECT ${getKeyColumn(table)} AS id, ${renderChecksumSql(SUMMED[table])} AS held, sum FROM ${table}
      WHERE ${table === 'changes' ? ofChanges : 'TRUE'}`)
    for (const { id, held, sum } of all.iterate({}))
      if (!matchesChecksum(table, id, held, sum)) found.push({ table, row: id })
  }
  return found
}

type Row = { readonly id: number; readonly held: Uint8Array; readonly sum: Uint8Array | null }

// Temporary tables belong to this connection, are in memory, and take part in its transactions. Looking for an earlier
// record would take a third of the write's time, so a row that is touched twice is recorded twice, first with its
// initial content.
const BOOKKEEPING = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE touched (name TEXT, id INTEGER, was BLOB, sum BLOB);
  CREATE TEMP TABLE damaged (name TEXT, id INTEGER, PRIMARY KEY (name, id)) WITHOUT ROWID;`

/** Triggers that note the rows a transaction writes without supplying checksums, and their previous content. */
function renderTriggers(table: Table): string {
  const columns = SUMMED[table]
  const renderInsert = (row: 'OLD' | 'NEW', was: string, sum: string) =>
    `INSERT INTO touched VALUES ('${table}', ${row}.${getKeyColumn(table)}, ${was}, ${sum});`
  return `
    CREATE TEMP TRIGGER ${table}_made AFTER INSERT ON main.${table} WHEN NEW.sum IS NULL
    BEGIN ${renderInsert('NEW', 'NULL', 'NULL')} END;
    CREATE TEMP TRIGGER ${table}_changed BEFORE UPDATE OF ${columns.join(', ')} ON main.${table} WHEN NEW.sum IS OLD.sum
    BEGIN ${renderInsert('OLD', renderChecksumSql(columns, 'OLD.'), 'OLD.sum')} END;`
}

// One statement reads all the given rows of a table, and one writes all their checksums. This makes transactions for an
// area of 400 blocks a seventh faster.
function prepareStatements(connection: RawConnection) {
  const read = cachePerTable((table): Prepared<Row, { ids: string }> => {
    const of = `${table}.`
    return connection.prepare(`
      SELECT ${of}${getKeyColumn(table)} AS id, ${renderChecksumSql(SUMMED[table], of)} AS held, sum
      FROM json_each($ids) CROSS JOIN ${table} ON ${of}${getKeyColumn(table)} = value`)
  })
  return {
    read: (table: Table, ids: readonly number[]) => read(table).all({ ids: JSON.stringify(ids) }),
    touched: connection.prepare<{ name: Table; id: number; was: Uint8Array | null; sum: Uint8Array | null }>(
      'SELECT name, id, was, sum FROM touched ORDER BY rowid',
    ),
    touchedOf: connection.prepare<{ id: number }, { name: Table }>('SELECT id FROM touched WHERE name = $name'),
    forget: connection.prepare('DELETE FROM touched'),
    keepOut: connection.prepare<unknown, { name: Table; id: number }>(
      'INSERT OR IGNORE INTO damaged VALUES ($name, $id)',
    ),
    write: cachePerTable((table): Prepared<unknown, { ids: string; sums: Uint8Array }> =>
      connection.prepare(`
        UPDATE ${table} SET sum = substr($sums, ${SUM_BYTES} * key + 1, ${SUM_BYTES}) FROM json_each($ids)
        WHERE ${table}.${getKeyColumn(table)} = value`),
    ),
  }
}

/** Returns a cached value per table, made at its first use. */
function cachePerTable<T>(make: (table: Table) => T): (table: Table) => T {
  const made = new Map<Table, T>()
  return (table) => {
    const one = made.get(table) ?? make(table)
    made.set(table, one)
    return one
  }
}
