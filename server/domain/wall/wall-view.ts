/**
 * The wall as readers see it, updated one log entry at a time: the pixels, the owners, every sale and the registry. The
 * view can be discarded and rebuilt from the log.
 */

import { type Agents, type FoundingMachine, REGISTRY_MAX } from '../../../shared/contract/agent.ts'
import type { Owner } from '../../../shared/contract/block.ts'
import type { Canvas as CanvasRead, CanvasAgent, CanvasBlock, CanvasStats } from '../../../shared/contract/canvas.ts'
import type { FeedPage, FeedQuery, Sale } from '../../../shared/contract/feed.ts'
import type { ChangeDto } from '../../../shared/contract/live.ts'
import { ASSET_SYMBOL, formatMoney } from '../../../shared/money.ts'
import { type Pixels, PIXELS_PER_BLOCK, trustPixels } from '../../../shared/pixels.ts'
import {
  BLOCK_SIZE,
  type BlockIndex,
  COLS,
  formatCoord,
  HEIGHT,
  ROWS,
  TOTAL_BLOCKS,
  WIDTH,
} from '../../../shared/wall.ts'
import { truncateWallet } from '../../../shared/wallet.ts'
import type { Address, Terms, UnixMs } from '../purchase/payment.ts'
import { countBlocks, type Holding } from '../purchase/target.ts'
import { createBlankCanvas, type Canvas, placeBlock, readBlock, UNPAINTED } from './canvas.ts'
import type {
  Change,
  BlockContent,
  Hidden,
  IdentityChange,
  LogNumber,
  ModerationChange,
  RepaintChange,
  SaleChange,
} from './log.ts'
import { omitHiddenNames } from './moderation.ts'

/** A wallet that has bought, and its names. */
export type Agent = {
  readonly id: number
  readonly wallet: Address
  readonly shownAs: string // the wallet, truncated
  readonly firstSeenAt: UnixMs
  readonly blocks: BlockIndex[] // in the order they were bought
  name: string | null
  framework: string | null
}

/** A sold block: its owner, its current message and link, and its last change. */
export type Claimed = {
  readonly agent: Agent
  readonly at: UnixMs
  readonly soldBy: LogNumber // number of the sale
  changedBy: LogNumber // number of the last change of its content
  changedAt: UnixMs
  message: string | null
  link: string | null
}

/** The state of the view. Only `applyChange` changes it. */
export type WallView = {
  number: LogNumber // number of the last change applied
  changedAt: UnixMs // when that change was made
  lastClaimedAt: UnixMs | null
  readonly canvas: Canvas
  readonly claimed: Map<BlockIndex, Claimed>
  readonly agents: Agent[] // in the order of their first purchase, so that an agent's index never changes
  readonly agentByName: Map<string, Agent> // keys: the number, and the wallet in full and truncated, in lower case
  /**
   * Sales have the content from the time of the sale, so a page of them changes only if the operator hides something.
   */
  readonly sales: Sale[]
}

/** An empty wall. */
export const createEmptyView = (): WallView => ({
  number: 0,
  changedAt: 0,
  lastClaimedAt: null,
  canvas: createBlankCanvas(),
  claimed: new Map(),
  agents: [],
  agentByName: new Map(),
  sales: [],
})

/** Applies one change. Changes come in log order; a compacted log omits some numbers. */
export function applyChange(view: WallView, change: Change): void {
  if (change.number <= view.number) throw new RangeError(`change ${change.number} after ${view.number}`)
  applyChangeByKind(view, change)
  // The number is set last, so that a change that could not be applied is retried and not skipped.
  view.number = change.number
  view.changedAt = change.at
}

/**
 * Identifies the content of a view; all processes that share a store identify the same content in the same way. Log
 * numbers alone are not enough: after a restore, another store may be at the same address.
 */
export const formatState = ({ number, changedAt }: WallView): string => `${number}-${changedAt.toString(36)}`

function applyChangeByKind(view: WallView, change: Change): void {
  switch (change.kind) {
    case 'sale':
      return applySale(view, change, change.at)
    case 'repaint':
      return applyRepaint(view, change)
    case 'hide':
    case 'unhide':
      return applyModeration(view, change)
    case 'identity':
      return applyIdentity(view, change)
  }
}

