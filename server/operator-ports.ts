/** The ports of the store that serve the operator: what is recorded beside payments and the log. */

import type { UnixMs } from './domain/purchase/payment.ts'

/** The record of backups, whichever tool makes them. */
export type Backups = {
  /** When the last one was made; `undefined` before the first. */
  last(): Promise<UnixMs | undefined>
  note(now: UnixMs): Promise<void>
}
