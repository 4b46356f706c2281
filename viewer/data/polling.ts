/**
 * Polls the service where no live stream can be kept open: the end of the log, which is the same for everyone, so that a
 * proxy can answer for the service; and from time to time the canvas read.
 */

import type { LogTail } from '../../shared/contract/live.ts'
import type { Listener } from './listener.ts'
import { isNews, type CanvasReader } from './read-canvas.ts'
import { readJson } from './read-json.ts'

const TAIL_MS = 4000
// A full wall takes half a second of a fast line, and the tail has all but what the operator hid.
const CANVAS_MS = 300_000

/** Polls until `signal` aborts. */
export function poll(listener: Listener, readCanvas: CanvasReader, signal: AbortSignal) {
  let canvasReadAt = performance.now()
  let knownTo: number | undefined // the last number of the log that is known; none before the first answer

  const ask = async () => {
    if (signal.aborted) return
    try {
      // The browser's own copy would be one question late.
      const { after, nextAfter, changes } = await readJson<LogTail>('/api/tail', 'tail of the log', {
        signal,
        cache: 'no-cache',
      })
      const isGap = knownTo === undefined || after > knownTo
      if (isGap || performance.now() - canvasReadAt > CANVAS_MS) {
        canvasReadAt = performance.now()
        const reading = await readCanvas()
        if (signal.aborted) return
        if (isNews(reading)) listener.reading(reading, changes)
      }
      const seen = knownTo ?? 0
      listener.changes(changes.filter(({ number }) => number > seen))
      // A proxy's copy may be older than what is known.
      knownTo = Math.max(seen, nextAfter)
      listener.heard(true)
    } catch {
      if (!signal.aborted) listener.heard(false)
    }
    setTimeout(() => void ask(), TAIL_MS)
  }
  setTimeout(() => void ask(), TAIL_MS)
}
