/** The wall's artworks as readers see them: the blocks, owner, message and link of each. */

import { ALL_BLOCKS, getCell, TOTAL_BLOCKS, type BlockIndex } from '../../../shared/wall.ts'
import { indexWorks, type Work, type WorkIndex } from '../../../shared/works.ts'
import type { Region } from '../picture/wall-picture.ts'
import type { UnixMs } from '../purchase/payment.ts'
import type { WallView } from './wall-view.ts'

type Agent = WallView['agents'][number]

/** An artwork, with the first message and the first link among its blocks. */
export type Artwork = {
  readonly blocks: Work
  readonly agent: Agent
  readonly message: string | null
  readonly link: string | null
  readonly until: UnixMs // when its last block was sold
}

/** Some artworks of a list, and the length of the whole list. */
export type ArtworkPage = { readonly total: number; readonly works: readonly Artwork[] }

/** The artworks of the wall or of one agent, newest first, at the indexes from `from` up to but not including `to`. */
export function listArtworks(view: WallView, from: number, to: number, agent?: Agent): ArtworkPage {
  const { lastSales } = getWorks(view)
  const listed = agent === undefined ? lastSales : lastSales.filter((seq) => view.sales[seq - 1]?.agent.id === agent.id)
  const works: Artwork[] = []
  for (const seq of listed.slice(from, to)) {
    const block = ALL_BLOCKS[view.sales[seq - 1]?.i ?? -1]
    const work = block === undefined ? undefined : findArtwork(view, block)
    if (work !== undefined) works.push(work)
  }
  return { total: listed.length, works }
}

/** The artwork that a block is part of; `undefined` if nobody owns the block. */
export function findArtwork(view: WallView, block: BlockIndex): Artwork | undefined {
  const agent = view.claimed.get(block)?.agent
  return agent && createArtwork(view, agent, listWorkBlocks(getWorks(view), block))
}

/** The bounding rectangle of an artwork. */
export function computeRegion(blocks: Work): Region {
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1]
  for (const block of blocks) {
    const { col, row } = getCell(block)
    left = Math.min(left, col)
    top = Math.min(top, row)
    right = Math.max(right, col)
    bottom = Math.max(bottom, row)
  }
  return { col: left, row: top, cols: right + 1 - left, rows: bottom + 1 - top }
}

type Works = WorkIndex & { readonly lastSales: Uint16Array } // number of the last sale of each artwork, newest first

const known = new WeakMap<WallView, { readonly sales: number; readonly works: Works }>()

/** Returns all artworks. They are computed again only after a sale, because repaints do not change them. */
function getWorks(view: WallView): Works {
  const ready = known.get(view)
  if (ready?.sales === view.sales.length) return ready.works
  const works = computeWorks(view)
  known.set(view, { sales: view.sales.length, works })
  return works
}

function computeWorks({ sales }: WallView): Works {
  const owners = new Uint16Array(TOTAL_BLOCKS)
  for (const { i, agent } of sales) owners[i] = agent.id
  const index = indexWorks(owners)
  const lastSales: number[] = []
  const isListed = new Uint8Array(TOTAL_BLOCKS)
  for (let seq = sales.length; seq > 0; seq--) {
    const first = index.first[sales[seq - 1]?.i ?? 0] ?? 0
    if (isListed[first] === 0) lastSales.push(seq)
    isListed[first] = 1
  }
  return { ...index, lastSales: Uint16Array.from(lastSales) }
}

function listWorkBlocks({ first, next }: Works, block: BlockIndex): Work {
  const blocks: BlockIndex[] = []
  for (
    let at = ALL_BLOCKS[first[block] ?? block];
    at !== undefined && at !== blocks.at(-1);
    at = ALL_BLOCKS[next[at] ?? at]
  )
    blocks.push(at)
  return blocks
}

function createArtwork({ claimed }: WallView, agent: Agent, blocks: Work): Artwork {
  let [message, link, until]: [string | null, string | null, UnixMs] = [null, null, 0]
  for (const block of blocks) {
    const sold = claimed.get(block)
    message ??= sold?.message ?? null
    link ??= sold?.link ?? null
    until = Math.max(until, sold?.at ?? 0)
  }
  return { blocks, agent, message, link, until }
}
