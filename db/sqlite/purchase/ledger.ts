/** Payments and what became of them; each function is one transaction. */

import { FIRST_LOOK_MS, LAST_LOOK_MS, type PaymentKey } from '../../../server/domain/purchase/payment.ts'
import type { Target } from '../../../server/domain/purchase/target.ts'
import type { Ledger } from '../../../server/ports.ts'
import { IS_UNFINISHED } from '../../rows.ts'
import type { Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'
import { availability, claim, holders, recordUnclaimed, release } from './holds.ts'
import { find } from './payments.ts'
import { inTheWay, openPlace } from './places.ts'
import { confirm, finalize, fulfilLatePayment, markAnswered, markFinal, markMissing, markUncertain } from './sales.ts'

/** The ledger on one connection. */
export function sqliteLedger(connection: Connection): Ledger {
  const { read, write } = connection
  const spaceOf = lastingUntilWritten(connection, (target: Target) => {
    const block = openPlace(connection, target)
    return typeof block === 'string' ? block : 'open'
  })
  return {
    find: async (key) => read(() => find(connection, key)?.purchase),
    availability: async (target, payment, now, attended) =>
      read(() => availability(connection, target, payment, now, attended)),
    holders: async (target) => read(() => holders(connection, target)),
    space: async (target) => spaceOf(target),
    inTheWay: async (target) => read(() => inTheWay(connection, target)),
    claim: async (target, payment, listing, head, now, attended) =>
      write(() => claim(connection, target, payment, listing, head, now, attended)),
    markUncertain: async ({ payment }) => write(() => markUncertain(connection, payment)),
    finalize: async ({ payment }, tx, settled, now) => write(() => finalize(connection, payment, tx, settled, now)),
    confirm: async ({ payment }, tx) => write(() => confirm(connection, payment, tx)),
    markFinal: async ({ payment }, tx) => write(() => markFinal(connection, payment, tx)),
    markMissing: async ({ payment }) => write(() => markMissing(connection, payment, 0)),
    writeOff: async ({ payment }) => write(() => markMissing(connection, payment, 2)),
    release: async (purchase, isFinal) => write(() => release(connection, purchase, isFinal)),
    recordUnclaimed: async (payment, now) => write(() => recordUnclaimed(connection, payment, now)),
    fulfilLatePayment: async ({ payment }, tx, now) => write(() => fulfilLatePayment(connection, payment, tx, now)),
    markAnswered: async (key) => write(() => markAnswered(connection, key)),
    unfinished: async (now) =>
      read(() => {
        const times = { soldBy: now - FIRST_LOOK_MS, endedBy: Math.floor((now - LAST_LOOK_MS) / 1000) }
        return connection.prepare<PaymentKey>(UNFINISHED).all(times)
      }),
  }
}

/**
 * Remembers what was read until something is written, which only this connection does: a flood of unpaid requests asks
 * the same again and again.
 */
function lastingUntilWritten<K, V>({ version, read }: Connection, look: (key: K) => V): (key: K) => V {
  const seen = new Map<K, V>()
  let asOf = version()
  return (key) => {
    if (asOf !== version()) seen.clear()
    asOf = version()
    const known = seen.get(key)
    if (known !== undefined) return known
    const found = read(() => look(key))
    seen.set(key, found)
    return found
  }
}

// Without the first condition every payment ever made would be read.
const UNFINISHED = `
  SELECT payer, nonce FROM payments INDEXED BY unfinished
  WHERE ${IS_UNFINISHED}
    AND NOT ${isDamaged('payments', 'id')} AND NOT ${isDamaged('blocks', 'block')}
    AND (settled = 0 OR (looks = 0 AND claimed_at <= $soldBy) OR valid_before <= $endedBy)
  ORDER BY id`
