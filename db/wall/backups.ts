/** When the wall was last backed up. */

import type { UnixMs } from '../../server/domain/purchase/payment.ts'
import type { Backups } from '../../server/operator-ports.ts'
import { changeRows, type Driver, queryOne, type Tx } from '../tx.ts'

const LAST = 'SELECT backed_up_at AS at FROM wall'
const NOTE = 'UPDATE wall SET backed_up_at = $now'

/** When the last backup was made. */
export function* readLastBackup(): Tx<UnixMs | undefined> {
  const { at } = yield* queryOne<{ at: UnixMs | null }>(LAST)
  return at ?? undefined
}

/** The record of a store's last backup. */
export const createBackups = ({ query, write }: Driver): Backups => ({
  readLastTime: () => query(readLastBackup),
  record: (now) => write(null, () => changeRows('the wall’s own row', NOTE, { now })),
})
