/** How far the log was delivered to the operator's webhook. */

import type { Deliveries } from '../../server/operator-ports.ts'
import { changeRows, queryOne, type Driver } from '../tx.ts'

const REACHED = 'SELECT delivered AS number FROM wall'
const REACH = `
  UPDATE wall SET delivered = CASE WHEN delivered > $number THEN delivered ELSE $number END`

/** The deliveries of a store. */
export const createDeliveries = ({ query, writeTogether }: Driver): Deliveries => ({
  async readPosition() {
    const { number } = await query(() => queryOne<{ number: number | null }>(REACHED))
    return number ?? undefined
  },
  advanceTo: (number) => writeTogether([], () => changeRows('the wall’s own row', REACH, { number })),
})
