/** Payments and their outcomes; each function is one transaction under the lock of the payer's wallet. */

import {
  FIRST_CONFIRMATION_MS,
  LAST_CONFIRMATION_MS,
  type Hash,
  type PaymentKey,
  type UnixMs,
} from '../../server/domain/purchase/payment.ts'
import { listHeldBlocks, isBlock } from '../../server/domain/purchase/target.ts'
import type { Ledger } from '../../server/ports.ts'
import { IS_UNFINISHED, PAYMENT_ID } from '../rows.ts'
import { countChangedRows, queryFirst, type Lockable, queryRows, type Driver, type Tx } from '../tx.ts'
import { checkAvailability, claim, findPurchase, listHolders, recordUnclaimed, release } from './holds.ts'
import { findConflicts, createSoldBlocks, listLockables, readSpace } from './places.ts'
import { confirm, finalize, fulfilLatePayment, markFinal, markMissing, markUncertain, writeOff } from './sales.ts'

/** The ledger of a store. */
export function createLedger({ query, writeTogether, createCachedLookUp }: Driver): Ledger {
  const sold = createSoldBlocks()
  const writeForPayer = <T>({ payer }: PaymentKey, work: () => Tx<T>, places: readonly Lockable[] = []) =>
    writeTogether([payer, ...places], work)
  return {
    find: async (key) => (await query(() => findPurchase(key)))?.purchase,
    checkAvailability: (target, payment, now, activeNonces) =>
      query(() => checkAvailability({ target, payment, now, activeNonces }, sold)),
    listHolders: (target) => query(() => listHolders(target)),
    checkSpace: createCachedLookUp((target) => readSpace(target, sold)),
    listUnavailable: (target) => query(() => findConflicts(target)),
    claim: (target, payment, listing, head, now, activeNonces) =>
      writeForPayer(
        payment,
        () => claim({ target, payment, now, activeNonces }, listing, head, sold),
        listLockables(target),
      ),
    markUncertain: ({ payment }) => writeForPayer(payment, () => markUncertain(payment)),
    finalize: (purchase, tx, settled, now) =>
      writeForPayer(purchase.payment, () => finalize(purchase.payment, tx, settled, now), listHeldBlocks(purchase)),
    confirm: ({ payment }, tx) => writeForPayer(payment, () => confirm(payment, tx)),
    markFinal: ({ payment }, tx) => writeForPayer(payment, () => markFinal(payment, tx)),
    markMissing: ({ payment }) => writeForPayer(payment, () => markMissing(payment, 0)),
    writeOff: ({ payment }) => writeForPayer(payment, () => writeOff(payment)),
    release: (purchase, isFinal) =>
      writeForPayer(purchase.payment, () => release(purchase, isFinal), listHeldBlocks(purchase)),
    recordUnclaimed: (unclaimed, now) => writeForPayer(unclaimed.payment, () => recordUnclaimed(unclaimed, now)),
    fulfilLatePayment: (purchase, tx, now) =>
      writeForPayer(
        purchase.payment,
        () => fulfilLatePayment(purchase.payment, tx, now, sold),
        isBlock(purchase.target) ? listHeldBlocks(purchase) : ['nearest area'],
      ),
    reuseReceipt: ({ payment }, to) => writeForPayer(payment, () => reuseReceipt(payment, to)),
    markAnswered: async ({ payer, nonce }) =>
      void (await writeForPayer({ payer, nonce }, () => countChangedRows(MARK_ANSWERED, { payer, nonce }))),
    listUnfinished: (now) => query(() => listUnfinished(now)),
  }
}

// How often a receipt may be reused: limited, because a reuse costs the payer only a signature and no money.
const REUSES_MAX = 16

const REUSE = `
  INSERT INTO reused_receipts (payer, nonce, payment)
  SELECT payer, $to, id FROM payments AS p WHERE payer = $payer AND nonce = $nonce AND state = 'sold' AND unanswered = 1
    AND NOT EXISTS (SELECT 1 FROM payments WHERE payer = $payer AND nonce = $to AND state <> 'released')
    AND (SELECT count(*) FROM reused_receipts WHERE payment = p.id) < ${REUSES_MAX}
  ON CONFLICT DO NOTHING`

const IS_REUSED = `SELECT 1 FROM reused_receipts WHERE payer = $payer AND nonce = $to AND payment = ${PAYMENT_ID}`

function* reuseReceipt({ payer, nonce }: PaymentKey, to: Hash): Tx<boolean> {
  yield* countChangedRows(REUSE, { payer, nonce, to })
  return (yield* queryFirst(IS_REUSED, { payer, nonce, to })) !== undefined
}

const MARK_ANSWERED = `
  UPDATE payments SET unanswered = 0
  WHERE payer = $payer AND nonce = $nonce AND unanswered = 1`

// Without the first condition, the query would read every payment ever made.
const UNFINISHED = `
  SELECT payer, nonce FROM payments {index unfinished}
  WHERE ${IS_UNFINISHED}
    AND NOT {damaged payments id} AND NOT {damaged blocks block}
    AND ((settled = 0 AND state <> 'credited') OR (looks = 0 AND claimed_at <= $soldBy) OR valid_before <= $endedBy)
  ORDER BY id`

const listUnfinished = (now: UnixMs): Tx<readonly PaymentKey[]> =>
  queryRows<PaymentKey>(UNFINISHED, {
    soldBy: now - FIRST_CONFIRMATION_MS,
    endedBy: Math.floor((now - LAST_CONFIRMATION_MS) / 1000),
  })
