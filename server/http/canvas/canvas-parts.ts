/**
 * The reads of the whole wall in parts that change independently. JSON is split into constants, counts, groups of
 * agents and rows of the wall; pixels are split into rows.
 */

import { PALETTE } from '../../../shared/palette.ts'
import { ALL_BLOCKS, getCell, COLS, ROWS, TOTAL_BLOCKS, type BlockIndex } from '../../../shared/wall.ts'
import type { Terms } from '../../domain/purchase/payment.ts'
import { readBlocks } from '../../domain/wall/canvas.ts'
import {
  toCanvasAgents,
  toCanvasBlock,
  toPricing,
  computeStats,
  WALL_SIZE,
  type WallView,
} from '../../domain/wall/wall-view.ts'
import type { Part, Parts } from './canvas-snapshot.ts'

// Agents are never removed, so each agent stays in its group.
const AGENTS_PER_GROUP = COLS
const GROUPS = TOTAL_BLOCKS / AGENTS_PER_GROUP

const encoder = new TextEncoder()

const HEAD_SLOT = 0
const STATS_SLOT = 1
const GROUPS_SLOT = 2
const GLUE_SLOT = GROUPS_SLOT + GROUPS
const ROWS_SLOT = GLUE_SLOT + 1
const TAIL_SLOT = ROWS_SLOT + ROWS

/** The price of a block, and the network it is paid on. */
export type Priced = Pick<Terms, 'network' | 'amount'>

/** Splits a view into parts, without the pictures of blocks if `hasPictures` is false. */
export function createCanvasParts(view: WallView, terms: Priced, hasPictures = true): Parts {
  const fragments = Array.from({ length: TOTAL_BLOCKS }, () => '')
  const dirtyBlocks = new Set<BlockIndex>(ALL_BLOCKS)
  const dirtySlots = new Set<number>(Array.from({ length: TAIL_SLOT + 1 }, (_, slot) => slot))
  let lastRow = -1

  const refreshBlocks = () => {
    for (const block of dirtyBlocks) {
      const shown = toCanvasBlock(view, block, hasPictures)
      const fragment = shown === undefined ? '' : JSON.stringify(shown)
      if (fragment !== fragments[block]) dirtySlots.add(ROWS_SLOT + getCell(block).row)
      fragments[block] = fragment
    }
    dirtyBlocks.clear()
    // The last row with a sold block has no comma after it, so a row's text changes when the row becomes the last one
    // or is no longer the last.
    const last = Math.floor(fragments.findLastIndex((fragment) => fragment !== '') / COLS)
    if (last !== lastRow) {
      if (lastRow >= 0) dirtySlots.add(ROWS_SLOT + lastRow)
      lastRow = last
    }
  }
  const renderRow = (row: number) => {
    const blocks = fragments.slice(row * COLS, (row + 1) * COLS).filter((fragment) => fragment !== '')
    return blocks.length === 0 ? '' : `${blocks.join(',')}${row === lastRow ? '' : ','}\n`
  }
  const renderSlot = (slot: number) => {
    if (slot === HEAD_SLOT) return renderHead(terms)
    if (slot === STATS_SLOT) return `"stats":${JSON.stringify(computeStats(view))},\n"agents":[`
    if (slot < GLUE_SLOT) return renderGroup(view, slot - GROUPS_SLOT)
    if (slot === GLUE_SLOT) return '],\n"blocks":[\n'
    return slot === TAIL_SLOT ? ']}\n' : renderRow(slot - ROWS_SLOT)
  }

  return {
    markChanged(change) {
      if (change.kind === 'sale') dirtySlots.add(STATS_SLOT)
      if ('block' in change) dirtyBlocks.add(change.block)
      if ('agent' in change) dirtySlots.add(GROUPS_SLOT + Math.floor((change.agent - 1) / AGENTS_PER_GROUP))
    },
    isDirty: () => dirtySlots.size > 0 || dirtyBlocks.size > 0,
    take() {
      refreshBlocks()
      const parts = [...dirtySlots]
        .toSorted((a, b) => a - b)
        .map((slot): Part => [slot, encoder.encode(renderSlot(slot))])
      dirtySlots.clear()
      return parts
    },
  }
}

const renderHead = (terms: Priced) =>
  `${JSON.stringify({ canvas: WALL_SIZE, pricing: toPricing(terms), palette: PALETTE }).slice(0, -1)},\n`

function renderGroup(view: WallView, group: number): string {
  const from = group * AGENTS_PER_GROUP
  const agents = toCanvasAgents(view, from, from + AGENTS_PER_GROUP).map((agent) => JSON.stringify(agent))
  return agents.length === 0 ? '' : `${group === 0 ? '' : ','}${agents.join(',')}`
}

/** Splits a view's pixels into parts, one for each row of blocks. */
export function createPixelParts(view: WallView): Parts {
  const dirtyRows = new Set(Array.from({ length: ROWS }, (_, row) => row))
  const encodeRow = (row: number) => readBlocks(view.canvas, ALL_BLOCKS.slice(row * COLS, (row + 1) * COLS))
  return {
    markChanged(change) {
      if ('block' in change) dirtyRows.add(getCell(change.block).row)
    },
    isDirty: () => dirtyRows.size > 0,
    take() {
      const parts = [...dirtyRows].toSorted((a, b) => a - b).map((row): Part => [row, encodeRow(row)])
      dirtyRows.clear()
      return parts
    },
  }
}
