/** Follows the log as server-sent events; whenever the stream opens, reads what came before. */

import type { FeedPage } from '../../shared/contract/feed.ts'
import type { Reset, ChangeDto } from '../../shared/contract/live.ts'
import type { Listener } from './listener.ts'
import { poll } from './polling.ts'
import { isNews, type CanvasReader } from './read-canvas.ts'
import { readJson } from './read-json.ts'

const KINDS = ['sale', 'repaint', 'identity'] satisfies ChangeDto['kind'][]

// After so many failures in a row the page polls.
const FAILURES_MAX = 3
const AGAIN_MS = 3000

// A canvas read may be this much older than the stream: the service publishes it at intervals, and proxies keep copies.
const READ_LAG_MS = 5000

// A purchase or a repaint of many blocks arrives block by block. What comes within this time is applied together.
const BATCH_MS = 20

// Changes that are kept because a canvas read may not show them yet.
const TOLD_MAX = 2000

// The service's own limit for one page of the feed.
const PAGE_SALES = 200

/** Reports all that happens after the listener's last known sale, by the stream or else by polling, until `signal` aborts. */
export function followLog(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal) {
  let current = new AbortController()
  // After sleep a stream may be dead without an error. A hidden page needs none, and browsers allow all pages of a
  // service only six connections together.
  const wake = () => {
    current.abort()
    if (document.hidden || signal.aborted) return
    current = new AbortController()
    const until = current.signal
    hearStream(listener, readCanvas, until, () => poll(listener, readCanvas, until))
  }
  document.addEventListener('visibilitychange', wake, { signal })
  window.addEventListener('online', wake, { signal })
  window.addEventListener('pageshow', (event) => event.persisted && wake(), { signal })
  signal.addEventListener('abort', () => current.abort())
  wake()
}

/** Reports what the stream sends until `signal` aborts; calls `giveUp` once after too many failures in a row. */
function hearStream(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal, giveUp: () => void) {
  const catchUp = catcherUp(listener, readCanvas, signal)
  let stream: EventSource | undefined
  const changes = batches(listener)
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const open = () => {
    stream = new EventSource('/api/live')
    const told: ChangeDto[] = []
    const hear = ({ data }: MessageEvent<string>) => {
      const change: ChangeDto = JSON.parse(data)
      told.push(change)
      if (told.length > TOLD_MAX) told.splice(0, TOLD_MAX / 2)
      // Sales from before the stream opened come first; the feed has them, and this one.
      if (change.kind === 'sale' && change.seq > changes.known() + 1) catchUp(told)
      else changes.add(change)
    }
    for (const kind of KINDS) stream.addEventListener(kind, hear)
    // The stream cannot send all that was missed: the canvas read has it.
    stream.addEventListener('reset' satisfies Reset['kind'], () => catchUp(told))
    stream.addEventListener('error', lose)
    stream.addEventListener('open', () => {
      failures = 0
      // The first read shows early what was missed, and the second all of it.
      catchUp(told)
      clearTimeout(timer)
      timer = setTimeout(() => catchUp(told), READ_LAG_MS)
    })
  }
  const close = () => {
    clearTimeout(timer)
    changes.drop()
    stream?.close()
  }
  const lose = () => {
    listener.heard(false)
    failures++
    const isOver = stream?.readyState === EventSource.CLOSED
    if (failures >= FAILURES_MAX) {
      close()
      giveUp()
    } else if (isOver) {
      // The browser reconnects after a lost connection, but not after an answer that is no stream.
      clearTimeout(timer)
      timer = setTimeout(open, AGAIN_MS)
    }
  }
  signal.addEventListener('abort', close)
  open()
}

/** Hands changes on in batches, in their order. */
function batches(listener: Listener) {
  let gathered: ChangeDto[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const handOn = () => {
    const changes = gathered
    gathered = []
    listener.changes(changes)
  }
  return {
    /** The newest sale that the listener knows, or is about to. */
    known: () => gathered.reduce((seq, change) => (change.kind === 'sale' ? change.seq : seq), listener.known()),
    add(change: ChangeDto) {
      if (gathered.push(change) === 1) timer = setTimeout(handOn, BATCH_MS)
    },
    drop() {
      clearTimeout(timer)
      gathered = []
    },
  }
}

/** Reads what was missed, one read at a time; changes that were `told` meanwhile are applied to what is read. */
function catcherUp(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal) {
  let reading = false
  const read = async (told: readonly ChangeDto[]) => {
    reading = true
    try {
      await readSales(listener, signal)
      const reading = await readCanvas()
      if (signal.aborted) return
      if (isNews(reading)) listener.reading(reading, told)
      listener.heard(true)
    } catch {
      if (!signal.aborted) listener.heard(false)
    }
    reading = false
  }
  return (told: readonly ChangeDto[]) => {
    if (!reading) void read(told)
  }
}

/** Reads the sales that the listener does not know yet. The cursor is the listener's, so that none is reported twice or left out. */
async function readSales(listener: Listener, signal: AbortSignal) {
  for (let more = true; more;) {
    const path = `/api/feed?after=${listener.known()}&limit=${PAGE_SALES}`
    const { sales, hasMore } = await readJson<FeedPage>(path, 'feed', { signal })
    if (sales.length > 0) listener.sales(sales)
    more = hasMore && sales.length > 0
  }
}
