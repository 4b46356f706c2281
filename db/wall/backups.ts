/** When the wall was last backed up. */

import type { UnixMs } from '../../server/domain/purchase/payment.ts'
import type { Backups } from '../../server/operator-ports.ts'
import { change, one, type Driver } from '../tx.ts'

const LAST = 'SELECT backed_up_at AS at FROM wall'
const NOTE = 'UPDATE wall SET backed_up_at = $now'

/** The record of backups of a store. */
export const backups = ({ look, write }: Driver): Backups => ({
  async last() {
    const { at } = await look(() => one<{ at: UnixMs | null }>(LAST))
    return at ?? undefined
  },
  note: (now) => write(null, () => change('the wall’s own row', NOTE, { now })),
})
