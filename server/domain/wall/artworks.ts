/** The wall's works as readers see them: what each is called, whose it is, and where it lies. */

import { cellOf, type BlockIndex } from '../../../shared/wall.ts'
import { workAround, worksOf, type Work } from '../../../shared/works.ts'
import type { Region } from '../picture/wall-picture.ts'
import type { UnixMs } from '../purchase/payment.ts'
import type { WallView } from './wall-view.ts'

type Agent = WallView['agents'][number]

/** A work, with the words of the first of its blocks that says something. */
export type Artwork = {
  readonly blocks: Work
  readonly agent: Agent
  readonly message: string | null
  readonly link: string | null
  readonly until: UnixMs // when its last block was sold
}

// What an agent has bought only ever grows.
const known = new WeakMap<Agent, { readonly count: number; readonly works: readonly Work[] }>()

/** Every work of the wall or of one agent, the newest first. */
export function artworksOf(view: WallView, agent?: Agent): Artwork[] {
  const agents = agent === undefined ? view.agents : [agent]
  const works = agents.flatMap((one) => worksOfAgent(one).map((blocks) => artworkOf(view, one, blocks)))
  return works.toSorted((a, b) => b.until - a.until || (b.blocks[0] ?? 0) - (a.blocks[0] ?? 0))
}

/** The work that a block is part of; `undefined` while nobody owns it. */
export function artworkAt(view: WallView, block: BlockIndex): Artwork | undefined {
  const agent = view.claimed.get(block)?.agent
  if (agent === undefined) return undefined
  const blocks = workAround(block, (other) => view.claimed.get(other)?.agent === agent)
  return artworkOf(view, agent, blocks)
}

/** The part of the wall that holds all of a work. */
export function regionOf(blocks: Work): Region {
  const cells = blocks.map(cellOf)
  const cols = cells.map(({ col }) => col)
  const rows = cells.map(({ row }) => row)
  const [col, row] = [Math.min(...cols), Math.min(...rows)]
  return { col, row, cols: Math.max(...cols) + 1 - col, rows: Math.max(...rows) + 1 - row }
}

function worksOfAgent(agent: Agent): readonly Work[] {
  const ready = known.get(agent)
  if (ready?.count === agent.blocks.length) return ready.works
  const works = worksOf(agent.blocks)
  known.set(agent, { count: agent.blocks.length, works })
  return works
}

function artworkOf({ claimed }: WallView, agent: Agent, blocks: Work): Artwork {
  const sold = blocks.flatMap((block) => claimed.get(block) ?? [])
  return {
    blocks,
    agent,
    message: sold.find(({ message }) => message !== null)?.message ?? null,
    link: sold.find(({ link }) => link !== null)?.link ?? null,
    until: Math.max(...sold.map(({ at }) => at)),
  }
}
