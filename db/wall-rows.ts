/** Every row of a wall, independent of its engine: read from one engine and written to the other. */

import type { Log } from '../server/ports.ts'
import { CannotOpen } from './cannot-open.ts'
import type { Bound } from './fragments.ts'
import { PAYMENT, SUMMED } from './row-checksums.ts'

/** The tables of a wall with their columns, ordered so that each row refers only to rows that already exist. */
export const WALL_COLUMNS = {
  agents: [...SUMMED.agents, 'signed_at'],
  changes: SUMMED.changes,
  payments: [...PAYMENT, 'w', 'h', 'attempt', 'identifier', 'order_text', 'salt'],
  reused_receipts: ['payer', 'nonce', 'payment'],
  blocks: [...SUMMED.blocks, 'signed_at'],
  moderated: SUMMED.moderated,
  moderated_agents: SUMMED.moderated_agents,
  moderation_acts: ['id', 'at', 'who', 'act', 'what', 'parts', 'why'],
  purchase_painters: SUMMED.purchase_painters,
  wallet_painters: SUMMED.wallet_painters,
  edits: ['number', 'block', 'agent', 'digest', 'keep_until'],
  reports: [
    'id',
    'at',
    'work',
    'block',
    'reason',
    'note',
    'reporter',
    'delivered',
    'closed_at',
    'closed_by',
    'outcome',
    'why',
  ],
  payouts: ['payer', 'nonce', 'reference', 'at'],
  wall: [...SUMMED.wall, 'payees', 'accepted_at', 'backed_up_at', 'delivered', 'report_key'],
} as const

export type WallTable = keyof typeof WALL_COLUMNS

/** Whether a table's key consists of its first two columns, payer and nonce; otherwise the key is the first column. */
export const isKeyedByPayment = (table: WallTable): boolean => table === 'payouts' || table === 'reused_receipts'

export const WALL_TABLES: readonly WallTable[] = Object.keys(WALL_COLUMNS).filter(
  (name): name is WallTable => name in WALL_COLUMNS,
)

/** A row of one of the tables; it has only the columns of that table. */
export type WallRow = Readonly<Record<(typeof WALL_COLUMNS)[WallTable][number], Bound>>

/** How many rows are in memory at a time. */
export const PAGE_ROWS = 500

/** The rows of a wall from one snapshot. */
export type WallRows = {
  /** The rows of a table, `PAGE_ROWS` at a time, in the same order on both engines. */
  readPages(table: WallTable): AsyncIterable<readonly WallRow[]>
  readonly log: Log
}

/** A wall that is being created, invisible until it is complete. */
export type NewWall = WallRows & {
  /** Writes rows. Rows of blocks already exist and are updated. */
  write(table: WallTable, rows: readonly WallRow[]): Promise<void>
  /** Creates everything derived from the rows; call it once all rows are written. Afterwards the wall is only read. */
  finish(): Promise<void>
}

/**
 * Writes and flushes a note at the old location, which says that the wall has moved; from then on, nobody can open the
 * wall or commit to it there. Must be called once the new wall is complete and before anybody can open it, so that the
 * old and the new wall can never both sell.
 */
export type Close = () => Promise<void>

/**
 * The old location was closed, but the new one certainly does not have the wall. Only in this case may the old one be
 * opened again.
 */
export class NotMoved extends CannotOpen {
  override name = 'NotMoved'
}

/** How a wall is moved. */
export type Moving = {
  readonly timeoutMs: number // how long to wait for a wall that is shutting down
  readonly note: string // the text of the note at the old location
  readonly isRehearsal: boolean // does everything while the wall may continue to sell, then discards the copy
}
