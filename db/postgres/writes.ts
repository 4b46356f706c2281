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
} from '../row-sums.ts'
import type { Transaction } from './connection.ts'
import { RING } from './pool.ts'

/** A row as it is stored. */
export type Stored<T extends Table> = SummedRow<T> & { readonly sum: Uint8Array | null }

/** A row to be written: its statement, once it is known at which number its values begin. */
export type Write = { readonly values: readonly Cell[]; text(from: number): string; readonly what: string }

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

/** Changes of a row that must still be as it was read. */
export function amend<T extends Table>(table: T, before: Stored<T>, changes: Partial<SummedRow<T>>): Write {
  const columns: readonly (typeof SUMMED)[T][number][] = SUMMED[table]
  const after = { ...before, ...changes }
  const changed = columns.filter((column) => after[column] !== before[column])
  const key = columns[0]
  const set = (from: number) => [...changed, 'sum'].map((column, at) => `${String(column)} = $${from + at}`).join(', ')
  return {
    what: `a row of ${table} to change`,
    values: [...changed.map((column) => after[column]), sumOfRow(table, after), numberOf(table, before), before.sum],
    text: (from) => `
      UPDATE ${table} SET ${set(from)} WHERE ${String(key)} = $${from + changed.length + 1}
      AND sum IS NOT DISTINCT FROM $${from + changed.length + 2} RETURNING 1`,
  }
}

/** Does all of it in one statement. Anything but one row each is a bug, and undoes the transaction. */
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
  for (const [at, { what }] of writes.entries())
    if (row?.[`w${at}`] !== 1) throw new Error(`${what}: ${String(row?.[`w${at}`])} rows instead of one`)
}

/** Tells of rows that do not fit their sums. */
export type Check = <T extends Table>(table: T, row: Stored<T>) => void

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
