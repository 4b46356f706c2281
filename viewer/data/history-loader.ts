/** Reads the wall's history when its past is first looked at, and on when the wall has changed since. */

import type { HistoryPage, ChangeDto } from '../../shared/contract/live.ts'
import type { Page, Part } from '../page.ts'
import { historyOf } from '../wall/wall-history.ts'

// The service's own limit for one page.
const PAGE_CHANGES = 200

/** A part that is not seen: it tells the state its history. */
export function createMemory(page: Page, signal: AbortSignal): Part {
  const log: ChangeDto[] = []
  let nextAfter = 0
  let isBehind = true
  let reading = false

  const read = async () => {
    reading = true
    isBehind = false
    try {
      for (let more = true; more;) {
        const part = await readPage(nextAfter, signal)
        log.push(...part.changes)
        more = part.hasMore && part.nextAfter > nextAfter
        nextAfter = part.nextAfter
      }
      reading = false
      if (nextAfter !== page.state().history?.nextAfter)
        page.send({ do: 'remember', history: historyOf(log, nextAfter) })
    } catch {
      // Sales are shown by their time all the same; the next look at the past tries again.
      reading = false
      isBehind = true
    }
  }

  return {
    update({ wall, panel, at }, before) {
      if (wall !== before.wall) isBehind = true
      const isWanted = panel === 'time' || at !== undefined
      if (isWanted && isBehind && !reading && wall?.complete) void read()
    },
  }
}

async function readPage(after: number, signal: AbortSignal): Promise<HistoryPage> {
  const response = await fetch(`/api/history?after=${after}&limit=${PAGE_CHANGES}`, { signal })
  if (!response.ok) throw new Error(`the history answered ${response.status}`)
  const page: HistoryPage = await response.json()
  return page
}
