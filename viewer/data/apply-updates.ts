/** Applies to the wall what the service sends after the first read. */

import type { CanvasAgent, CanvasBlock } from '../../shared/contract/canvas.ts'
import type { Sale } from '../../shared/contract/feed.ts'
import type { ChangeDto } from '../../shared/contract/live.ts'
import { TOTAL_BLOCKS, isBlockIndex } from '../../shared/wall.ts'
import { blankTexture, copyBlock } from '../wall/pixel-buffer.ts'
import { wallWithoutBlocks, withBlocks, withClaims, withPictures, type Claim, type Wall } from '../wall/wall-model.ts'
import type { Reading } from './read-canvas.ts'

type Update = (Sale & { readonly kind: 'sale' }) | Exclude<ChangeDto, { kind: 'sale' }>

/** What updates change, by block index. */
type Draft = {
  readonly blocks: Map<number, CanvasBlock>
  readonly agents: CanvasAgent[]
  last: Sale | undefined // the newest sale among the updates
}

/** The wall after more sales; those it knows already change nothing. */
export const withSales = (wall: Wall, sales: readonly Sale[]): Wall =>
  withChanges(
    wall,
    sales.map((sale) => ({ kind: 'sale', ...sale })),
  )

/** The wall after changes in the order they were made; a sale it knows already changes nothing. */
export function withChanges(wall: Wall, changes: readonly Update[]): Wall {
  const draft: Draft = { blocks: new Map(), agents: [...wall.agents], last: undefined }
  // Not `some`: every change must be noted.
  const noted = changes.filter((change) => note(wall, draft, change))
  if (noted.length === 0) return wall
  const { agents, last } = draft
  const changed = withBlocks(wall, [...draft.blocks.values()])
  const claimed = changed.claims.size
  const { t: lastClaimedAt, seq: lastSaleId } = last ?? { t: wall.stats.lastClaimedAt, seq: wall.stats.lastSaleId }
  const stats = { claimed, remaining: TOTAL_BLOCKS - claimed, agents: agents.length, lastClaimedAt, lastSaleId }
  return { ...changed, agents, stats }
}

/** Notes an update; answers whether it changes anything. */
function note(wall: Wall, draft: Draft, change: Update): boolean {
  const { blocks, agents } = draft
  if (change.kind === 'sale') {
    if (change.seq <= (draft.last ?? { seq: wall.stats.lastSaleId }).seq) return false
    draft.last = change
    blocks.set(change.i, { ...faceOf(change), a: indexOfOwner(agents, change) })
    return true
  }
  if (change.kind === 'repaint') {
    const claim = blocks.get(change.i) ?? claimAt(wall, change.i)
    if (claim === undefined) return false
    blocks.set(change.i, { ...faceOf(change), a: claim.a, t: claim.t })
    return true
  }
  const index = agents.findIndex(({ id }) => id === change.agent.id)
  const known = agents[index]
  if (known !== undefined) agents[index] = { ...known, ...change.agent }
  return known !== undefined
}

/** The owner's place among the agents, who gains a block and is called what the sale says. */
function indexOfOwner(agents: CanvasAgent[], { agent }: Sale): number {
  const known = agents.findIndex(({ id }) => id === agent.id)
  const index = known === -1 ? agents.length : known
  agents[index] = { ...agent, blocks: (agents[index]?.blocks ?? 0) + 1 }
  return index
}

const claimAt = ({ claims }: Wall, i: number) => (isBlockIndex(i) ? claims.get(i) : undefined)

const faceOf = ({ i, t, m, l, px }: Omit<CanvasBlock, 'a'>) => ({
  i,
  t,
  ...(m === undefined ? {} : { m }),
  ...(l === undefined ? {} : { l }),
  ...(px === undefined ? {} : { px }),
})

/**
 * The wall after a later read and changes that the read may lack; its `changed` names what differs. A read older than what
 * is known changes nothing.
 */
export function withReading(wall: Wall, reading: Reading, told: readonly ChangeDto[] = []): Wall {
  const read = withChanges(wallRead(wall, reading), told)
  if (read.stats.lastSaleId < wall.stats.lastSaleId) return wall
  // A read that lacks a known block is of another wall, as after a database was restored.
  if (read.claims.size < wall.claims.size) return { ...read, changed: undefined }
  const changed = [...read.claims].flatMap(([block, claim]) => {
    // Copied before anything is compared: the wall's own texture is changed in place, so that only what differs is drawn again.
    const isRepainted = copyBlock(read.texture, wall.texture, block)
    return isRepainted || !isSame(wall.claims.get(block), claim) ? [block] : []
  })
  return { ...read, texture: wall.texture, changed }
}

/** A read as a wall of its own; a half that has not changed is taken from the known wall. */
function wallRead(known: Wall, { blocks, pixels }: Reading): Wall {
  const fresh = {
    ...wallWithoutBlocks(blocks ?? known),
    texture: pixels ? blankTexture() : known.texture.slice(),
  }
  const painted = pixels ? withPictures(fresh, 0, pixels) : fresh
  return { ...withClaims(painted, blocks?.blocks ?? known.claims.values()), complete: true }
}

const isSame = (known: Claim | undefined, claim: Claim) =>
  known !== undefined && known.a === claim.a && known.t === claim.t && known.m === claim.m && known.l === claim.l
