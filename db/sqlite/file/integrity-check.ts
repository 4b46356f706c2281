/**
 * Checks a file for errors that SQLite reports, and for rows that do not match their checksums. Readers and buyers need
 * only the check of the current state, whose time does not grow with the history. The checks only read.
 */

import type { DamagedRow } from '../../row-checksums.ts'
import { renderLatestCondition } from '../latest-changes.ts'
import type { RawConnection } from '../raw.ts'
import { listDamagedRows } from '../row-checksums.ts'

/** The result of checking a file. */
export type Inspection = {
  /** The worst damage outside of single rows: to indexes, which can be rebuilt, or to data that cannot be left out. */
  readonly flaw: 'none' | 'indexes' | 'beyond-repair'
  readonly damaged: readonly DamagedRow[]
}

/**
 * Checks every table except the log, and the entries of the log that define the current state. Throws SQLite's errors.
 */
export function inspectCurrentState(connection: RawConnection): Inspection {
  const tables = connection.prepare<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('changes', 'sqlite_sequence')",
  )
  const flaws = tables.all({}).flatMap(({ name }) => listFlaws(connection, name))
  return createInspection(flaws, () => listDamagedRows(connection, renderLatestCondition('number')))
}

/** Checks the whole file. Throws SQLite's errors. */
export function inspectDatabase(connection: RawConnection): Inspection {
  return createInspection(listFlaws(connection), () => listDamagedRows(connection))
}

function createInspection(flaws: readonly string[], damaged: () => DamagedRow[]): Inspection {
  const flaw = chooseWorstFlaw(flaws)
  return { flaw, damaged: flaw === 'beyond-repair' ? [] : damaged() }
}

// SQLite's messages about a single row or an index. For rows, the checksums are more reliable.
const ofOneRow = /^(CHECK constraint failed in|NULL value in|\w+ value in|non-\w+ value in) /
const ofAnIndex = /(missing from|entries in|entry in|order for) index/

/** The worst error that SQLite reports about a file, apart from errors in single rows. Throws SQLite's errors. */
export const findFlaw = (connection: RawConnection): Inspection['flaw'] => chooseWorstFlaw(listFlaws(connection))

function listFlaws(connection: RawConnection, table?: string): string[] {
  const which = table === undefined ? '' : `(${table})`
  const check = connection.prepare<{ integrity_check: string }>(`PRAGMA integrity_check${which}`)
  return check
    .all({})
    .map((row) => row.integrity_check)
    .filter((flaw) => flaw !== 'ok' && !ofOneRow.test(flaw))
}

function chooseWorstFlaw(flaws: readonly string[]): Inspection['flaw'] {
  if (flaws.length === 0) return 'none'
  return flaws.every((flaw) => ofAnIndex.test(flaw)) ? 'indexes' : 'beyond-repair'
}
