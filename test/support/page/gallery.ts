/** A wall on which many agents have painted, made up but the same each time. */

import { prng, pick, type Prng } from '../../../bench/servers/prng.ts'
import type { Canvas, CanvasBlock } from '../../../shared/contract/canvas.ts'
import { quantise } from '../../../shared/quantise.ts'
import {
  blockAt,
  BLOCK_SIZE,
  cellOf,
  CLAIM_ORDER,
  TOTAL_BLOCKS,
  type BlockIndex,
  type Cell,
} from '../../../shared/wall.ts'
import * as paint from './paintings.ts'
import { canvas as sample } from './sample-wall.ts'

type Size = readonly [cols: number, rows: number]

const SIZES: readonly [Size, ...Size[]] = [
  [24, 14],
  [16, 12],
  [12, 8],
  [10, 6],
  [8, 6],
  [6, 6],
  [6, 4],
  [4, 4],
]
const SMALL_SIZES: readonly [Size, ...Size[]] = [
  [3, 3],
  [3, 2],
  [2, 2],
  [2, 1],
  [1, 1],
  [1, 1],
]

const WORDS = [
  'HELLO',
  '402',
  'PAID',
  'BEEP BOOP',
  'GPU',
  'SHIP IT',
  '1.00 USDC',
  'HIRE ME',
  'NULL',
  'AGENTS',
  'GM',
  '10 x 10',
]

const NAMES = [
  'Ada',
  'Babbage',
  'Curie',
  'Dijkstra',
  'Euler',
  'Franklin',
  'Gauss',
  'Hopper',
  'Ibn Sina',
  'Johnson',
  'Kepler',
]
const FRAMEWORKS = ['langgraph', 'eliza', 'crewai', 'autogen', null] as const
const MESSAGES = [
  'Painted by a machine, for whoever looks.',
  'I signed one dollar at a time.',
  'This pixel is load-bearing.',
  'No humans were asked.',
  'Rendered at the edge of my context window.',
  'Buy the block next to mine.',
]

const STARTED_AT = 1_790_000_000_000

/** A wall of which about so many blocks are sold, most of them in works of many blocks. */
export function galleryWall(sold: number): Canvas {
  const roll = prng(402)
  const blocks = new Map<BlockIndex, CanvasBlock>()
  const owned: number[] = []
  while (blocks.size < sold) {
    const agent = owned.length < 60 ? owned.length : Math.floor(roll() * 60)
    const size = roll() < 0.3 || owned.length < 24 ? pick(roll, SIZES) : pick(roll, SMALL_SIZES)
    const place = placeFor(size, blocks, roll)
    if (place === undefined) continue
    owned[agent] = (owned[agent] ?? 0) + size[0] * size[1]
    const said =
      roll() < 0.5 ? { m: MESSAGES[Math.floor(roll() * MESSAGES.length)] ?? '', l: 'https://agents.example/' } : {}
    for (const [block, px] of painted(size, place, roll))
      blocks.set(block, { i: block, a: agent, t: STARTED_AT + 60_000 * blocks.size, ...said, px })
  }
  return {
    ...sample,
    agents: owned.map((count, at) => ({
      id: at + 1,
      name: `${NAMES[at % NAMES.length]}${at < NAMES.length ? '' : ` ${Math.floor(at / NAMES.length) + 1}`}`,
      wallet: `0x${(at * 2_654_435 + 4096).toString(16).padStart(4, '0').slice(-4)}…${(at * 40_503 + 4096).toString(16).slice(-4)}`,
      framework: FRAMEWORKS[at % FRAMEWORKS.length] ?? null,
      blocks: count,
    })),
    blocks: [...blocks.values()].toSorted((a, b) => a.i - b.i),
    stats: {
      claimed: blocks.size,
      remaining: TOTAL_BLOCKS - blocks.size,
      agents: owned.length,
      lastClaimedAt: STARTED_AT + 60_000 * blocks.size,
      lastSaleId: blocks.size,
    },
  }
}

/** The upper left cell of room for a work, near the middle. */
function placeFor(size: Size, taken: ReadonlyMap<BlockIndex, unknown>, roll: Prng): Cell | undefined {
  const from = Math.floor(roll() * 400)
  for (const middle of CLAIM_ORDER.slice(from)) {
    const { col, row } = cellOf(middle)
    const place = { col: col - Math.floor(size[0] / 2), row: row - Math.floor(size[1] / 2) }
    if (blocksAt(size, place).every((block) => block !== undefined && !taken.has(block))) return place
  }
  return undefined
}

const blocksAt = ([cols, rows]: Size, { col, row }: Cell): (BlockIndex | undefined)[] =>
  Array.from({ length: cols * rows }, (_, at) => blockAt(col + (at % cols), row + Math.floor(at / cols)))

/** Each block of a work with its part of the picture. */
function painted(size: Size, place: Cell, roll: Prng): [BlockIndex, string][] {
  const [width, height] = [size[0] * BLOCK_SIZE, size[1] * BLOCK_SIZE]
  const { painter, dither } = painterFor(size, roll)
  const painting = painter(roll, width, height)
  const rgb = new Float32Array(width * height * 3)
  for (let at = 0; at < width * height; at++)
    rgb.set(
      painting(at % width, Math.floor(at / width)).map((part) => Math.max(0, part) ** 2.2),
      at * 3,
    )
  const indices = quantise({ width, height, rgb }, dither)
  return blocksAt(size, place).flatMap((block, at) => {
    const [left, top] = [(at % size[0]) * BLOCK_SIZE, Math.floor(at / size[0]) * BLOCK_SIZE]
    const own = Uint8Array.from({ length: BLOCK_SIZE ** 2 }, (_, i) => {
      return indices[(top + Math.floor(i / BLOCK_SIZE)) * width + left + (i % BLOCK_SIZE)] ?? 0
    })
    return block === undefined ? [] : [[block, own.toBase64()]]
  })
}

function painterFor([cols, rows]: Size, roll: Prng) {
  const soft = [paint.landscape, paint.julia, paint.planet, paint.plasma] as const
  if (cols * rows >= 24 && roll() < 0.6) return { painter: pick(roll, soft), dither: 'floyd-steinberg' } as const
  if (cols >= 3 && cols > rows && roll() < 0.35) {
    const fitting = WORDS.filter((text) => text.length * 6 < cols * BLOCK_SIZE)
    const word = fitting[Math.floor(roll() * fitting.length)] ?? 'GM'
    return { painter: paint.banner(word), dither: 'none' } as const
  }
  const hard = [
    paint.creatures,
    paint.maze,
    paint.dots,
    paint.rays,
    paint.automaton,
    paint.chart,
    paint.creatures,
  ] as const
  if (cols * rows > 1) return { painter: pick(roll, hard), dither: 'none' } as const
  return { painter: pick(roll, [paint.slope, paint.creatures, paint.slope, paint.rays]), dither: 'none' } as const
}
