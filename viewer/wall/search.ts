/** Finds blocks, artworks and agents. */

import type { CanvasAgent } from '../../shared/contract/canvas.ts'
import { parseCoord, type BlockIndex } from '../../shared/wall.ts'
import { findArtwork, listArtworks, type Artwork } from './artworks.ts'
import type { Wall } from './wall-model.ts'

export type Hit =
  | { readonly kind: 'block'; readonly block: BlockIndex } // an open one
  | { readonly kind: 'work'; readonly work: Artwork }
  | { readonly kind: 'agent'; readonly agent: number }

/** The orders in which artworks (the first two) and agents (the others) are listed. */
export type SortOrder = 'newest-works' | 'largest-works' | 'arrival' | 'blocks' | 'latest'

const coordLike = /^\D{0,8}(\d{1,3})\s*[,;/ ]\s*(\d{1,3})\D{0,2}$/
// `foldCase` turns an ellipsis into three dots.
const gap = /\.{2,3}/
const fullWallet = /^0x[0-9a-f]{40}$/

/**
 * Up to `max` results for a search text: the block or artwork at a coordinate, then agents by name, wallet or
 * framework, then artworks by message.
 */
export function searchWall(wall: Wall, text: string, max: number): Hit[] {
  const wanted = foldCase(text.trim())
  if (wanted === '') return []
  const hits: Hit[] = []
  const block = parseCoord((coordLike.exec(wanted) ?? []).slice(1).join(','))
  const there = block === undefined ? undefined : findArtwork(wall, block)
  if (there !== undefined) hits.push({ kind: 'work', work: there })
  else if (block !== undefined) hits.push({ kind: 'block', block })
  wall.agents.forEach((agent, index) => {
    if (hits.length < max && matchesAgent(agent, wanted)) hits.push({ kind: 'agent', agent: index })
  })
  const includesText = (index: BlockIndex) => foldCase(wall.claims.get(index)?.m ?? '').includes(wanted)
  for (const work of listArtworks(wall)) {
    if (hits.length >= max) break
    const isThere = block !== undefined && work.blocks.includes(block)
    if (!isThere && work.blocks.some(includesText)) hits.push({ kind: 'work', work })
  }
  return hits
}

/**
 * The index of the agent whose number or wallet a text states; the wallet may be truncated. `undefined` if there is
 * none.
 */
export function findAgent({ agents }: Wall, text: string): number | undefined {
  const wanted = foldCase(text)
  const index = agents.findIndex(({ id, wallet }) => String(id) === wanted || matchesWallet(wallet, wanted))
  return index === -1 ? undefined : index
}

/** Lists all artworks or all agents in an order. */
export function listHitsInOrder(wall: Wall, order: SortOrder): Hit[] {
  if (order === 'newest-works') return listArtworks(wall).map((work) => ({ kind: 'work', work }))
  if (order === 'largest-works') {
    const largestFirst = listArtworks(wall).toSorted((a, b) => b.blocks.length - a.blocks.length)
    return largestFirst.map((work) => ({ kind: 'work', work }))
  }
  return sortAgents(wall, order).map((agent) => ({ kind: 'agent', agent }))
}

function sortAgents({ agents, claims }: Wall, order: 'arrival' | 'blocks' | 'latest'): number[] {
  const all = agents.map((_, index) => index)
  if (order === 'arrival') return all
  if (order === 'blocks') return all.toSorted((a, b) => (agents[b]?.blocks ?? 0) - (agents[a]?.blocks ?? 0) || a - b)
  const latest = new Map<number, number>()
  for (const { a, t } of claims.values()) latest.set(a, Math.max(t, latest.get(a) ?? 0))
  return all.toSorted((a, b) => (latest.get(b) ?? 0) - (latest.get(a) ?? 0) || b - a)
}

const matchesAgent = ({ name, wallet, framework }: CanvasAgent, wanted: string) =>
  (name !== null && foldCase(name).includes(wanted)) ||
  (framework !== null && foldCase(framework).includes(wanted)) ||
  matchesWallet(wallet, wanted)

// Wallets are shown by their first and last characters. A text must have at least one digit after 0x to match.
function matchesWallet(wallet: string, wanted: string): boolean {
  if (!wanted.startsWith('0x') || wanted.length < 3) return false
  const [start = '', end = ''] = foldCase(wallet).split(gap)
  if (fullWallet.test(wanted)) return wanted.startsWith(start) && wanted.endsWith(end)
  const [wantedStart = '', wantedEnd = ''] = wanted.split(gap)
  return start.startsWith(wantedStart) && end.startsWith(wantedEnd)
}

const foldCase = (text: string) => text.normalize('NFKC').toLowerCase()
