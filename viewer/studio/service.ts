/** The paint page's requests to the service, except those that read the wall itself. */

import { formatArea, type Area, type AreaSize } from '../../shared/area.ts'
import type { AreaState, EditAreaBody } from '../../shared/contract/area.ts'
import type { ErrorBody } from '../../shared/contract/service.ts'
import type { Spaces } from '../../shared/contract/space.ts'
import type { WalletStanding } from '../../shared/contract/wallet.ts'
import { formatCoord, isBlockIndex, parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { readJson } from '../data/read-json.ts'

/** Finds the open space of a size that is nearest to a block, or to the wall's centre; `undefined` if there is none. */
export async function findOpenSpace({ w, h }: AreaSize, near?: BlockIndex): Promise<BlockIndex | undefined> {
  const query = new URLSearchParams({ w: `${w}`, h: `${h}`, limit: '1' })
  if (near !== undefined) query.set('near', formatCoord(near))
  const { spaces } = await readJson<Spaces>(`/api/space?${query}`, 'search for space')
  return parseCoord(spaces[0]?.coord ?? '')
}

/** Counts the blocks of an area that somebody is paying for now; rejects if the service fails. */
export async function countHeldBlocks(area: Area, signal: AbortSignal): Promise<number> {
  const init = { headers: { accept: 'application/json' }, signal }
  const { held } = await readJson<AreaState>(`/areas/${formatArea(area)}`, 'area', init)
  return held
}

/** An error response of the service; its message is for the visitor. */
export class ServiceError extends Error {}

/**
 * Reads all blocks of a wallet, page by page; empty if the wallet has bought nothing. Rejects with a `ServiceError` if
 * the service refuses, and with another error if there is no response.
 */
export async function readBlocksOfWallet(
  wallet: string,
  ask: (path: string) => Promise<Response> = fetch,
): Promise<BlockIndex[]> {
  const found: BlockIndex[] = []
  for (let after: number | undefined = 0; after !== undefined;) {
    const response = await ask(`/api/agents/${wallet}?after=${after}`)
    if (response.status === 404) return []
    if (!response.ok) throw new ServiceError((await readRefusal(response)).words)
    const { blocks, nextAfter, hasMore }: WalletStanding = await response.json()
    found.push(...blocks.map(({ block }) => block.index).filter(isBlockIndex))
    after = hasMore ? nextAfter : undefined
  }
  return found
}

/** The result of an edit. `now` is the service's time if it rejected the time in the request. */
export type EditResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly words: string; readonly now: number | undefined }
  | { readonly kind: 'lost'; readonly words: string } // the same request may succeed later

/** Sends a signed edit. */
export async function sendEdit(area: string, body: EditAreaBody): Promise<EditResult> {
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`/areas/${area}`, { method: 'PUT', headers, body: JSON.stringify(body) })
    if (response.ok) return { kind: 'done' }
    const isForNow = response.status === 429 || response.status >= 500
    const { words, now } = await readRefusal(response)
    return isForNow ? { kind: 'lost', words } : { kind: 'refused', words, now }
  } catch {
    return { kind: 'lost', words: 'Could not reach the wall.' }
  }
}

async function readRefusal(response: Response): Promise<{ readonly words: string; readonly now: number | undefined }> {
  try {
    const body: ErrorBody & { readonly now?: unknown; readonly expected?: unknown } = await response.json()
    return {
      words: `${body.message}${describeExpectedHost(body.expected)}`,
      now: typeof body.now === 'number' ? body.now : undefined,
    }
  } catch {
    // The error came from a proxy, which sent a page instead of JSON.
    return { words: `The wall returned an error (${response.status}).`, now: undefined }
  }
}

/**
 * Advice to open this page at another host, if the first line of the expected text is not this page's host; otherwise
 * empty.
 */
function describeExpectedHost(expected: unknown): string {
  const host = typeof expected === 'string' ? expected.split('\n')[0] : undefined
  return host === undefined || host === location.hostname
    ? ''
    : ` Open this page at ${host}: signatures are valid only for that host.`
}
