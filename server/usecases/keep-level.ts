/** Keeps views level with a log that other processes write, too. */

import { StoreUnavailable } from '../domain/failure.ts'
import type { Bell, Clock, Journal } from '../ports.ts'
import { keepGoing } from './keep-going.ts'

// What no bell told of is seen within this time.
const POLL_EVERY_MS = 1000

/** What keeping level needs. */
export type Levelling = {
  readonly bell: Bell
  readonly advance: () => Promise<void>
  readonly clock: Clock
  readonly journal: Journal
}

/** Advances at each ring of the bell, and every second in case one is missed, until `signal` aborts. */
export async function keepLevel({ bell, advance, clock, journal }: Levelling, signal: AbortSignal): Promise<void> {
  let isBehind = false
  const catchUp = async () => {
    try {
      await advance()
      if (isBehind) journal.note('log-followed')
      isBehind = false
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      if (!isBehind)
        journal.note('log-out-of-reach', { what: 'the store is unavailable; readers see the wall as it was' })
      isBehind = true
    }
  }
  // What goes wrong here is met again by the poll, which tells of it.
  const stop = bell.listen(() => void catchUp().catch(() => {}))
  await keepGoing({ clock, journal }, signal, async () => {
    await catchUp()
    return POLL_EVERY_MS
  })
  stop()
}
