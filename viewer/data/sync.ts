/** Keeps the wall up to date with the log, by its live stream, or by polling if no stream can be kept open. */

import type { ChangeDto, Mark, Reset } from '../../shared/contract/live.ts'
import type { Wall } from '../wall/wall-model.ts'
import { applyChanges } from './apply-updates.ts'
import { deliverGradually, readChangesSince } from './catch-up.ts'
import type { KeptWall } from './kept-copy.ts'
import { readTail } from './read-json.ts'
import { readWall } from './read-wall.ts'

// After this many failed attempts in a row, the page warns that the wall may be out of date.
const FAILURES_TOLERATED = 2

export type SyncDeps = {
  readonly number: number // of the newest change that the wall shows
  readonly shared: string | null // path of the stream that a cache shares, if there is one
  readonly kept: KeptWall | undefined // the wall of an earlier visit, if the page shows it
  getWall(): Wall | undefined
  /** Shows a changed wall; `since` is the time from which the visitor missed changes, in Unix milliseconds. */
  showWall(wall: Wall, since?: number): void
  /** Shows a warning that the wall is out of date; an empty text removes it. */
  showStaleness(words: string): void
}

const describeStaleness = (since: number) =>
  `Out of date. Last updated ${new Date(since).toLocaleString(undefined, since < Date.now() - DAY_MS ? DAY : TIME)}`

const DAY_MS = 86_400_000
const DAY = { dateStyle: 'medium', timeStyle: 'short' } as const
const TIME = { timeStyle: 'medium' } as const

/**
 * Keeps the wall up to date. `caughtUp` resolves once the wall shows all changes since it was stored; `getWallToKeep`
 * returns the wall for the next visit.
 */
export function syncWall(deps: SyncDeps) {
  const follower = createFollower(deps)
  const caughtUp = deps.kept === undefined ? Promise.resolve() : deliverMissedChanges(follower, deps.kept)
  void caughtUp.then(() => followChanges(follower, deps.shared))
  return { caughtUp, getWallToKeep: follower.createKeptWall }
}

const AGAIN_MS = 3000

