/** Keeps the wall up to date. */

import { wallOf, type Wall } from '../wall/wall-model.ts'
import { withChanges } from './apply-updates.ts'
import type { Follower } from './follower.ts'
import { poll } from './polling.ts'
import { canvasReader } from './read-canvas.ts'
import { followStream } from './stream.ts'

// One attempt may fail; after this many the page says that what it shows may be old.
const FAILURES_TOLERATED = 2

export type SyncDeps = {
  readonly number: number // of the newest change that the wall shows
  readonly readAt: number | undefined // when it was read, in Unix milliseconds, if it did not come from the service now
  wall(): Wall | undefined
  show(wall: Wall): void
  /** Shows a warning about the wall's age; an empty one when all is well. */
  showStale(words: string): void
}

const staleText = (since: number) =>
  since === 0
    ? 'Not up to date: this is the wall as it was last read'
    : `Not up to date since ${new Date(since).toLocaleString(undefined, since < Date.now() - DAY_MS ? DAY : TIME)}`

const DAY_MS = 86_400_000
const DAY = { dateStyle: 'medium', timeStyle: 'short' } as const
const TIME = { timeStyle: 'medium' } as const

/** Keeps the wall up to date until `signal` aborts. */
export function syncWall({ number, readAt, wall: current, show, showStale }: SyncDeps, signal: AbortSignal) {
  const read = canvasReader((path) => fetch(path, { cache: 'no-cache' }))
  let known = number
  let failures = 0
  let upToDateAt = readAt ?? Date.now()
  if (readAt !== undefined) showStale(staleText(readAt))
  followLog(
    {
      number: () => known,
      receive(changes) {
        const unknown = changes.filter((change) => change.number > known)
        const wall = current()
        if (wall === undefined || unknown.length === 0) return
        known = unknown.at(-1)?.number ?? known
        const changed = withChanges(wall, unknown)
        if (changed !== wall) show(changed)
      },
      async readAgain(until) {
        const reading = await read()
        if (until.aborted) return
        known = reading.number
        show(wallOf(reading))
      },
      setStatus(ok) {
        failures = ok ? 0 : failures + 1
        if (ok) upToDateAt = Date.now()
        if (ok || failures >= FAILURES_TOLERATED) showStale(ok ? '' : staleText(upToDateAt))
      },
    },
    signal,
  )
}

/** Brings a wall all that happens, by the stream or else by polling, until `signal` aborts. */
function followLog(follower: Follower, signal: AbortSignal) {
  let current = new AbortController()
  // After sleep a stream may be dead without an error. A hidden page needs none, and browsers allow all pages of a
  // service only six connections together.
  const wake = () => {
    current.abort()
    if (document.hidden || signal.aborted) return
    current = new AbortController()
    const until = current.signal
    followStream(follower, until, () => poll(follower, until))
  }
  document.addEventListener('visibilitychange', wake, { signal })
  window.addEventListener('online', wake, { signal })
  window.addEventListener('pageshow', (event) => event.persisted && wake(), { signal })
  signal.addEventListener('abort', () => current.abort())
  wake()
}
