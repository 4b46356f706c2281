/** What the service tells after the first read, worked into the wall. */

import type { Canvas, CanvasAgent, CanvasBlock } from '../shared/contract/canvas.ts'
import type { Sale } from '../shared/contract/feed.ts'
import { TOTAL_BLOCKS, isBlockIndex } from '../shared/wall.ts'
import { wallOf, withBlocks, type Wall } from './plot.ts'

/** The wall after more sales; those it knows already change nothing. */
export function withSales(wall: Wall, sales: readonly Sale[]): Wall {
  const fresh = sales.filter(({ seq }) => seq > wall.stats.lastSaleId)
  const last = fresh.at(-1)
  if (last === undefined) return wall
  const agents = [...wall.agents]
  const blocks = fresh.map((sale) => blockOf(sale, indexOfOwner(agents, sale)))
  const changed = withBlocks(wall, blocks)
  const claimed = changed.claims.size
  const stats = {
    claimed,
    remaining: TOTAL_BLOCKS - claimed,
    agents: agents.length,
    lastClaimedAt: last.t,
    lastSaleId: last.seq,
  }
  return { ...changed, agents, stats }
}

/** The owner's place among the agents, who gains a block and is called what the sale says. */
function indexOfOwner(agents: CanvasAgent[], { agent }: Sale): number {
  const known = agents.findIndex(({ id }) => id === agent.id)
  const index = known === -1 ? agents.length : known
  agents[index] = { ...agent, blocks: (agents[index]?.blocks ?? 0) + 1 }
  return index
}

const blockOf = ({ i, t, m, l, px }: Sale, a: number): CanvasBlock => ({
  i,
  a,
  t,
  ...(m === undefined ? {} : { m }),
  ...(l === undefined ? {} : { l }),
  ...(px === undefined ? {} : { px }),
})

/** The wall after a later canvas read, with what is unlike before; a read older than what is known changes nothing. */
export function withCanvas(wall: Wall, canvas: Canvas): Wall {
  if (canvas.stats.lastSaleId < wall.stats.lastSaleId) return wall
  const blocks = canvas.blocks.filter((block) => isBlockIndex(block.i) && !isSame(wall.claims.get(block.i), block))
  const { pricing, stats, agents } = canvas
  // Without a block that is known the read tells of another wall, as after a database was put back.
  const kept = canvas.blocks.length >= wall.claims.size
  if (!kept) return wallOf(canvas)
  return { ...withBlocks(wall, blocks), pricing, stats, agents, complete: true }
}

const isSame = (known: CanvasBlock | undefined, block: CanvasBlock) =>
  known !== undefined &&
  known.a === block.a &&
  known.t === block.t &&
  known.m === block.m &&
  known.l === block.l &&
  known.px === block.px
