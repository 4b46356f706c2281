/** The ports of an open storage engine. */

import type { ChangeNotifier, ExclusiveJobs, Leases, Log, Store } from '../server/ports.ts'
import { readStatement } from './purchase/books.ts'
import { createCheckpoint, createPayouts } from './purchase/chain-money.ts'
import { createLedgerReader } from './purchase/ledger-reader.ts'
import { createLedger } from './purchase/ledger.ts'
import type { Driver } from './tx.ts'
import { createAgents } from './wall/agents.ts'
import { createBackups } from './wall/backups.ts'
import { createBlocks } from './wall/blocks.ts'
import { createDeliveries } from './wall/deliveries.ts'
import { createCompaction } from './wall/log.ts'
import { createModeration } from './wall/moderation.ts'
import { createReports } from './wall/reports.ts'

/** The ports that both engines implement with the same statements. */
export const createStorePorts = (driver: Driver) => ({
  ledger: createLedger(driver),
  ledgerReader: createLedgerReader(driver),
  blocks: createBlocks(driver),
  agents: createAgents(driver),
  moderation: createModeration(driver),
  payouts: createPayouts(driver),
  compaction: createCompaction(driver),
  checkpoint: createCheckpoint(driver),
  backups: createBackups(driver),
  deliveries: createDeliveries(driver),
  reports: createReports(driver),
  audit: { readStatement: () => driver.read(readStatement) },
})

/** The ports of an open store. `close` closes its connections and releases its locks. */
export type Engine = ReturnType<typeof createStorePorts> & {
  readonly log: Log
  readonly store: Store
  readonly leases: Leases
  readonly jobs: ExclusiveJobs
  readonly notifier: ChangeNotifier
  close(): Promise<void>
}

/** The result of checking a store. After `repaired`, earlier reads must be repeated, because they may be wrong. */
export type Checked = 'whole' | 'repaired'

/** A store that can be read while it is still being checked. */
export type Ahead<Store = Engine> = {
  readonly store: Store
  /** Once this resolves, reads leave out damaged rows. Rejects with `CannotOpen` if the store cannot be used. */
  readonly checked: Promise<Checked>
  /**
   * Checks the history, which takes longer as the history grows; call this once `checked` has resolved. Until this
   * check is complete, each entry is checked as it is read. Rejects with `CannotOpen` if the store cannot be used.
   */
  checkHistory(): Promise<void>
}
