/** A look through a whole file: at what SQLite finds wrong with it, and at the sum of each row. It only reads. */

import type { DamagedRow } from '../../row-checksums.ts'
import type { RawConnection } from '../raw.ts'
import { damagedRows } from '../row-checksums.ts'

/** What was found in a file. */
export type Inspection = {
  /** Of indexes, which can be made anew, or of what nothing can be told around. */
  readonly flaw: 'none' | 'indexes' | 'beyond-repair'
  readonly damaged: readonly DamagedRow[]
}

/** Looks through a file. Throws SQLite's errors. */
export function inspect(connection: RawConnection): Inspection {
  const flaw = flawOf(connection)
  return { flaw, damaged: flaw === 'beyond-repair' ? [] : damagedRows(connection) }
}

// What SQLite says of a single row or of an index. Of rows, their sums know better.
const ofOneRow = /^(CHECK constraint failed in|NULL value in|\w+ value in|non-\w+ value in) /
const ofAnIndex = /(missing from|entries in|entry in|order for) index/

/** What SQLite finds wrong with a file besides single rows. Throws SQLite's errors. */
export function flawOf(connection: RawConnection): Inspection['flaw'] {
  const check = connection.prepare<{ integrity_check: string }>('PRAGMA integrity_check')
  const flaws = check
    .all({})
    .map((row) => row.integrity_check)
    .filter((flaw) => flaw !== 'ok' && !ofOneRow.test(flaw))
  if (flaws.length === 0) return 'none'
  return flaws.every((flaw) => ofAnIndex.test(flaw)) ? 'indexes' : 'beyond-repair'
}
