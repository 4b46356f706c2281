/** How far what arrived on the chain was compared with the purchases. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { ChainCheckpoint } from '../../../server/ports.ts'
import { integer } from '../../rows.ts'
import { changeOne, one, type Connection } from '../connection.ts'

/** The checkpoint on one connection. */
export function sqliteCheckpoint(connection: Connection): ChainCheckpoint {
  const { read, write } = connection
  const seen = connection.prepare<{ height: number | null }>('SELECT seen_height AS height FROM wall')
  const amounts = connection.prepare<{ amount: number }>('SELECT DISTINCT amount FROM payments')
  const payees = connection.prepare<{ pay_to: Address }>('SELECT DISTINCT pay_to FROM payments')
  const known = connection.prepare<unknown, { payer: string; nonce: string }>(
    'SELECT 1 FROM payments WHERE payer = $payer AND nonce = $nonce',
  )
  const reach = connection.prepare<unknown, { height: number }>(
    'UPDATE wall SET seen_height = max(coalesce(seen_height, 0), $height)',
  )
  return {
    height: async () =>
      read(() => {
        const { height } = one(seen, {})
        return height === null ? undefined : BigInt(height)
      }),
    prices: async () => read(() => amounts.all({}).map(({ amount }) => BigInt(amount))),
    payees: async () => read(() => payees.all({}).map(({ pay_to }) => pay_to)),
    knows: async ({ payer, nonce }) => read(() => known.get({ payer, nonce }) !== null),
    reach: async (height) => write(() => changeOne(reach, { height: integer(height) }, 'the wall’s own row')),
  }
}
