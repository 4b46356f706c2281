/** How far what arrived on the chain was compared with the purchases. */

import type { Horizon } from '../../server/ports.ts'
import { integer } from '../rows.ts'
import { changeOne, one, type Connection } from './connection.ts'

/** The horizon on one connection. */
export function sqliteHorizon(connection: Connection): Horizon {
  const { read, write } = connection
  // A payment cannot have arrived below the height that was read before it was taken.
  const newest = connection.prepare<{ height: number | null }>(`
    SELECT max(height) AS height FROM (SELECT max(head) AS height FROM payments UNION ALL SELECT seen_height FROM wall)`)
  const known = connection.prepare<unknown, { payer: string; nonce: string }>(
    'SELECT 1 FROM payments WHERE payer = $payer AND nonce = $nonce',
  )
  const reach = connection.prepare<unknown, { height: number }>(
    'UPDATE wall SET seen_height = max(coalesce(seen_height, 0), $height)',
  )
  return {
    height: async () =>
      read(() => {
        const { height } = one(newest, {})
        return height === null ? undefined : BigInt(height)
      }),
    knows: async ({ payer, nonce }) => read(() => known.get({ payer, nonce }) !== null),
    reach: async (height) => write(() => changeOne(reach, { height: integer(height) }, 'the wall’s own row')),
  }
}
