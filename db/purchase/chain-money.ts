/** Money as it arrives on the chain: how far it was compared with the purchases, and what was settled outside of them. */

import { STRAY_NOTE } from '../../server/domain/purchase/account.ts'
import type { Address } from '../../server/domain/purchase/payment.ts'
import type { ChainCheckpoint, Payouts } from '../../server/ports.ts'
import { integer } from '../rows.ts'
import { change, count, one, rows, type Driver } from '../tx.ts'
import { creditUnclaimed } from './sales.ts'

const HEIGHT = 'SELECT seen_height AS height FROM wall'
const IS_KNOWN = 'SELECT 1 FROM payments WHERE payer = $payer AND nonce = $nonce'
const PRICES = 'SELECT DISTINCT amount FROM payments'
const PAYEES = 'SELECT DISTINCT pay_to FROM payments'
const REACH = `
  UPDATE wall SET seen_height = CASE WHEN seen_height > $height THEN seen_height ELSE $height END`

/** The checkpoint of a store. */
export const checkpoint = ({ look, write }: Driver): ChainCheckpoint => ({
  async height() {
    const { height } = await look(() => one<{ height: number | null }>(HEIGHT))
    return height === null ? undefined : BigInt(height)
  },
  knows: async ({ payer, nonce }) => (await look(() => rows(IS_KNOWN, { payer, nonce }))).length > 0,
  prices: async () => (await look(() => rows<{ amount: number }>(PRICES))).map(({ amount }) => BigInt(amount)),
  payees: async () => (await look(() => rows<{ pay_to: Address }>(PAYEES))).map(({ pay_to }) => pay_to),
  reach: (height) => write(null, () => change('the wall’s own row', REACH, { height: integer(height) })),
})

const NOTE = `
  INSERT INTO payouts (payer, nonce, reference, at) VALUES ($payer, $nonce, $reference, $now)
  ON CONFLICT (payer, nonce) DO UPDATE SET reference = excluded.reference, at = excluded.at
    WHERE payouts.reference = '${STRAY_NOTE}' AND excluded.reference <> '${STRAY_NOTE}'`
const IS_NOTED = 'SELECT 1 FROM payouts WHERE payer = $payer AND nonce = $nonce'

/** The payouts of a store. */
export const payouts = ({ look, write }: Driver): Payouts => ({
  note: async ({ payer, nonce }, reference, now) =>
    (await write(null, () => count(NOTE, { payer, nonce, reference, now }))) === 1,
  isNoted: async ({ payer, nonce }) => (await look(() => rows(IS_NOTED, { payer, nonce }))).length > 0,
  owe: (unclaimed, tx, now) => write(unclaimed.payment.payer, () => creditUnclaimed(unclaimed, tx, now)),
})
