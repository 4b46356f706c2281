/** A source that is told: the log as server-sent events, and a read of what came before whenever the stream opens. */

import type { Reset, ChangeDto } from '../../shared/contract/live.ts'
import { deedReader } from './deed-reader.ts'
import { pollingSource } from './polling.ts'
import { readSales } from './read-sales.ts'
import { isNews, type CanvasReader, type Listener, type Source } from './source.ts'

const KINDS = ['sale', 'repaint', 'identity'] satisfies ChangeDto['kind'][]

// After so many failures in a row the page asks instead.
const FAILURES_MAX = 3
const AGAIN_MS = 3000

// A canvas read may be this much older than the stream, through its own rhythm and the copies on its way.
const READ_LAG_MS = 5000

// A purchase or a repaint of many blocks is told block by block. What comes within this time is worked in together.
const TOGETHER_MS = 20

// Changes that are kept because a canvas read may not show them yet.
const TOLD_MAX = 2000

/** The service's stream while the page is seen; where none can be kept open, its reads are asked for again and again. */
export function liveSource(readCanvas: CanvasReader): Source {
  return {
    follow: (listener, signal) => follow(listener, readCanvas, signal),
    deed: deedReader(),
  }
}

function follow(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal) {
  let current = new AbortController()
  // A stream may be dead after sleep without anybody's notice. A page that is not seen needs none, and browsers allow
  // all pages of a service only six connections together.
  const wake = () => {
    current.abort()
    if (document.hidden || signal.aborted) return
    current = new AbortController()
    const until = current.signal
    hearStream(listener, readCanvas, until, () => pollingSource(readCanvas).follow(listener, until))
  }
  document.addEventListener('visibilitychange', wake, { signal })
  window.addEventListener('online', wake, { signal })
  window.addEventListener('pageshow', (event) => event.persisted && wake(), { signal })
  signal.addEventListener('abort', () => current.abort())
  wake()
}

/** Tells what the stream tells until `signal` aborts; calls `giveUp` once when it fails again and again. */
function hearStream(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal, giveUp: () => void) {
  const catchUp = catcherUp(listener, readCanvas, signal)
  let stream: EventSource | undefined
  const changes = gatherer(listener)
  let timer: ReturnType<typeof setTimeout> | undefined
  let failures = 0

  const open = () => {
    stream = new EventSource('/api/live')
    const told: ChangeDto[] = []
    const hear = ({ data }: MessageEvent<string>) => {
      const change: ChangeDto = JSON.parse(data)
      told.push(change)
      if (told.length > TOLD_MAX) told.splice(0, TOLD_MAX / 2)
      // Sales before this one, from before the stream opened, must not be passed over; the feed has this one, too.
      if (change.kind === 'sale' && change.seq > changes.known() + 1) catchUp(told)
      else changes.add(change)
    }
    for (const kind of KINDS) stream.addEventListener(kind, hear)
    // Too much was missed to be told: the canvas read has it.
    stream.addEventListener('reset' satisfies Reset['kind'], () => catchUp(told))
    stream.addEventListener('error', lose)
    stream.addEventListener('open', () => {
      failures = 0
      // The first read shows soon what was missed, and the second all of it.
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
      // The browser itself comes back after a lost line, but not after an answer that is no stream.
      clearTimeout(timer)
      timer = setTimeout(open, AGAIN_MS)
    }
  }
  signal.addEventListener('abort', close)
  open()
}

/** Hands changes on some at a time, in their order. */
function gatherer(listener: Listener) {
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
      if (gathered.push(change) === 1) timer = setTimeout(handOn, TOGETHER_MS)
    },
    drop() {
      clearTimeout(timer)
      gathered = []
    },
  }
}

/** Reads what was missed, once at a time; changes that were `told` meanwhile are worked into what is read. */
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
