/**
 * Watches whether the facilitators' catalogues list the wall, because agents that search a catalogue find only listed
 * sellers.
 */

import type { Listing } from '../domain/listing-state.ts'
import type { Catalogue } from '../operator-ports.ts'
import type { WatchDeps } from './outages.ts'

export type ListingWatch = {
  /**
   * Queries every catalogue once; only the first call, right after a start, queries none. Returns the milliseconds
   * until the next call is due.
   */
  check(): Promise<number>
  /** The number of addresses that each catalogue listed in its last response. */
  readListings(): readonly Listing[]
}

const DAY_MS = 86_400_000

const FIRST_MS = 60_000
const EVERY_MS = DAY_MS / 4

// A catalogue takes some days to list a seller after a sale, and drops sellers after a month without sales.
const UNLISTED_MS = 7 * DAY_MS

/**
 * Makes a watch that knows nothing yet. A catalogue that does not respond, or a facilitator without one, changes
 * nothing.
 */
export function watchListing({
  catalogues,
  clock,
  outages,
}: WatchDeps & { readonly catalogues: readonly Catalogue[] }): ListingWatch {
  const listings = new Map<string, Listing>()
  let isStarting = true
  const checkCatalogue = async ({ host, countListed: listed }: Catalogue) => {
    const addresses = await listed()
    if (typeof addresses === 'string') return
    const now = clock.now()
    const before = listings.get(host)
    const listedAt = addresses > 0 ? now : (before?.listedAt ?? now)
    listings.set(host, { catalogue: host, addresses, seenAt: now, listedAt })
    const isLost = now - listedAt >= UNLISTED_MS
    outages.recordState({ kind: 'catalogue', name: host }, isLost ? UNLISTED : null)
  }
  return {
    async check() {
      if (!isStarting) await Promise.all(catalogues.map(checkCatalogue))
      const waitMs = isStarting ? FIRST_MS : EVERY_MS
      isStarting = false
      return waitMs
    },
    readListings: () => [...listings.values()],
  }
}

const UNLISTED = 'it has listed no address of this wall for seven days; run pixel-wall listed to see what to do'
