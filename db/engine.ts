/** What every storage engine is, once it is open. */

import type {
  Agents,
  ChangeNotifier,
  Blocks,
  LedgerReader,
  ChainCheckpoint,
  ExclusiveJobs,
  Leases,
  Ledger,
  Log,
  LogCompaction,
  Moderation,
  Payouts,
  Store,
} from '../server/ports.ts'

/** The ports of an open store. `close` lets go of it, with nothing left unwritten. */
export type Engine = {
  readonly ledger: Ledger
  readonly ledgerReader: LedgerReader
  readonly blocks: Blocks
  readonly agents: Agents
  readonly moderation: Moderation
  readonly payouts: Payouts
  readonly log: Log
  readonly compaction: LogCompaction
  readonly checkpoint: ChainCheckpoint
  readonly store: Store
  readonly leases: Leases
  readonly jobs: ExclusiveJobs
  readonly notifier: ChangeNotifier
  close(): Promise<void>
}

/** What a look through the whole store found; what was read from it before it was `mended` may not be true. */
export type Checked = 'whole' | 'mended'

/** A store that can be read while it is still being looked through. */
export type Ahead<Store = Engine> = {
  readonly store: Store
  /** From then on what is damaged is left out. Rejects with `CannotOpen` when the store cannot be used. */
  readonly checked: Promise<Checked>
}
