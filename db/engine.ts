/** The ports of an open storage engine. */

import type { ChangeNotifier, ExclusiveJobs, Leases, Log, Store } from '../server/ports.ts'
import { statement } from './purchase/books.ts'
import { checkpoint, payouts } from './purchase/chain-money.ts'
import { ledgerReader } from './purchase/ledger-reader.ts'
import { ledger } from './purchase/ledger.ts'
import type { Driver } from './tx.ts'
import { agents } from './wall/agents.ts'
import { backups } from './wall/backups.ts'
import { blocks } from './wall/blocks.ts'
import { deliveries } from './wall/deliveries.ts'
import { compaction } from './wall/log.ts'
import { moderation } from './wall/moderation.ts'
import { reports } from './wall/reports.ts'

/** The ports that both engines implement with the same statements. */
export const storePorts = (driver: Driver) => ({
  ledger: ledger(driver),
  ledgerReader: ledgerReader(driver),
  blocks: blocks(driver),
  agents: agents(driver),
  moderation: moderation(driver),
  payouts: payouts(driver),
  compaction: compaction(driver),
  checkpoint: checkpoint(driver),
  backups: backups(driver),
  deliveries: deliveries(driver),
  reports: reports(driver),
  audit: { statement: () => driver.read(statement) },
})

/** The ports of an open store. `close` releases it after writing everything. */
export type Engine = ReturnType<typeof storePorts> & {
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
  /** From then on, damaged rows are left out. Rejects with `CannotOpen` if the store cannot be used. */
  readonly checked: Promise<Checked>
  /**
   * Checks the history, which takes longer the longer it is; call it once `checked` has resolved. Until it resolves, each entry
   * is checked as it is read. Rejects with `CannotOpen` if the store cannot be used.
   */
  checkHistory(): Promise<void>
}
