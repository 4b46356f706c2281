/** Runs work on a SQLite connection synchronously. */

import type { MaybeAsync } from '../../server/domain/maybe-async.ts'
import { compileStatement } from '../fragments.ts'
import type { Table } from '../row-checksums.ts'
import type { Driver, Result, Sources, Statement, Tx } from '../tx.ts'
import type { Connection } from './connection.ts'

export function createSqliteDriver(connection: Connection): Driver {
  // Waits for the flush, so that no caller sees a write of a shared commit before it is flushed.
  const read = async <T>(work: () => Tx<T>) => {
    const found = connection.read(() => runWork(connection, work()))
    await connection.waitUntilFlushed()
    return found
  }
  return {
    query: read,
    read,
    write: async (_, work) => connection.write(() => runWork(connection, work())),
    writeTogether: async (_, work) => connection.writeTogether(() => runWork(connection, work())),
    createCachedLookUp: (work) => cacheUntilWrite(connection, work),
  }
}

type Readable = Pick<Connection, 'prepareNumbered' | 'checkRows'>

/** Runs work inside the current read or transaction. */
export function runWork<T>(connection: Readable, work: Tx<T>): T {
  let step = work.next()
  while (step.done !== true) step = work.next(step.value.map((statement) => runStatement(connection, statement)))
  return step.value
}

const NO_RESULT: Result = { rows: [], count: 0 }

function runStatement(connection: Readable, statement: Statement): Result {
  const text = compileStatement(statement, 'sqlite')
  if (text.sql === '') return NO_RESULT
  const prepared = connection.prepareNumbered<Readonly<Record<string, unknown>>>(text.sql)
  const values = text.bind(statement.values)
  if (!text.hasRows) return { rows: [], count: prepared.run(...values).changes }
  const rows = prepared.all(...values)
  if (statement.sources !== undefined) checkRows(connection, rows, statement.sources)
  return { rows, count: rows.length }
}

/** Throws `StoreUnavailable` if one of the rows that a result was read from is damaged. */
function checkRows(
  { checkRows }: Readable,
  rows: readonly Readonly<Record<string, unknown>>[],
  sources: Sources,
): void {
  for (const [table, column] of Object.entries(sources) as [Table, string][]) {
    const numbers = [...new Set(rows.map((row) => row[column]))].filter((number) => typeof number === 'number')
    if (numbers.length > 0) checkRows(table, numbers)
  }
}

// One cached deed takes about a kilobyte.
const LASTING_MAX = 2048

/**
 * Caches reads until the next write, because a flood of unpaid requests reads the same data repeatedly. Only this
 * connection writes. Reading a deed and checking its rows takes 65 us of the 95 us for its response.
 */
function cacheUntilWrite<K, V>(connection: Connection, work: (key: K) => Tx<V>): (key: K) => MaybeAsync<V> {
  const seen = new Map<K, V>()
  let asOf = connection.getVersion()
  const read = async (key: K): Promise<V> => {
    const found = connection.read(() => runWork(connection, work(key)))
    if (seen.size >= LASTING_MAX) seen.clear()
    seen.set(key, found)
    return found
  }
  return (key) => {
    if (asOf !== connection.getVersion()) seen.clear()
    asOf = connection.getVersion()
    return seen.get(key) ?? read(key)
  }
}
