/** The ports of a store, but for what each engine has of its own. */

import type { Audit } from '../server/ports.ts'
import type { Engine } from './engine.ts'
import { statement } from './purchase/books.ts'
import { checkpoint, payouts } from './purchase/chain-money.ts'
import { ledgerReader } from './purchase/ledger-reader.ts'
import { ledger } from './purchase/ledger.ts'
import type { Driver } from './tx.ts'
import { agents } from './wall/agents.ts'
import { blocks } from './wall/blocks.ts'
import { compaction } from './wall/log.ts'
import { moderation } from './wall/moderation.ts'

/** The ports that both engines have by the same statements. */
export type StorePorts = Omit<Engine, 'log' | 'store' | 'leases' | 'jobs' | 'notifier' | 'close'> & {
  readonly audit: Audit
}

export const storePorts = (driver: Driver): StorePorts => ({
  ledger: ledger(driver),
  ledgerReader: ledgerReader(driver),
  blocks: blocks(driver),
  agents: agents(driver),
  moderation: moderation(driver),
  payouts: payouts(driver),
  compaction: compaction(driver),
  checkpoint: checkpoint(driver),
  audit: { statement: () => driver.read(statement) },
})
