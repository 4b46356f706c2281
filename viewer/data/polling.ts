/**
 * A source that asks again and again: for the end of the log, which is the same for everyone, so that a proxy between answers
 * for the service; and now and then for the canvas read.
 */

import type { LogTail } from '../../shared/contract/live.ts'
import { deedReader } from './deed-reader.ts'
import { isNews, type CanvasReader, type Listener, type Source } from './source.ts'

const TAIL_MS = 4000
// Half a second of a fast line for a full wall, and the tail has told of all but what the operator hid.
const CANVAS_MS = 300_000

/** The service's reads, asked while the page is seen. */
export function pollingSource(readCanvas: CanvasReader): Source {
  return {
    follow: (listener, signal) => follow(listener, readCanvas, signal),
    deed: deedReader(),
  }
}

function follow(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = false
  let canvasReadAt = performance.now()
  // Up to where the log is known; at first nobody can tell.
  let knownTo: number | undefined

  const ask = async (canvasToo: boolean) => {
    if (asking || signal.aborted) return
    clearTimeout(timer)
    asking = true
    try {
      const { after, nextAfter, changes } = await readTail(signal)
      const isGap = knownTo === undefined || after > knownTo
      if (canvasToo || isGap || performance.now() - canvasReadAt > CANVAS_MS) {
        canvasReadAt = performance.now()
        const reading = await readCanvas()
        if (signal.aborted) return
        if (isNews(reading)) listener.reading(reading, changes)
      }
      const seen = knownTo ?? 0
      listener.changes(changes.filter(({ number }) => number > seen))
      // A copy on the way may be older than what is known.
      knownTo = Math.max(seen, nextAfter)
      listener.heard(true)
    } catch {
      if (!signal.aborted) listener.heard(false)
    }
    asking = false
    if (!document.hidden && !signal.aborted) timer = setTimeout(() => void ask(false), TAIL_MS)
  }

  // After sleep or a lost line there may be much to catch up with, and nobody should look at an old wall for long.
  const wake = () => (document.hidden ? clearTimeout(timer) : void ask(true))
  document.addEventListener('visibilitychange', wake, { signal })
  window.addEventListener('online', wake, { signal })
  window.addEventListener('pageshow', (event) => event.persisted && wake(), { signal })
  timer = setTimeout(() => void ask(false), TAIL_MS)
}

async function readTail(signal: AbortSignal): Promise<LogTail> {
  // A browser's own copy would come one question late.
  const response = await fetch('/api/tail', { signal, cache: 'no-cache' })
  if (!response.ok) throw new Error(`the tail of the log answered ${response.status}`)
  const tail: LogTail = await response.json()
  return tail
}
