/** Painters: whose signatures count as an owner's. */

import type { Listing } from '../../../server/domain/purchase/listing.ts'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import type { NamingResult, PainterNaming } from '../../../server/domain/wall/edit.ts'
import type { AgentId } from '../../../server/domain/wall/log.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import { painterAmong, type WalletPainter } from '../../painters.ts'
import { amend, put, writeAll, type Check, type Reading, type Stored, type Work } from '../writes.ts'

/** Columns that tell who paints a block `b`; `JOIN_PAINTERS` brings them. */
export const PAINTERS = `
  named.payment AS named_payment, named.painter AS named_painter, named.sum AS named_sum,
  word.agent AS word_agent, word.painter AS word_painter, word.ts AS word_ts, word.through AS word_through,
  word.sum AS word_sum`

export const JOIN_PAINTERS = `
  LEFT JOIN purchase_painters AS named ON named.payment = b.payment
  LEFT JOIN wallet_painters AS word ON word.agent = b.agent`

/** What they hold. */
export type PainterRow = {
  readonly named_payment: number | null
  readonly named_painter: Address
  readonly named_sum: Uint8Array | null
  readonly word_agent: AgentId | null
  readonly word_painter: Address | null
  readonly word_ts: number
  readonly word_through: number
  readonly word_sum: Uint8Array | null
}

/** Who paints the block of a row. Throws `StoreUnavailable` when what says so is damaged. */
export function painterIn(check: Check, row: PainterRow): Address | null {
  const named = row.named_payment === null ? null : { payment: row.named_payment, painter: row.named_painter }
  if (named !== null) check('purchase_painters', { ...named, sum: row.named_sum })
  const { word_agent: agent, word_painter: painter, word_ts: ts, word_through: through } = row
  const word = agent === null ? null : { agent, painter, ts, through }
  if (word !== null) check('wallet_painters', { ...word, sum: row.word_sum })
  return painterAmong(named, word)
}

type WalletRow = Stored<'wallet_painters'> & WalletPainter

/** The wallet's word that holds now. Throws `StoreUnavailable` when its row is damaged. */
export async function ofWallet({ queries, check }: Reading, agent: AgentId): Promise<WalletRow | null> {
  const [row] = await queries.rows<WalletRow>('SELECT * FROM wallet_painters WHERE agent = $1', [agent])
  if (row !== undefined) check('wallet_painters', row)
  return row ?? null
}

/** Keeps whom a new purchase names, if it does; its payment must be written. */
export async function nameForPurchase({ queries }: Work, payment: number, { painter }: Listing): Promise<void> {
  if (painter !== null) await writeAll(queries, [put('purchase_painters', { payment, painter })])
}

/** Takes a wallet's word, which ends every naming before it; to be called under the lock of the wallet. */
export async function nameForWallet(work: Work, agent: AgentId, { painter, ts }: PainterNaming): Promise<NamingResult> {
  const before = await ofWallet(work, agent)
  if (before !== null && ts <= before.ts) return 'superseded'
  await lockCounters(work)
  const [last] = await work.queries.rows<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM payments')
  const word = { agent, painter, ts, through: last?.id ?? 0 }
  await writeAll(work.queries, [
    before === null ? put('wallet_painters', word) : amend('wallet_painters', before, word),
  ])
  return 'applied'
}

/** Who paints each of some claimed blocks. Throws `StoreUnavailable` when what says so is damaged. */
export async function paintersOf(
  { queries, check }: Reading,
  blocks: readonly BlockIndex[],
): Promise<ReadonlySet<Address | null>> {
  const text = `SELECT ${PAINTERS} FROM blocks AS b ${JOIN_PAINTERS} WHERE b.i = ANY ($1::integer[])`
  const rows = await queries.rows<PainterRow>(text, [`{${blocks.join(', ')}}`])
  return new Set(rows.map((row) => painterIn(check, row)))
}

/**
 * The same for a repaint that a painter's signature rests on. Repaints take the counters, and so does a wallet's word: none
 * that is begun before the word is kept after it.
 */
export async function lastingPaintersOf(
  work: Work,
  blocks: readonly BlockIndex[],
): Promise<ReadonlySet<Address | null>> {
  await lockCounters(work)
  return await paintersOf(work, blocks)
}

const lockCounters = ({ queries }: Work) => queries.rows('SELECT 1 FROM counters FOR UPDATE')
