/** Reads the changes since a wall was stored, and delivers them to the page. */

import type { FeedPage } from '../../shared/contract/feed.ts'
import type { ChangeDto } from '../../shared/contract/live.ts'
import { readPrice } from '../page-words.ts'
import type { KeptWall } from './kept-copy.ts'
import { readHistory, readJson, readTail } from './read-json.ts'

// More changes than this take more bytes than the whole wall.
const CHANGES_MAX = 1000

/** The changes since a wall was stored, in the order of the log; `undefined` if the whole wall must be read. */
export async function readChangesSince({ wall, number }: KeptWall): Promise<readonly ChangeDto[] | undefined> {
  if (wall.pricing.perBlock !== readPrice()) return undefined
  const [{ after, nextAfter, changes }, isSame] = await Promise.all([readTail(), isLastSaleInLog(wall.stats)])
  if (!isSame || nextAfter - number > CHANGES_MAX) return undefined
  // A proxy's copy of the tail may be older than the stored wall, which then already shows some or all of the tail's
  // changes.
  return after <= number ? changes.filter((change) => change.number > number) : await readHistory(number)
}

/**
 * Whether the wall's last sale is in the log. It may be missing after a restore, or if another wall is now at the same
 * address.
 */
async function isLastSaleInLog({ lastSaleId, lastClaimedAt }: KeptWall['wall']['stats']): Promise<boolean> {
  if (lastSaleId === 0) return true
  const path = `/api/feed?after=${lastSaleId - 1}&limit=1`
  const { sales } = await readJson<FeedPage>(path, 'feed', { cache: 'no-cache' })
  return sales[0]?.seq === lastSaleId && sales[0].t === lastClaimedAt
}

const ARRIVAL_MS = 3000
const STEP_MS = 40

/**
 * Delivers changes in order within three seconds; the changes of one purchase or repaint arrive together. If the user
 * prefers reduced motion, or the page is hidden, all changes arrive together.
 */
export async function deliverGradually(
  changes: readonly ChangeDto[],
  receive: (changes: readonly ChangeDto[]) => void,
) {
  const parts = groupByTime(changes)
  const begun = performance.now()
  for (let done = 0; done < parts.length;) {
    const isStill = document.hidden || window.matchMedia('(prefers-reduced-motion: reduce)').matches
    const share = isStill ? 1 : Math.min(1, (performance.now() - begun) / ARRIVAL_MS)
    const end = Math.max(1, Math.ceil(share * parts.length))
    receive(parts.slice(done, end).flat())
    done = end
    if (done < parts.length) await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  }
}

/** Groups consecutive changes that have the same time. */
export function groupByTime(changes: readonly ChangeDto[]): readonly (readonly ChangeDto[])[] {
  const parts: ChangeDto[][] = []
  for (const change of changes) {
    const last = parts.at(-1)
    if (last?.[0]?.t === change.t) last.push(change)
    else parts.push([change])
  }
  return parts
}
