/** Painters: whose signatures count as an owner's; every function must be called inside a read or a transaction. */

import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { NamingResult, PainterNaming } from '../../../server/domain/wall/edit.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import { painterAmong, type PurchasePainter, type WalletPainter } from '../../painters.ts'
import { one, type Connection } from '../connection.ts'

/** Tells and takes names of painters. */
export function paintersOf(connection: Connection) {
  const ofPurchase = connection.prepare<PurchasePainter, { payment: number }>(
    'SELECT payment, painter FROM purchase_painters WHERE payment = $payment',
  )
  const ofWallet = connection.prepare<WalletPainter, { agent: AgentId }>(
    'SELECT painter, ts, through FROM wallet_painters WHERE agent = $agent',
  )
  const nameForPurchase = connection.prepare<unknown, PurchasePainter>(
    'INSERT INTO purchase_painters (payment, painter) VALUES ($payment, $painter)',
  )
  const lastPayment = connection.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM payments')
  const nameForWallet = connection.prepare<unknown, WalletPainter & { agent: AgentId }>(`
    INSERT INTO wallet_painters (agent, painter, ts, through) VALUES ($agent, $painter, $ts, $through)
    ON CONFLICT (agent) DO UPDATE SET painter = $painter, ts = $ts, through = $through`)
  const walletPainter = (agent: AgentId): WalletPainter | null => {
    connection.check('wallet_painters', agent)
    return ofWallet.get({ agent })
  }
  return {
    /** The wallet's word that holds now. */
    ofWallet: walletPainter,
    /** Who paints the blocks that a wallet bought with a payment. */
    of(payment: number, agent: AgentId): Address | null {
      connection.check('purchase_painters', payment)
      return painterAmong(ofPurchase.get({ payment }), walletPainter(agent))
    },
    /** Keeps whom a new purchase names. */
    nameForPurchase: (payment: number, painter: Address): void => {
      nameForPurchase.run({ payment, painter })
    },
    /** Takes a wallet's word, which ends every naming before it. */
    nameForWallet(agent: AgentId, { painter, ts }: PainterNaming): NamingResult {
      const before = walletPainter(agent)
      if (before !== null && ts <= before.ts) return 'superseded'
      nameForWallet.run({ agent, painter, ts, through: one(lastPayment, {}).id })
      return 'applied'
    },
  }
}
