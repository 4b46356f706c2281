/** Writing rows with their sums: several at once, each of which must be written. */

import { StoreUnavailable } from '../../server/domain/failure.ts'
import {
  fitsSum,
  numberOf,
  SUMMED,
  sumOfRow,
  type Cell,
  type DamagedRow,
  type SummedRow,
  type Table,
} from '../row-checksums.ts'
import type { Transaction } from './connection.ts'
import { RING, type Queries } from './pool.ts'

/** A row as it is stored. */
export type Stored<T extends Table> = SummedRow<T> & { readonly sum: Uint8Array | null }

/** A row to be written: its statement, once it is known at which number its values begin. */
export type Write = {
  readonly values: readonly Cell[]
  text(from: number): string
  readonly what: string
  readonly rows?: number // one, if not given
}

/** A new row. */
export function put<T extends Table>(table: T, row: SummedRow<T>): Write {
  const columns: readonly (typeof SUMMED)[T][number][] = SUMMED[table]
  return {
    what: `a row of ${table} to make`,
    values: [...columns.map((column) => row[column]), sumOfRow(table, row)],
    text: (from) =>
      `INSERT INTO ${table} (${columns.join(', ')}, sum) VALUES (${numbered(from, columns.length + 1)}) RETURNING 1`,
  }
}

/** What changes of a row; a column without a sum among them. */
type Changes<T extends Table> = Partial<SummedRow<T>> & { readonly signed_at?: number }

/** Changes of a row that must still be as it was read. */
export function amend<T extends Table>(table: T, before: Stored<T>, changes: Changes<T>): Write {
  const columns: readonly (typeof SUMMED)[T][number][] = SUMMED[table]
  const after = { ...before, ...changes }
  const changed = columns.filter((column) => after[column] !== before[column])
  const cells = new Map<string, Cell>(changed.map((column) => [String(column), after[column]]))
  cells.set('sum', sumOfRow(table, after))
  if (changes.signed_at !== undefined) cells.set('signed_at', changes.signed_at)
  const set = (from: number) => [...cells.keys()].map((column, at) => `${column} = $${from + at}`).join(', ')
  return {
    what: `a row of ${table} to change`,
    values: [...cells.values(), numberOf(table, before), before.sum],
    text: (from) => `
      UPDATE ${table} SET ${set(from)} WHERE ${String(columns[0])} = $${from + cells.size}
      AND sum IS NOT DISTINCT FROM $${from + cells.size + 1} RETURNING 1`,
  }
}

/** New rows, in their order. */
export function putAll<T extends Table>(table: T, rows: readonly SummedRow<T>[]): readonly Write[] {
  const [first, ...others] = rows
  if (first === undefined || others.length === 0) return rows.map((row) => put(table, row))
  const columns = [...SUMMED[table], 'sum']
  const sent = rows.map((row) => ({ ...row, sum: sumOfRow(table, row) }))
  return [
    {
      what: `rows of ${table} to make`,
      rows: rows.length,
      values: [jsonOf(sent)],
      text: (from) => `
        INSERT INTO ${table} (${columns.join(', ')})
        SELECT ${columns.map(readAs).join(', ')} FROM ${recordset(from, columns)} ORDER BY v.${columns[0]} RETURNING 1`,
    },
  ]
}

/** Changes of rows that must still be as they were read, of the same columns in each. */
export function amendAll<T extends Table, Row extends Stored<T>>(
  table: T,
  before: readonly Row[],
  changesOf: (row: Row, at: number) => Changes<T>,
): readonly Write[] {
  const [first, ...others] = before
  if (first === undefined || others.length === 0) return before.map((row, at) => amend(table, row, changesOf(row, at)))
  const key = String(SUMMED[table][0])
  const columns = [...Object.keys(changesOf(first, 0)), 'sum']
  const sent = before.map((row, at) => {
    const after = { ...row, ...changesOf(row, at) }
    return { ...after, sum: sumOfRow(table, after), [BEFORE]: row.sum }
  })
  return [
    {
      what: `rows of ${table} to change`,
      rows: before.length,
      values: [jsonOf(sent)],
      text: (from) => `
        UPDATE ${table} SET ${columns.map((column) => `${column} = ${readAs(column)}`).join(', ')}
        FROM ${recordset(from, [key, ...columns, BEFORE])}
        WHERE ${table}.${key} = v.${key} AND ${table}.sum IS NOT DISTINCT FROM ${readAs(BEFORE)} RETURNING 1`,
    },
  ]
}

// The sum that a row had when it was read.
const BEFORE = 'sum_before'

const bytes: ReadonlySet<string> = new Set(['pixels', 'sum', BEFORE])

const types: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['i', 'block', 'rank', 'hidden'].map((column) => [column, 'integer'])),
  ...Object.fromEntries(
    ['number', 'at', 'seq', 'agent', 'changed', 'payment', 'signed_at'].map((column) => [column, 'bigint']),
  ),
}

/** Many rows are one value, since a statement takes so many values and no more; bytes are in hex. */
const jsonOf = (rows: readonly object[]): string =>
  JSON.stringify(rows, (_, cell: unknown) => (cell instanceof Uint8Array ? cell.toHex() : cell))

const recordset = (from: number, columns: readonly string[]) =>
  `json_to_recordset($${from}::text::json) AS v (${columns.map((column) => `${column} ${types[column] ?? 'text'}`).join(', ')})`

const readAs = (column: string) => (bytes.has(column) ? `decode(v.${column}, 'hex')` : `v.${column}`)

/** Does all of it in one statement. Anything but as many rows as are named is a bug, and undoes the transaction. */
export async function writeAll({ write }: Transaction, writes: readonly Write[], ring = false): Promise<void> {
  const values: Cell[] = []
  const parts = writes.map((each, at) => {
    const text = each.text(values.length + 1)
    values.push(...each.values)
    return `w${at} AS (${text})`
  })
  const counts = writes.map((_, at) => `(SELECT count(*) FROM w${at}) AS w${at}`)
  const text = `WITH ${parts.join(', ')} SELECT ${[...counts, ...(ring ? [RING] : [])].join(', ')}`
  const [row] = await write<Readonly<Record<string, unknown>>>(text, values)
  for (const [at, { what, rows = 1 }] of writes.entries())
    if (row?.[`w${at}`] !== rows) throw new Error(`${what}: ${String(row?.[`w${at}`])} rows instead of ${rows}`)
}

/** Tells of rows that do not fit their sums. */
export type Check = <T extends Table>(table: T, row: Stored<T>) => void

/** What reading needs: queries, and what notices damaged rows. */
export type Reading = { readonly queries: Queries; readonly check: Check }

/** The same for a transaction. */
export type Work = { readonly queries: Transaction; readonly check: Check }

/** Makes the check: it throws `StoreUnavailable` for a damaged row, and tells of each once. */
export function checking(onDamaged: (row: DamagedRow) => void): Check {
  const known = new Set<string>()
  return (table, row) => {
    if (fitsSum(table, row, row.sum)) return
    const damaged = { table, row: numberOf(table, row) }
    const name = `row ${damaged.row} of ${table}`
    if (!known.has(name)) onDamaged(damaged)
    known.add(name)
    throw new StoreUnavailable(`${name} is damaged`)
  }
}

/** Whether a row fits its sum; one that does not is told of. */
export function isSound<T extends Table>(check: Check, table: T, row: Stored<T>): boolean {
  try {
    check(table, row)
    return true
  } catch {
    return false
  }
}

const numbered = (from: number, count: number) => Array.from({ length: count }, (_, at) => `$${from + at}`).join(', ')
