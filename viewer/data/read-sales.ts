/** Reads the sales that the listener does not know yet. */

import type { FeedPage } from '../../shared/contract/feed.ts'
import type { Listener } from './source.ts'

// The service's own limit for one page.
const PAGE_SALES = 200

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
