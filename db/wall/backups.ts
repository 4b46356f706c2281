/** When the wall was last backed up. */

import type { UnixMs } from '../../server/domain/purchase/payment.ts'
import type { Backups } from '../../server/operator-ports.ts'
import { change, type Driver, one, type Tx } from '../tx.ts'

const LAST = 'SELECT backed_up_at AS at FROM wall'
const NOTE = 'UPDATE wall SET backed_up_at = $now'

/** When the last backup was made. */
export function* readLastBackup(): Tx<UnixMs | undefined> {
  const { at } = yield* one<{ at: UnixMs | null }>(LAST)
  return at ?? undefined
}

/** The record of a store's last backup. */
export const createBackups = ({ look, write }: Driver): Backups => ({
  readLastTime: () => look(readLastBackup),
  record: (now) => write(null, () => change('the wall’s own row', NOTE, { now })),
})
