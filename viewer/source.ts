/** Where the page's data comes from. */

import type { Deed } from '../shared/contract/block.ts'
import type { Canvas } from '../shared/contract/canvas.ts'
import { coordOf, type BlockIndex } from '../shared/wall.ts'

declare global {
  /** The canvas read which index.html has begun. */
  var earlyCanvas: Promise<Response> | undefined
}

const DEEDS_KEPT_MAX = 1000

/** The whole wall; rejects when it cannot be read. The first call takes up the read begun by index.html. */
export async function readCanvas(): Promise<Canvas> {
  const early = globalThis.earlyCanvas
  globalThis.earlyCanvas = undefined
  const response = await (early ?? fetch('/api/canvas'))
  if (!response.ok) throw new Error(`the canvas read answered ${response.status}`)
  const canvas: Canvas = await response.json()
  return canvas
}

/** Reads deeds of claimed blocks and keeps the settled ones, which only a repaint can change. `undefined` when there is none to be had. */
export function deedReader(): (block: BlockIndex, signal: AbortSignal) => Promise<Deed | undefined> {
  const kept = new Map<BlockIndex, Deed>()
  return async (block, signal) => {
    const known = kept.get(block)
    if (known) return known
    const deed = await fetchDeed(block, signal).catch(() => undefined)
    if (deed?.settled) keep(kept, block, deed)
    return deed
  }
}

async function fetchDeed(block: BlockIndex, signal: AbortSignal): Promise<Deed | undefined> {
  const response = await fetch(`/blocks/${coordOf(block)}`, { signal, headers: { accept: 'application/json' } })
  if (response.status !== 200) return undefined
  const deed: Deed = await response.json()
  return deed
}

function keep(kept: Map<BlockIndex, Deed>, block: BlockIndex, deed: Deed) {
  const [oldest] = kept.keys()
  if (kept.size >= DEEDS_KEPT_MAX && oldest !== undefined) kept.delete(oldest)
  kept.set(block, deed)
}
