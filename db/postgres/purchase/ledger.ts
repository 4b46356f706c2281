/** Payments and what became of them; each function is one transaction under the lock of the payer's wallet. */

import { FIRST_LOOK_MS, LAST_LOOK_MS, type PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Ledger } from '../../../server/ports.ts'
import { IS_UNFINISHED } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { isSound, type Check, type Work } from '../writes.ts'
import { availability, claim, holders, recordUnclaimed, release } from './holds.ts'
import { find, type PaymentRow } from './payments.ts'
import { inTheWay, space, type BlockRow } from './places.ts'
import { confirm, finalize, markAnswered, markUncertain, markMissing, fulfilLatePayment, markFinal } from './sales.ts'

/** The ledger of a database. */
export function postgresLedger(connection: Connection, check: Check): Ledger {
  const reading = { queries: connection, check }
  const write = <T>({ payer }: PaymentKey, work: (work: Work) => Promise<T>): Promise<T> =>
    connection.transaction(payer, (queries) => work({ queries, check }))
  return {
    find: async (key) => (await find(reading, key))?.purchase,
    availability: (target, payment, now, attended) => availability(reading, target, payment, now, attended),
    holders: (target) => holders(connection, target),
    space: (target) => space(connection, target),
    inTheWay: (target) => inTheWay(connection, target),
    claim: (target, payment, listing, head, now, attended) =>
      write(payment, (work) => claim(work, target, payment, listing, head, now, attended)),
    markUncertain: ({ payment }) => write(payment, (work) => markUncertain(work, payment)),
    finalize: ({ payment }, tx, settled, now) => write(payment, (work) => finalize(work, payment, tx, settled, now)),
    confirm: ({ payment }, tx) => write(payment, (work) => confirm(work, payment, tx)),
    markFinal: ({ payment }, tx) => write(payment, (work) => markFinal(work, payment, tx)),
    markMissing: ({ payment }) => write(payment, (work) => markMissing(work, payment, 0)),
    writeOff: ({ payment }) => write(payment, (work) => markMissing(work, payment, 2)),
    release: (purchase, isFinal) => write(purchase.payment, (work) => release(work, purchase, isFinal)),
    recordUnclaimed: (unclaimed, now) => write(unclaimed.payment, (work) => recordUnclaimed(work, unclaimed, now)),
    fulfilLatePayment: ({ payment }, tx, now) => write(payment, (work) => fulfilLatePayment(work, payment, tx, now)),
    markAnswered: (key) => write(key, (work) => markAnswered(work, key)),
    async unfinished(now) {
      const values = [now - FIRST_LOOK_MS, Math.floor((now - LAST_LOOK_MS) / 1000)]
      const rows = await connection.rows<PaymentRow>(UNFINISHED, values)
      if (rows.length === 0) return []
      const blocks = await connection.rows<BlockRow>(BLOCKS, [`{${rows.map(({ block }) => block).join(', ')}}`])
      // What is damaged is told of, and keeps nobody from looking at the others.
      const sound = new Set(blocks.filter((block) => isSound(check, 'blocks', block)).map(({ i }) => i))
      return rows
        .filter((row) => isSound(check, 'payments', row) && sound.has(row.block))
        .map(({ payer, nonce }) => ({ payer, nonce }))
    },
  }
}

// Without the first condition every payment ever made would be read.
const UNFINISHED = `
  SELECT * FROM payments
  WHERE ${IS_UNFINISHED}
    AND (settled = 0 OR (looks = 0 AND claimed_at <= $1) OR valid_before <= $2)
  ORDER BY id`
const BLOCKS = 'SELECT * FROM blocks WHERE i = ANY ($1::integer[])'
