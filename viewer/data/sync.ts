/** Keeps the wall up to date by the log: its live stream, or polling where none can be kept open. */

import type { ChangeDto, LogTail, Reset } from '../../shared/contract/live.ts'
import type { Wall } from '../wall/wall-model.ts'
import { withChanges } from './apply-updates.ts'
import { readJson } from './read-json.ts'
import { readWall } from './read-wall.ts'

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
    ? 'Out of date: showing the last saved copy of the wall'
    : `Out of date. Last updated ${new Date(since).toLocaleString(undefined, since < Date.now() - DAY_MS ? DAY : TIME)}`

const DAY_MS = 86_400_000
const DAY = { dateStyle: 'medium', timeStyle: 'short' } as const
const TIME = { timeStyle: 'medium' } as const

/** Keeps the wall up to date. */
export function syncWall(deps: SyncDeps) {
  const follower = createFollower(deps)
  let current = new AbortController()
  // After sleep a stream may be dead without an error. A hidden page needs none, and browsers allow all pages of a
  // service only six connections together.
  const wake = () => {
    current.abort()
    if (document.hidden) return
    current = new AbortController()
    const until = current.signal
    followStream(follower, until, () => poll(follower, until))
  }
  document.addEventListener('visibilitychange', wake)
  window.addEventListener('online', wake)
  window.addEventListener('pageshow', (event) => event.persisted && wake())
  wake()
}

/** A wall that follows the log. */
type Follower = ReturnType<typeof createFollower>

function createFollower({ number, readAt, wall: current, show, showStale }: SyncDeps) {
  let known = number
  let failures = 0
  let upToDateAt = readAt ?? Date.now()
  if (readAt !== undefined) showStale(staleText(readAt))
  return {
    /** Number of the newest change that the wall shows. */
    number: () => known,
    /** Applies changes in the order they were made; those that the wall shows already change nothing. */
    receive(changes: readonly ChangeDto[]) {
      const unknown = changes.filter((change) => change.number > known)
      const wall = current()
      if (wall === undefined || unknown.length === 0) return
      known = unknown.at(-1)?.number ?? known
      const changed = withChanges(wall, unknown)
      if (changed !== wall) show(changed)
    },
    /** Reads the whole wall, where the log cannot tell all that was missed. */
    async readAgain(until: AbortSignal) {
      const read = await readWall({ ask: (path) => fetch(path, { cache: 'no-cache' }) })
      if (until.aborted) return
      known = read.number
      show(read.wall)
    },
    /** Whether the last attempt to reach the log succeeded. */
    setStatus(ok: boolean) {
      failures = ok ? 0 : failures + 1
      if (ok) upToDateAt = Date.now()
      if (ok || failures >= FAILURES_TOLERATED) showStale(ok ? '' : staleText(upToDateAt))
    },
  }
}

const KINDS = ['sale', 'repaint', 'identity'] satisfies ChangeDto['kind'][]

// After so many failures in a row the page polls.
const FAILURES_MAX = 3
const AGAIN_MS = 3000

// A purchase or a repaint of many blocks arrives block by block. What comes within this time is applied together.
const BATCH_MS = 20

/**
 * Brings what the stream sends until `signal` aborts; calls `giveUp` once after too many failures in a row. The stream
 * begins after the number that the wall shows, and sends every change from there on, so nothing can be missed.
 */
function followStream(follower: Follower, signal: AbortSignal, giveUp: () => void) {
  let stream: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let waiting: ChangeDto[] = []

  const close = () => {
    clearTimeout(timer)
    waiting = []
    stream?.close()
  }
  const fail = () => {
    follower.setStatus(false)
    failures++
    if (failures >= FAILURES_MAX) {
      close()
      giveUp()
      return
    }
    // The browser reconnects after a lost connection, but not after an answer that is no stream.
    if (stream?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS)
  }
  const flush = () => {
    const changes = waiting
    waiting = []
    follower.receive(changes)
  }
  const receive = ({ data }: MessageEvent<string>) => {
    const change: ChangeDto = JSON.parse(data)
    if (waiting.push(change) === 1) timer = setTimeout(flush, BATCH_MS)
  }
  const reset = async ({ data }: MessageEvent<string>) => {
    const { number }: Reset = JSON.parse(data)
    // The wall shows all up to there, and what came after follows.
    if (number === follower.number()) return
    close()
    try {
      await follower.readAgain(signal)
      if (!signal.aborted) open()
    } catch {
      if (!signal.aborted) fail()
    }
  }
  const open = () => {
    stream = new EventSource(`/api/live?after=${follower.number()}`)
    for (const kind of KINDS) stream.addEventListener(kind, receive)
    stream.addEventListener('reset' satisfies Reset['kind'], (event) => void reset(event))
    stream.addEventListener('error', fail)
    stream.addEventListener('open', () => {
      failures = 0
      follower.setStatus(true)
    })
  }
  signal.addEventListener('abort', close)
  open()
}

const TAIL_MS = 4000

/** Polls until `signal` aborts. */
function poll(follower: Follower, signal: AbortSignal) {
  const ask = async () => {
    if (signal.aborted) return
    try {
      // The browser's own copy would be one question late.
      const init: RequestInit = { signal, cache: 'no-cache' }
      const { after, changes } = await readJson<LogTail>('/api/tail', 'tail of the log', init)
      if (after > follower.number()) await follower.readAgain(signal)
      follower.receive(changes)
      follower.setStatus(true)
    } catch {
      if (!signal.aborted) follower.setStatus(false)
    }
    setTimeout(() => void ask(), TAIL_MS)
  }
  setTimeout(() => void ask(), TAIL_MS)
}