/** Delivers to the page the changes since a wall was stored; resolves once all have arrived. */
async function deliverMissedChanges(follower: Follower, kept: KeptWall): Promise<void> {
  for (;;) {
    try {
      const changes = await readChangesSince(kept)
      if (changes === undefined) await follower.readWholeWall(undefined, kept.at)
      follower.setStatus(true)
      return await deliverGradually(changes ?? [], (part) => follower.receive(part, kept.at))
    } catch {
      follower.setStatus(false)
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}

function followChanges(follower: Follower, shared: string | null) {
  let current = new AbortController()
  // After sleep, a stream may be dead without an error. A hidden page needs no stream, and browsers allow only six
  // connections to a service across all its pages.
  const restartStream = () => {
    current.abort()
    if (document.hidden) return
    current = new AbortController()
    const until = current.signal
    followStream(follower, shared, until, () => pollTail(follower, until))
  }
  document.addEventListener('visibilitychange', restartStream)
  window.addEventListener('online', restartStream)
  window.addEventListener('pageshow', (event) => event.persisted && restartStream())
  restartStream()
}

/** A wall that follows the log. */
type Follower = ReturnType<typeof createFollower>

function createFollower({ number, kept, getWall: current, showWall, showStaleness }: SyncDeps) {
  let known = number
  // For a stored wall, the page warns at the first failed attempt to read its changes.
  let failures = kept === undefined ? 0 : FAILURES_TOLERATED
  let upToDateAt = kept?.at ?? Date.now()
  return {
    /** The wall for the next visit. */
    createKeptWall(): KeptWall | undefined {
      const wall = current()
      return wall && { wall, number: known, at: failures === 0 ? Date.now() : upToDateAt }
    },
    /** Number of the newest change that the wall shows. */
    getNumber: () => known,
    /** Applies changes in the order they were made; ignores those that the wall already shows. */
    receive(changes: readonly ChangeDto[], since?: number) {
      const unknown = changes.filter((change) => change.number > known)
      const wall = current()
      if (wall === undefined || unknown.length === 0) return
      known = unknown.at(-1)?.number ?? known
      const changed = applyChanges(wall, unknown)
      if (changed !== wall) showWall(changed, since)
    },
    /** Reads the whole wall in place of the missed changes. */
    async readWholeWall(until: AbortSignal | undefined, since?: number) {
      const read = await readWall({ requestPath: (path) => fetch(path, { cache: 'no-cache' }) })
      if (until?.aborted) return
      known = read.number
      showWall(read.wall, since)
    },
    /** Records whether the last attempt to reach the log succeeded, and shows or removes the warning. */
    setStatus(ok: boolean) {
      failures = ok ? 0 : failures + 1
      if (ok) upToDateAt = Date.now()
      if (ok || failures >= FAILURES_TOLERATED) showStaleness(ok ? '' : describeStaleness(upToDateAt))
    },
  }
}

const KINDS = ['sale', 'repaint', 'identity'] satisfies ChangeDto['kind'][]

// After this many failures in a row, the page polls instead.
const FAILURES_MAX = 3

// The shared stream ends for all clients at the same moment; they reconnect at random moments within this time.
const SPREAD_MS = 2000

// A purchase or a repaint of many blocks arrives block by block. Changes that arrive within this time are applied
// together.
const BATCH_MS = 20

/**
 * Applies the changes of streams in batches. A batch waits until the wall shows all changes from before its stream
 * began.
 */
function createInbox(follower: Follower, signal: AbortSignal, fail: () => void) {
  let ready = Promise.resolve()
  let waiting: ChangeDto[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    const changes = waiting
    waiting = []
    void ready.then(
      () => follower.receive(changes),
      () => {},
    )
  }
  return {
    receive({ data }: MessageEvent<string>) {
      const change: ChangeDto = JSON.parse(data)
      if (waiting.push(change) === 1) timer = setTimeout(flush, BATCH_MS)
    },
    /** Called with the number after which a stream begins; the tail supplies any missing changes up to that number. */
    onStart({ data }: MessageEvent<string>) {
      const { number }: Mark = JSON.parse(data)
      ready = ready.catch(() => {}).then(() => catchUp(follower, number, signal))
      ready.catch(() => {
        if (!signal.aborted) fail()
      })
    },
    clear() {
      clearTimeout(timer)
      waiting = []
    },
  }
}

/**
 * Delivers the changes of the stream until `signal` aborts; calls `giveUp` once after too many failures in a row. The
 * stream begins after the number that the wall shows, and sends every change from there on, so nothing can be missed.
 * A stream that a cache shares begins at its own number, so the tail fills the gap.
 */
function followStream(follower: Follower, shared: string | null, signal: AbortSignal, giveUp: () => void) {
  let stream: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const closeStream = () => {
    clearTimeout(timer)
    inbox.clear()
    stream?.close()
  }
  const handleFailure = () => {
    follower.setStatus(false)
    failures++
    if (failures >= FAILURES_MAX) {
      closeStream()
      if (failures === FAILURES_MAX) giveUp()
    } else if (shared !== null) {
      // The shared stream breaks off when the operator hides content; the tail already has that change.
      stream?.close()
      void applyTail(follower, signal)
        .catch(() => {})
        .then(scheduleReopening)
    } else if (stream?.readyState === EventSource.CLOSED) {
      // The browser reconnects after a lost connection, but not after a response that is not a stream.
      timer = setTimeout(openStream, AGAIN_MS)
    }
  }
  const scheduleReopening = () => {
    clearTimeout(timer)
    stream?.close()
    if (!signal.aborted && failures < FAILURES_MAX) timer = setTimeout(openStream, Math.random() * SPREAD_MS)
  }
  const reloadWall = async () => {
    closeStream()
    try {
      await follower.readWholeWall(signal)
      if (!signal.aborted) openStream()
    } catch {
      if (!signal.aborted) handleFailure()
    }
  }
  const onReset = ({ data }: MessageEvent<string>) => {
    const { number }: Reset = JSON.parse(data)
    // If the newest change that the wall shows has this number, the stream continues.
    if (number !== follower.getNumber()) void reloadWall()
  }
  const onEnd = ({ data }: MessageEvent<string>) => {
    const { number }: Mark = JSON.parse(data)
    // If the wall shows more changes than the service has, the database was restored from an older copy.
    if (number < follower.getNumber()) void reloadWall()
    else scheduleReopening()
  }
  const openStream = () => {
    stream = new EventSource(shared ?? `/api/live?after=${follower.getNumber()}`)
    for (const kind of KINDS) stream.addEventListener(kind, inbox.receive)
    stream.addEventListener('start' satisfies Mark['kind'], inbox.onStart)
    stream.addEventListener('end' satisfies Mark['kind'], onEnd)
    stream.addEventListener('reset' satisfies Reset['kind'], onReset)
    stream.addEventListener('error', handleFailure)
    stream.addEventListener('open', () => {
      failures = 0
      follower.setStatus(true)
    })
  }
  const inbox = createInbox(follower, signal, handleFailure)
  signal.addEventListener('abort', closeStream)
  openStream()
}

/** Applies the newest changes once; resolves with the time to wait before the next request. */
async function applyTail(follower: Follower, signal: AbortSignal): Promise<number> {
  const { after, changes, askAgainMs } = await readTail(signal)
  if (after > follower.getNumber()) await follower.readWholeWall(signal)
  follower.receive(changes)
  return askAgainMs
}

// The next request waits this long, because the tail may come from a proxy, whose copy is up to two seconds old.
const CATCH_UP_MS = 1000

/**
 * Requests the tail until the wall shows every change up to a number; rejects if the tail cannot be read, or `signal`
 * aborts.
 */
async function catchUp(follower: Follower, number: number, signal: AbortSignal) {
  while (follower.getNumber() < number) {
    await applyTail(follower, signal)
    if (follower.getNumber() < number) await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS))
  }
}

const TAIL_MS = 4000

/** Polls the tail of the log until `signal` aborts. */
function pollTail(follower: Follower, signal: AbortSignal) {
  let askAgainMs = TAIL_MS
  const pollOnce = async () => {
    if (signal.aborted) return
    try {
      askAgainMs = await applyTail(follower, signal)
      follower.setStatus(true)
    } catch {
      if (!signal.aborted) follower.setStatus(false)
    }
    setTimeout(() => void pollOnce(), askAgainMs)
  }
  setTimeout(() => void pollOnce(), askAgainMs)
}
