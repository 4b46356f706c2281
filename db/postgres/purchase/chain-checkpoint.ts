/** How far what arrived on the chain was compared with the purchases. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { ChainCheckpoint } from '../../../server/ports.ts'
import { integer } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { amend, writeAll, type Check, type Stored } from '../writes.ts'

type WallRow = Stored<'wall'> & { readonly network: string; readonly seen_height: number | null }

/** The wall's own row, locked until the transaction ends. */
const WALL = 'SELECT * FROM wall FOR UPDATE'

/** The checkpoint of a database. */
export function postgresCheckpoint({ rows, transaction }: Connection, check: Check): ChainCheckpoint {
  return {
    async height() {
      const [wall] = await rows<{ height: number | null }>('SELECT seen_height AS height FROM wall')
      return wall === undefined || wall.height === null ? undefined : BigInt(wall.height)
    },
    knows: async ({ payer, nonce }) =>
      (await rows('SELECT 1 FROM payments WHERE payer = $1 AND nonce = $2', [payer, nonce])).length > 0,
    prices: async () =>
      (await rows<{ amount: number }>('SELECT DISTINCT amount FROM payments')).map(({ amount }) => BigInt(amount)),
    payees: async () =>
      (await rows<{ pay_to: Address }>('SELECT DISTINCT pay_to FROM payments')).map(({ pay_to }) => pay_to),
    reach: (height) =>
      transaction(null, async (queries) => {
        const [row] = await queries.rows<WallRow>(WALL)
        if (row === undefined) throw new Error('the wall has lost its own row')
        check('wall', row)
        const seen_height = Math.max(row.seen_height ?? 0, integer(height))
        if (seen_height !== row.seen_height) await writeAll(queries, [amend('wall', row, { seen_height })])
      }),
  }
}
