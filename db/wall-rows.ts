/** Every row of a wall, apart from the engine that keeps it: what is read of one engine to be written to the other. */

import type { Log } from '../server/ports.ts'
import { CannotOpen } from './cannot-open.ts'
import type { Bound } from './fragments.ts'
import { PAYMENT, SUMMED } from './row-checksums.ts'

/** The tables that make a wall, in an order in which rows refer to earlier ones only, with their columns. */
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

/** Whether the first two columns, payer and nonce, number a table's rows; of any other the first does. */
export const isByPayment = (table: WallTable): boolean => table === 'payouts' || table === 'reused_receipts'

export const WALL_TABLES: readonly WallTable[] = Object.keys(WALL_COLUMNS).filter(
  (name): name is WallTable => name in WALL_COLUMNS,
)

/** A row: it has the columns of its own table. */
export type WallRow = Readonly<Record<(typeof WALL_COLUMNS)[WallTable][number], Bound>>

/** How many rows are in memory at once. */
export const PAGE_ROWS = 500

/** The rows of a wall as of one moment. */
export type WallRows = {
  /** The rows of a table, `PAGE_ROWS` at a time, in an order that both engines keep. */
  pages(table: WallTable): AsyncIterable<readonly WallRow[]>
  readonly log: Log
}

/** A wall in the making, which nobody sees until it is whole. */
export type NewWall = WallRows & {
  /** Writes rows; those of blocks are there already, and change. */
  write(table: WallTable, rows: readonly WallRow[]): Promise<void>
  /** Makes what follows from the rows, once all are there; the wall is only read from then on. */
  finish(): Promise<void>
}

/**
 * Leaves the note at the old place that the wall is elsewhere, on the disk: nobody opens it or commits to it from then on. To
 * be called once the new wall is whole, and before anybody can open it, so that at no moment both can sell.
 */
export type Close = () => Promise<void>

/** The old place was closed, and the new one certainly does not have the wall: only then may the old one open again. */
export class NotMoved extends CannotOpen {
  override name = 'NotMoved'
}

/** How a wall is moved. */
export type Moving = {
  readonly timeoutMs: number // how long to wait for a wall that is just stopping
  readonly note: string // what is said of the place that is left
  readonly isRehearsal: boolean // everything is done, on a wall that may go on selling, and nothing is kept
}
