/** Reads deeds of claimed blocks. */

import type { Deed } from '../../shared/contract/block.ts'
import { lru } from '../../shared/lru.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { readJson } from './read-json.ts'

const DEEDS_KEPT_MAX = 1000

/** Reads deeds, `undefined` where there is none to be had, and keeps the settled ones: how a block was paid never changes. */
export function deedReader() {
  const kept = lru<BlockIndex, Deed>(DEEDS_KEPT_MAX)
  return async (block: BlockIndex, signal: AbortSignal): Promise<Deed | undefined> => {
    const known = kept.get(block)
    if (known) return known
    const init = { signal, headers: { accept: 'application/json' } }
    const deed = await readJson<Deed>(`/blocks/${coordOf(block)}`, 'deed', init).catch(() => undefined)
    if (deed?.settled) kept.set(block, deed)
    return deed
  }
}
