/** Painters: wallets whose signatures are as valid for repaints as the owner's. */

import type { Address, PaymentKey } from '../../server/domain/purchase/payment.ts'
import {
  type NamingResult,
  choosePainter,
  type PainterNaming,
  type WalletPainter,
} from '../../server/domain/wall/edit.ts'
import type { AgentId } from '../../server/domain/wall/log.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { changeRows, queryFirst, takeLock, queryOne, queryRows, type Tx } from '../tx.ts'

/** The columns for the painter of a block `b`; `JOIN_PAINTERS` joins their tables. */
export const PAINTERS = `
  named.payment AS named_payment, named.painter AS named_painter,
  word.agent AS word_agent, word.painter AS word_painter, word.ts AS word_ts, word.through AS word_through`

export const JOIN_PAINTERS = `
  LEFT JOIN purchase_painters AS named ON named.payment = b.payment
  LEFT JOIN wallet_painters AS word ON word.agent = b.agent`

export const PAINTER_SOURCES = { purchase_painters: 'named_payment', wallet_painters: 'word_agent' } as const

/** The values of the columns in `PAINTERS`. */
export type PainterRow = {
  readonly named_payment: number | null
  readonly named_painter: Address
  readonly word_agent: AgentId | null
  readonly word_painter: Address | null
  readonly word_ts: number
  readonly word_through: number
}

/** The painter of a row's block. */
export function toPainter(row: PainterRow): Address | null {
  const named = row.named_payment === null ? null : { payment: row.named_payment, painter: row.named_painter }
  const word =
    row.word_agent === null ? null : { painter: row.word_painter, ts: row.word_ts, through: row.word_through }
  return choosePainter(named, word)
}

const OF_BLOCKS = `SELECT ${PAINTERS} FROM blocks AS b ${JOIN_PAINTERS} WHERE b.i {in integer $blocks}`

/**
 * The set of painters of claimed blocks; it contains `null` if a block has none. Throws `StoreUnavailable` if a row is
 * damaged.
 */
export function* listPainters(blocks: readonly BlockIndex[]): Tx<ReadonlySet<Address | null>> {
  return new Set((yield* queryRows<PainterRow>(OF_BLOCKS, { blocks }, PAINTER_SOURCES)).map(toPainter))
}

/**
 * Like `listPainters`, for a repaint with a painter's signature. Such repaints lock the counters, and so do messages
 * that name a painter. Therefore, no repaint by a replaced painter is stored after the message that replaced that
 * painter.
 */
export function* lockAndListPainters(blocks: readonly BlockIndex[]): Tx<ReadonlySet<Address | null>> {
  yield* takeLock(COUNTERS)
  return yield* listPainters(blocks)
}

const COUNTERS = 'SELECT 1 FROM counters FOR UPDATE'

const OF_WALLET = 'SELECT agent, painter, ts, through FROM wallet_painters WHERE agent = $agent'

/** The painter that the wallet named last. Throws `StoreUnavailable` if its row is damaged. */
export const readPainterOfWallet = (agent: AgentId): Tx<WalletPainter | undefined> =>
  queryFirst<WalletPainter>(OF_WALLET, { agent }, { wallet_painters: 'agent' })

const NAME_FOR_PURCHASE = `
  INSERT INTO purchase_painters (payment, painter)
  SELECT id, $painter FROM payments WHERE payer = $payer AND nonce = $nonce`

/** Stores the painter of a new purchase; its payment must be stored already. */
export const storePurchasePainter = ({ payer, nonce }: PaymentKey, painter: Address): Tx<void> =>
  changeRows('a painter to name', NAME_FOR_PURCHASE, { payer, nonce, painter })

const NAME_FOR_WALLET = `
  INSERT INTO wallet_painters (agent, painter, ts, through) VALUES ($agent, $painter, $ts, $through)
  ON CONFLICT (agent) DO UPDATE SET painter = excluded.painter, ts = excluded.ts, through = excluded.through`
const LAST_PAYMENT = 'SELECT coalesce(max(id), 0) AS id FROM payments'

/** Applies a wallet's newest message, which replaces all earlier painters; must be called under the wallet's lock. */
export function* storeWalletPainter(agent: AgentId, { painter, ts }: PainterNaming): Tx<NamingResult> {
  const before = yield* readPainterOfWallet(agent)
  if (before !== undefined && ts <= before.ts) return 'superseded'
  yield* takeLock(COUNTERS)
  const { id: through } = yield* queryOne<{ id: number }>(LAST_PAYMENT)
  yield* changeRows('a wallet’s painter to store', NAME_FOR_WALLET, { agent, painter, ts, through })
  return 'applied'
}
