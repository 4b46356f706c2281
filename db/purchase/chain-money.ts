/** Money on the chain: the height up to which it was compared with purchases, and money that belongs to no purchase. */

import { STRAY_BY_HAND, STRAY_NOTE } from '../../server/domain/purchase/account.ts'
import type { Address, UnixMs } from '../../server/domain/purchase/payment.ts'
import type { ChainCheckpoint, Payouts } from '../../server/ports.ts'
import { toInteger, parsePayees } from '../rows.ts'
import { changeRows, countChangedRows, queryOne, queryRows, runTogether, type Driver, type Tx } from '../tx.ts'
import { creditUnclaimed } from './sales.ts'

const HEIGHT = 'SELECT seen_height AS height FROM wall'
const IS_KNOWN = 'SELECT 1 FROM payments WHERE payer = $payer AND nonce = $nonce'
const PAID = 'SELECT DISTINCT pay_to FROM payments'
const ASKED = 'SELECT payees FROM wall'
const ADD_PAYEE = `
  UPDATE wall SET payees = trim(payees || ' ' || $payee) WHERE payees NOT LIKE '%' || $payee || '%'`
const ACCEPTED_AT = 'SELECT accepted_at AS at FROM wall'
const ACCEPT = 'UPDATE wall SET accepted_at = $now'
const REACH = `
  UPDATE wall SET seen_height = CASE WHEN seen_height > $height THEN seen_height ELSE $height END`

/** The checkpoint of a store. */
export const createCheckpoint = ({ query, write }: Driver): ChainCheckpoint => ({
  async readHeight() {
    const { height } = await query(() => queryOne<{ height: number | null }>(HEIGHT))
    return height === null ? undefined : BigInt(height)
  },
  isKnown: async ({ payer, nonce }) => (await query(() => queryRows(IS_KNOWN, { payer, nonce }))).length > 0,
  listPayees: () => query(listPayees),
  addPayees: (added) => write(null, () => addPayees(added)),
  async readAcceptanceTime() {
    const { at } = await query(() => queryOne<{ at: UnixMs | null }>(ACCEPTED_AT))
    return at ?? undefined
  },
  recordAcceptance: (now) => write(null, () => changeRows('the wall’s own row', ACCEPT, { now })),
  advanceTo: (height) => write(null, () => changeRows('the wall’s own row', REACH, { height: toInteger(height) })),
})

/** Every address at which the wall was paid or asked to be paid. */
export function* listPayees(): Tx<readonly Address[]> {
  const [paid, asked] = yield* runTogether(queryRows<{ pay_to: Address }>(PAID), queryOne<{ payees: string }>(ASKED))
  return [...new Set([...parsePayees(asked.payees), ...paid.map(({ pay_to }) => pay_to)])]
}

function* addPayees(added: readonly Address[]): Tx<void> {
  for (const payee of added) yield* countChangedRows(ADD_PAYEE, { payee })
}

// A record may replace one that precedes it in this order: the wall’s own guess, the operator's decision, the payout.
const NOTE = `
  INSERT INTO payouts (payer, nonce, reference, at) VALUES ($payer, $nonce, $reference, $now)
  ON CONFLICT (payer, nonce) DO UPDATE SET reference = excluded.reference, at = excluded.at
    WHERE (payouts.reference = '${STRAY_NOTE}' AND excluded.reference <> '${STRAY_NOTE}')
      OR (payouts.reference = '${STRAY_BY_HAND}' AND excluded.reference NOT IN ('${STRAY_NOTE}', '${STRAY_BY_HAND}'))`
const NOTED = 'SELECT reference FROM payouts WHERE payer = $payer AND nonce = $nonce'

/** The payouts of a store. */
export const createPayouts = ({ query, write }: Driver): Payouts => ({
  recordReference: async ({ payer, nonce }, reference, now) =>
    (await write(null, () => countChangedRows(NOTE, { payer, nonce, reference, now }))) === 1,
  async findReference({ payer, nonce }) {
    const [noted] = await query(() => queryRows<{ reference: string }>(NOTED, { payer, nonce }))
    return noted?.reference
  },
  recordCredit: (unclaimed, tx, now) => write(unclaimed.payment.payer, () => creditUnclaimed(unclaimed, tx, now)),
})