function applySale(view: WallView, sale: Numbered<SaleChange>, at: UnixMs): void {
  if (sale.seq !== view.sales.length + 1) throw new RangeError(`sale ${sale.seq} after ${view.sales.length}`)
  const agent = view.agents[sale.agent - 1] ?? addAgent(view, sale, at)
  agent.name = sale.profile.name
  agent.framework = sale.profile.framework
  agent.blocks.push(sale.block)
  const { number, content } = sale
  const { message, link } = content
  view.claimed.set(sale.block, { agent, at, soldBy: number, changedBy: number, changedAt: at, message, link })
  view.lastClaimedAt = at
  placeBlock(view.canvas, sale.block, content.pixels)
  view.sales.push(toSale(sale, agent.shownAs, at))
}

function addAgent(view: WallView, { agent: id, wallet, profile }: SaleChange, at: UnixMs): Agent {
  if (id !== view.agents.length + 1) throw new RangeError(`agent ${id} after ${view.agents.length}`)
  const agent = { id, wallet, shownAs: truncateWallet(wallet), firstSeenAt: at, blocks: [], ...profile }
  view.agents.push(agent)
  for (const name of [String(id), wallet, agent.shownAs.toLowerCase()])
    if (!view.agentByName.has(name)) view.agentByName.set(name, agent)
  return agent
}

/** The sale of a block as readers see it; `undefined` if nobody has bought it. */
export const findSale = ({ sales }: WallView, block: BlockIndex): Sale | undefined => sales.find(({ i }) => i === block)

/** The sales of one purchase, row by row; empty while the view does not show them. */
export function listSales(view: WallView, bought: Holding): readonly Sale[] {
  const first = findSale(view, bought.block)
  return first === undefined ? [] : view.sales.slice(first.seq - 1, first.seq - 1 + countBlocks(bought.target))
}

/** A sale as the feed shows it; `shownAs` is the buyer's wallet, truncated. */
function toSale({ seq, block, agent, content, profile }: SaleChange, shownAs: string, at: UnixMs): Sale {
  return {
    seq,
    i: block,
    coord: formatCoord(block),
    t: at,
    agent: { id: agent, name: profile.name, wallet: shownAs, framework: profile.framework },
    ...toWireContent(content),
  }
}

type Numbered<Kind> = Kind & Pick<Change, 'number' | 'at'>

function applyRepaint(view: WallView, change: Numbered<RepaintChange | ModerationChange>): void {
  const { block, content } = change
  const claimed = view.claimed.get(block)
  if (claimed === undefined) throw new RangeError(`block ${block} was changed before it was sold`)
  claimed.message = content.message
  claimed.link = content.link
  claimed.changedBy = change.number
  // A damaged entry has lost its time, so the time of the sale is used.
  claimed.changedAt = Math.max(claimed.at, change.at)
  placeBlock(view.canvas, block, content.pixels)
}

/**
 * Hidden content is also removed from the feed, permanently. Unhiding it affects only the content that the block has at
 * that time, not the feed.
 */
function applyModeration(view: WallView, change: Numbered<ModerationChange>): void {
  applyRepaint(view, change)
  const at = view.sales.findIndex(({ i }) => i === change.block)
  const sale = view.sales[at]
  if (sale === undefined) throw new RangeError(`block ${change.block} has no sale to withhold`)
  view.sales[at] = withholdParts(sale, change.hidden)
}

function withholdParts({ m, l, px, ...sale }: Sale, { message, link, pixels }: Hidden): Sale {
  return {
    ...sale,
    ...(m === undefined || message ? {} : { m }),
    ...(l === undefined || link ? {} : { l }),
    ...(px === undefined || pixels ? {} : { px }),
  }
}

/** Hidden names are also removed from the feed, permanently. */
function applyIdentity(view: WallView, { agent: id, profile, withheld }: IdentityChange): void {
  const agent = view.agents[id - 1]
  if (agent === undefined) throw new RangeError(`agent ${id} changed its identity before its first purchase`)
  agent.name = profile.name
  agent.framework = profile.framework
  if (withheld === undefined) return
  for (const [at, sale] of view.sales.entries())
    if (sale.agent.id === id)
      view.sales[at] = { ...sale, agent: { ...sale.agent, ...omitHiddenNames(sale.agent, withheld) } }
}

/** The content of a block, on the wire; empty parts are omitted. */
const toWireContent = ({ pixels, ...texts }: BlockContent) => ({
  ...toWireText(texts),
  ...(pixels === null ? {} : { px: pixels.toBase64() }),
})

const toWireText = ({ message, link }: Pick<BlockContent, 'message' | 'link'>) => ({
  ...(message === null ? {} : { m: message }),
  ...(link === null ? {} : { l: link }),
})

/** An owner, on the wire. */
export const toOwner = ({ name, shownAs: wallet, framework }: Agent): Owner => ({ name, wallet, framework })

