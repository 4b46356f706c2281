/** Payments and what became of them; each function is one transaction. */

import { StaleWriteError } from '../../../server/domain/failure.ts'
import type { PaymentKey, UnixMs } from '../../../server/domain/purchase/payment.ts'
import { FIRST_LOOK_MS, LAST_LOOK_MS } from '../../../server/domain/purchase/payment.ts'
import type { Purchase } from '../../../server/domain/purchase/purchase.ts'
import type { Target } from '../../../server/domain/purchase/target.ts'
import type { Ledger } from '../../../server/ports.ts'
import type { Connection } from '../connection.ts'
import { isDamaged } from '../row-checksums.ts'
import { availability, claim, holders, prepareHolds, release, type Holds } from './holds.ts'
import { find, known } from './payments.ts'
import { inTheWay, openPlace } from './places.ts'
import { confirm, finalize, markMissing, fulfilLatePayment, prepareSales, markFinal, type Sales } from './sales.ts'

/** The ledger on one connection. */
export function sqliteLedger(connection: Connection): Ledger {
  const sql = { ...prepareHolds(connection), ...prepareSales(connection), ...statements(connection) }
  const { read, write } = connection
  const spaceOf = lastingUntilWritten(connection, (target: Target) => {
    const block = openPlace(sql, target)
    return typeof block === 'string' ? block : 'open'
  })
  return {
    find: async (key) => read(() => find(sql, key)?.purchase),
    availability: async (target, payment, now, attended) =>
      read(() => availability(sql, target, payment, now, attended)),
    holders: async (target) => read(() => holders(sql, target)),
    space: async (target) => spaceOf(target),
    inTheWay: async (target) => read(() => inTheWay(sql, target)),
    claim: async (target, payment, listing, head, now, attended) =>
      write(() => claim(sql, target, payment, listing, head, now, attended)),
    markUncertain: async ({ payment }) => write(() => markUncertain(sql, payment)),
    finalize: async ({ payment }, tx, settled, now) => write(() => finalize(sql, payment, tx, settled, now)),
    confirm: async ({ payment }, tx) => write(() => confirm(sql, payment, tx)),
    markFinal: async ({ payment }, tx) => write(() => markFinal(sql, payment, tx)),
    markMissing: async ({ payment }) => write(() => markMissing(sql, payment, 0)),
    writeOff: async ({ payment }) => write(() => markMissing(sql, payment, 2)),
    release: async (purchase, isFinal) => write(() => release(sql, purchase, isFinal)),
    fulfilLatePayment: async (landed, tx, now) => write(() => fulfilLatePayment(sql, landed, tx, now)),
    markAnswered: async (key) => write(() => void sql.markAnswered.run(keyOf(key))),
    unfinished: async (now) =>
      read(() => sql.unfinished.all({ soldBy: now - FIRST_LOOK_MS, endedBy: Math.floor((now - LAST_LOOK_MS) / 1000) })),
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

type Sql = Holds & Sales & ReturnType<typeof statements>

function statements(connection: Connection) {
  return {
    markUncertain: connection.prepare<unknown, PaymentKey>(
      `UPDATE payments SET uncertain = 1 WHERE payer = $payer AND nonce = $nonce AND state = 'reserved'`,
    ),
    markAnswered: connection.prepare<unknown, PaymentKey>(
      `UPDATE payments SET unanswered = 0 WHERE payer = $payer AND nonce = $nonce AND unanswered = 1`,
    ),
    // The first condition is the index's, word for word; without it every payment ever made would be read.
    unfinished: connection.prepare<PaymentKey, { soldBy: UnixMs; endedBy: number }>(`
      SELECT payer, nonce FROM payments INDEXED BY unfinished
      WHERE (state = 'reserved' OR (state = 'released' AND dead = 0) OR (state = 'sold' AND looks < 2))
        AND NOT ${isDamaged('payments', 'id')} AND NOT ${isDamaged('blocks', 'block')}
        AND (settled = 0 OR (looks = 0 AND claimed_at <= $soldBy) OR valid_before <= $endedBy)
      ORDER BY id`),
  }
}

function markUncertain(sql: Sql, payment: PaymentKey): Purchase {
  if (sql.markUncertain.run(keyOf(payment)).changes === 1) return known(sql, payment).purchase
  throw new StaleWriteError(`a ${known(sql, payment).purchase.state.kind} payment cannot be uncertain`)
}

const keyOf = ({ payer, nonce }: PaymentKey): PaymentKey => ({ payer, nonce })
