/**
 * Work on the store, independent of the engine. A read or a transaction is a generator that yields lists of statements
 * and resumes with their results: SQLite runs it synchronously, PostgreSQL with an `await` for each list. Statements of
 * one list do not need each other's results, and are sent together.
 */

import type { MaybeAsync } from '../server/domain/maybe-async.ts'
import type { Address } from '../server/domain/purchase/payment.ts'
import type { BlockIndex } from '../shared/wall.ts'
import type { Table } from './row-checksums.ts'

/**
 * A value of a statement. Booleans are stored as 0 or 1. A list is read through the fragments `in`, `each` and `rows`.
 * A function computes a value that only one engine's text uses.
 */
export type Value =
  | string
  | number
  | boolean
  | Uint8Array
  | null
  | readonly (string | number | object)[]
  | (() => Uint8Array)

/** The values of a statement by name, without the `$`. Values that its text does not name are ignored. */
export type Values = Readonly<Record<string, Value>>

/** SQL with `$name` for values and `{...}` for fragments (see `fragments.ts`); an empty text is not run. */
export type Text = string | { readonly sqlite: string; readonly postgres: string }

/**
 * For each table, the result column with the numbers of the rows read from it. On SQLite, the checksums of these rows
 * are checked.
 */
export type Sources = Readonly<Partial<Record<Table, string>>>

/** A statement to run. */
export type Statement = { readonly text: Text; readonly values: Values; readonly sources?: Sources | undefined }

/** The result of a statement, and how many rows it read or changed. */
export type Result = { readonly rows: readonly unknown[]; readonly count: number }

/** Work on the store. It must have no other effects, because it may run more than once. */
export type Tx<T> = Generator<readonly Statement[], T, readonly Result[]>

/** A subject that a write can lock: a wallet, the search for an open area, or a block. */
export type Lockable = Address | 'nearest area' | BlockIndex

/** Runs work on an engine. All methods throw `StoreUnavailable` if the engine fails or a SQLite row is damaged. */
export type Driver = {
  /** Runs work that only reads, one statement after the other. */
  query<T>(work: () => Tx<T>): Promise<T>
  /** Like `query`, but reads from one snapshot. */
  read<T>(work: () => Tx<T>): Promise<T>
  /** Runs work as one transaction, under the lock of its wallet: all of it is stored, or nothing. */
  write<T>(about: Address | null, work: () => Tx<T>): Promise<T>
  /** Like `write`, but may share a transaction, and run side by side, with writes that lock different subjects. */
  writeTogether<T>(about: readonly Lockable[], work: () => Tx<T>): Promise<T>
  /** Returns a look-up by key; if no other process can write, it caches each result until the next write. */
  createCachedLookUp<K, V>(work: (key: K) => Tx<V>): (key: K) => MaybeAsync<V>
}

/** A text for PostgreSQL alone, such as a lock, which SQLite does not need because it has one writer. */
export const toPostgresText = (postgres: string): Text => ({ sqlite: '', postgres })

/** A text for SQLite alone, such as a check for damaged rows. */
export const toSqliteText = (sqlite: string): Text => ({ sqlite, postgres: '' })

/** The rows of a statement. `Row` has the column types, which the tables' CHECKs guarantee. */
export function* queryRows<Row>(text: Text, values: Values = {}, sources?: Sources): Tx<readonly Row[]> {
  const [result] = yield [{ text, values, sources }]
  return (result?.rows ?? []) as readonly Row[]
}

/** The first row of a statement, if it has one. */
export function* queryFirst<Row>(text: Text, values: Values = {}, sources?: Sources): Tx<Row | undefined> {
  return (yield* queryRows<Row>(text, values, sources))[0]
}

/** The row of a statement that always has one. */
export function* queryOne<Row>(text: Text, values: Values = {}, sources?: Sources): Tx<Row> {
  const row = yield* queryFirst<Row>(text, values, sources)
  if (row === undefined) throw new Error('a statement that must return a row returned none')
  return row
}

/** Runs a statement; returns the number of rows it changed. */
export function* countChangedRows(text: Text, values: Values): Tx<number> {
  const [result] = yield [{ text, values }]
  return result?.count ?? 0
}

/** Runs a statement that must change `expected` rows. Any other number is a bug and rolls the transaction back. */
export function* changeRows(what: string, text: Text, values: Values, expected = 1): Tx<void> {
  const changed = yield* countChangedRows(text, values)
  if (changed !== expected) throw new Error(`${what}: changed ${changed} rows instead of ${expected}`)
}

/** Takes a lock on PostgreSQL; does nothing on SQLite. */
export function* takeLock(text: string, values: Values = {}): Tx<void> {
  yield [{ text: toPostgresText(text), values }]
}

/** The results of parts of work, in the order of the parts. */
type Answers<Parts extends readonly Tx<unknown>[]> = { [P in keyof Parts]: Parts[P] extends Tx<infer T> ? T : never }

/**
 * Runs parts side by side: statements that they yield at the same step are sent as one list, in the parts' order. The
 * counters are taken last: a part that needs them waits until every other part needs them or has ended.
 */
export function* runTogether<const Parts extends readonly Tx<unknown>[]>(...parts: Parts): Tx<Answers<Parts>> {
  let steps = parts.map((part) => part.next())
  while (steps.some(({ done }) => done !== true)) {
    const areAllAtCounters = steps.every((step) => step.done === true || takesCounters(step.value))
    const isJoinable = (step: Step): step is IteratorYieldResult<readonly Statement[]> =>
      step.done !== true && (areAllAtCounters || !takesCounters(step.value))
    const results = yield steps.flatMap((step) => (isJoinable(step) ? step.value : []))
    let from = 0
    steps = steps.map((step, at) => {
      const part = parts[at]
      if (!isJoinable(step) || part === undefined) return step
      const own = results.slice(from, from + step.value.length)
      from += step.value.length
      return part.next(own)
    })
  }
  return steps.map(({ value }) => value) as Answers<Parts>
}

type Step = IteratorResult<readonly Statement[], unknown>

const takesCounters = (statements: readonly Statement[]): boolean =>
  statements.some(({ text }) => /\bcounters\b/.test(typeof text === 'string' ? text : text.postgres))

/** Does nothing; used if a condition for some work is not met. */
export function* doNothing(): Tx<undefined> {}