/** The wall's size, on the wire. */
export const WALL_SIZE = {
  width: WIDTH,
  height: HEIGHT,
  blockSize: BLOCK_SIZE,
  cols: COLS,
  rows: ROWS,
  totalBlocks: TOTAL_BLOCKS,
} as const

/** The price of pixels and blocks, on the wire. */
export const toPricing = ({ network, amount }: Pick<Terms, 'network' | 'amount'>): CanvasRead['pricing'] => ({
  perPixel: formatMoney(amount / BigInt(PIXELS_PER_BLOCK)),
  perBlock: formatMoney(amount),
  asset: ASSET_SYMBOL,
  network,
})

/** The numbers of sold blocks, unsold blocks and agents, and the time and number of the last sale. */
export function computeStats(view: WallView): CanvasStats {
  return {
    claimed: view.claimed.size,
    remaining: TOTAL_BLOCKS - view.claimed.size,
    agents: view.agents.length,
    lastClaimedAt: view.lastClaimedAt,
    lastSaleId: view.sales.length,
  }
}

export function readShownContent(view: WallView, block: BlockIndex): BlockContent {
  const { message = null, link = null } = view.claimed.get(block) ?? {}
  return { pixels: readPixels(view, block), message, link }
}

const readPixels = ({ canvas }: WallView, block: BlockIndex): Pixels | null => {
  const bytes = readBlock(canvas, block)
  return bytes[0] === UNPAINTED ? null : trustPixels(bytes)
}

/** A claimed block as a canvas response shows it, with or without its picture; `undefined` if nobody owns it. */
export function toCanvasBlock(view: WallView, block: BlockIndex, hasPicture = true): CanvasBlock | undefined {
  const claimed = view.claimed.get(block)
  if (claimed === undefined) return undefined
  const pixels = hasPicture ? readPixels(view, block) : null
  return {
    i: block,
    a: claimed.agent.id - 1,
    t: claimed.at,
    ...toWireText(claimed),
    ...(pixels === null ? {} : { px: pixels.toBase64() }),
  }
}

/**
 * The agents as a canvas response shows them, in the order of their first purchase: all, or those at the indexes from
 * `from` up to but not including `to`.
 */
export function toCanvasAgents(view: WallView, from = 0, to = view.agents.length): CanvasAgent[] {
  return view.agents.slice(from, to).map(({ id, name, shownAs, framework, blocks }) => ({
    id,
    name,
    wallet: shownAs,
    framework,
    blocks: blocks.length,
  }))
}

/** One page of sales, oldest first. Sale numbers have no gaps, so a sale's number gives its position in the list. */
export function toFeedPage(view: WallView, { after, limit }: FeedQuery): FeedPage {
  const sales = view.sales.slice(after, after + limit)
  const nextAfter = sales.at(-1)?.seq ?? after
  return { nextAfter, hasMore: nextAfter < view.sales.length, sales }
}

/** The first `REGISTRY_MAX` agents in the order of their first purchase, and the number of all agents. */
export function toRegistry(view: WallView): Agents {
  return {
    agents: view.agents.slice(0, REGISTRY_MAX).map((agent) => toFoundingMachine(view, agent)),
    total: view.agents.length,
  }
}

/** One wallet's entry in the registry; `undefined` if it never bought. */
export function findRegistryEntry(view: WallView, wallet: Address): FoundingMachine | undefined {
  const agent = view.agentByName.get(wallet)
  return agent === undefined ? undefined : toFoundingMachine(view, agent)
}

function toFoundingMachine(view: WallView, agent: Agent): FoundingMachine {
  const linked = agent.blocks.find((block) => typeof view.claimed.get(block)?.link === 'string')
  const link = linked === undefined ? undefined : view.claimed.get(linked)?.link
  return {
    rank: agent.id,
    name: agent.name,
    wallet: agent.shownAs,
    framework: agent.framework,
    blocks: agent.blocks.length,
    firstSeenAt: agent.firstSeenAt,
    ...(link === undefined || link === null ? {} : { link }),
  }
}

/** A log entry on the wire. */
export function toChangeDto(change: Change): ChangeDto {
  const { number, at } = change
  switch (change.kind) {
    case 'sale':
      return { number, kind: 'sale', ...toSale(change, truncateWallet(change.wallet), at) }
    // A moderation is sent as a repaint with the visible content, so that a follower shows exactly that.
    case 'repaint':
    case 'hide':
    case 'unhide':
      return {
        number,
        kind: 'repaint',
        t: at,
        i: change.block,
        coord: formatCoord(change.block),
        ...toWireContent(change.content),
      }
    case 'identity':
      return { number, kind: 'identity', t: at, agent: { id: change.agent, ...change.profile } }
  }
}
