/** Painters: whose signatures count as an owner's; every function must be called inside a read or a transaction. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { NamingResult, PainterNaming } from '../../../server/domain/wall/edit.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import { painterAmong, type PurchasePainter, type WalletPainter } from '../../painters.ts'
import { one, type Connection } from '../connection.ts'

/** The wallet's word that holds now. Throws `StoreUnavailable` when its row is damaged. */
export function ofWallet({ prepare, check }: Connection, agent: AgentId): WalletPainter | null {
  check('wallet_painters', agent)
  return prepare<WalletPainter>('SELECT painter, ts, through FROM wallet_painters WHERE agent = $agent').get({ agent })
}

/** Who paints the blocks that a wallet bought with a payment. Throws `StoreUnavailable` when what says so is damaged. */
export function painterOf(connection: Connection, payment: number, agent: AgentId): Address | null {
  connection.check('purchase_painters', payment)
  const named = connection
    .prepare<PurchasePainter>('SELECT payment, painter FROM purchase_painters WHERE payment = $payment')
    .get({ payment })
  return painterAmong(named, ofWallet(connection, agent))
}

/** Keeps whom a new purchase names. */
export function nameForPurchase({ prepare }: Connection, payment: number, painter: Address): void {
  prepare('INSERT INTO purchase_painters (payment, painter) VALUES ($payment, $painter)').run({ payment, painter })
}

/** Takes a wallet's word, which ends every naming before it. */
export function nameForWallet(connection: Connection, agent: AgentId, { painter, ts }: PainterNaming): NamingResult {
  const before = ofWallet(connection, agent)
  if (before !== null && ts <= before.ts) return 'superseded'
  const last = connection.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM payments')
  connection.prepare(NAME_FOR_WALLET).run({ agent, painter, ts, through: one(last, {}).id })
  return 'applied'
}

const NAME_FOR_WALLET = `
  INSERT INTO wallet_painters (agent, painter, ts, through) VALUES ($agent, $painter, $ts, $through)
  ON CONFLICT (agent) DO UPDATE SET painter = $painter, ts = $ts, through = $through`
