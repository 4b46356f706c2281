/** What the tools work with: the use cases HTTP serves, and what they read from. */

import type { EditBody } from '../../shared/contract/block.ts'
import type { Failure } from '../domain/failure.ts'
import type { WallView } from '../domain/wall-view.ts'
import type { Blocks, Ledger } from '../ports.ts'
import type { Seller } from '../usecases/buy-block.ts'
import type { Editing } from '../usecases/edit-block.ts'
import type { RailWatch } from '../usecases/watch-rail.ts'
import type { Offer } from '../x402/terms.ts'

/** `readEdit` is HTTP's own reader of signed edits, so that both edges take and refuse the same. */
export type McpDesk = {
  readonly seller: Seller
  readonly ledger: Ledger
  readonly blocks: Blocks
  readonly editing: Editing
  readonly view: WallView
  readonly rail: RailWatch
  readonly offer: Offer
  readonly readEdit: (value: unknown) => EditBody | Failure
}
