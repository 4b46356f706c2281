/** What the live stream and polling report. */

import type { Sale } from '../../shared/contract/feed.ts'
import type { ChangeDto } from '../../shared/contract/live.ts'
import type { Reading } from './read-canvas.ts'

export type Listener = {
  /** Number of the last sale that is known. */
  known(): number
  sales(sales: readonly Sale[]): void
  /** Changes in the order they were made; a change that is known already may come again. */
  changes(changes: readonly ChangeDto[]): void
  /** A later read of the wall, and changes that it may not show yet. */
  reading(reading: Reading, told: readonly ChangeDto[]): void
  /** Whether the last attempt to hear of changes succeeded. */
  heard(well: boolean): void
}
