/** What the live stream and polling bring the log to. */

import type { ChangeDto } from '../../shared/contract/live.ts'

/** A wall that follows the log. */
export type Follower = {
  /** Number of the newest change that the wall shows. */
  number(): number
  /** Applies changes in the order they were made; those that the wall shows already change nothing. */
  receive(changes: readonly ChangeDto[]): void
  /** Reads the whole wall, where the log cannot tell all that was missed. */
  readAgain(signal: AbortSignal): Promise<void>
  /** Whether the last attempt to reach the log succeeded. */
  setStatus(ok: boolean): void
}
