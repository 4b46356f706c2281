/** What every storage engine is, once it is open. */

import type {
  Agents,
  Bell,
  Blocks,
  Books,
  Horizon,
  Leases,
  Ledger,
  Log,
  Moderation,
  Payouts,
  Store,
  Turns,
} from '../server/ports.ts'

/** The ports of an open store. `close` lets go of it, with nothing left unwritten. */
export type Engine = {
  readonly ledger: Ledger
  readonly books: Books
  readonly blocks: Blocks
  readonly agents: Agents
  readonly moderation: Moderation
  readonly payouts: Payouts
  readonly log: Log
  readonly horizon: Horizon
  readonly store: Store
  readonly leases: Leases
  readonly turns: Turns
  readonly bell: Bell
  close(): Promise<void>
}
