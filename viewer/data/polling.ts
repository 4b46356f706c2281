/** A source that asks again and again: the feed for sales, and now and then the canvas read for repaints and new names. */

import type { FeedPage } from '../../shared/contract/feed.ts'
import { deedReader } from './deed-reader.ts'
import { isNews, type CanvasReader, type Listener, type Source } from './source.ts'

const FEED_MS = 4000
const CANVAS_MS = 20_000

// The service's own limit for one page.
const PAGE_SALES = 200

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

  const ask = async (canvasToo: boolean) => {
    if (asking || signal.aborted) return
    clearTimeout(timer)
    asking = true
    try {
      await readSales(listener, signal)
      if (canvasToo || performance.now() - canvasReadAt > CANVAS_MS) {
        canvasReadAt = performance.now()
        const reading = await readCanvas()
        if (isNews(reading) && !signal.aborted) listener.reading(reading, [])
      }
      listener.heard(true)
    } catch {
      if (!signal.aborted) listener.heard(false)
    }
    asking = false
    if (!document.hidden && !signal.aborted) timer = setTimeout(() => void ask(false), FEED_MS)
  }

  // After sleep or a lost line there may be much to catch up with, and nobody should look at an old wall for long.
  const wake = () => (document.hidden ? clearTimeout(timer) : void ask(true))
  document.addEventListener('visibilitychange', wake, { signal })
  window.addEventListener('online', wake, { signal })
  window.addEventListener('pageshow', (event) => event.persisted && wake(), { signal })
  timer = setTimeout(() => void ask(false), FEED_MS)
}

/** Reads pages until there are no more; the cursor is the listener's, so nothing is told twice or left out. */
export async function readSales(listener: Listener, signal: AbortSignal) {
  for (let more = true; more;) {
    const response = await fetch(`/api/feed?after=${listener.known()}&limit=${PAGE_SALES}`, { signal })
    if (!response.ok) throw new Error(`the feed answered ${response.status}`)
    const page: FeedPage = await response.json()
    if (page.sales.length > 0) listener.sales(page.sales)
    more = page.hasMore && page.sales.length > 0
  }
}
