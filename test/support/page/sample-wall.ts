/** A small test wall, as the service returns it. */

import type { Deed } from '../../../shared/contract/block.ts'
import type { Canvas } from '../../../shared/contract/canvas.ts'
import { ASSET_SYMBOL, USUAL_PRICE } from '../../../shared/money.ts'
import { PALETTE } from '../../../shared/palette.ts'
import {
  BLOCK_SIZE,
  COLS,
  HEIGHT,
  ROWS,
  TOTAL_BLOCKS,
  WIDTH,
  getBlockAt,
  parseCoord,
  type BlockIndex,
} from '../../../shared/wall.ts'
import { createWall, addBlocks, type Wall } from '../../../viewer/wall/wall-model.ts'

/** The page's model of a wall once the whole canvas has arrived. */
export const buildSampleWall = (read: Canvas): Wall => ({
  ...addBlocks(createWall(read), read.blocks),
  changed: undefined,
  complete: true,
})

const BLACK = 0
const WHITE = 215
const RED = 180

/** The block at a position; throws if the position is off the wall. */
export function requireBlockAt(col: number, row: number): BlockIndex {
  const block = getBlockAt(col, row)
  if (block === undefined) throw new RangeError(`${col},${row} is off the wall`)
  return block
}

/** A block in which every pixel has a different colour. */
export const rainbowBlock = requireBlockAt(80, 45)
/** A block of alternating black and white pixels. */
export const checkerBlock = requireBlockAt(78, 45)
/** An owned block without a picture. */
export const blockWithoutPicture = requireBlockAt(81, 45)
/** A block whose message and owner's name contain markup. */
export const nastyBlock = requireBlockAt(79, 44)
export const openBlock = requireBlockAt(100, 20)

/** The encoded picture of a block, with the colour that `colour` returns for each pixel. */
const createPicture = (colour: (x: number, y: number) => number) =>
  Uint8Array.from({ length: BLOCK_SIZE ** 2 }, (_, i) => colour(i % BLOCK_SIZE, Math.floor(i / BLOCK_SIZE))).toBase64()

/** The palette index of a pixel of `rainbowBlock`. */
export const computeRainbowColour = (x: number, y: number): number => 16 + y * 2 * BLOCK_SIZE + x * 2

export const nastyMessage = `<script>window.hurt = true</script><img src=x onerror="window.hurt = true">`

const agents: Canvas['agents'] = [
  { id: 1, name: 'Ada', wallet: '0x1234…abcd', framework: 'eliza', blocks: 3 },
  {
    id: 2,
    name: '<b onclick="window.hurt = true">Mallory</b>',
    wallet: '0x9876…fedc',
    framework: '<i>x</i>',
    blocks: 1,
  },
]

const blocks: Canvas['blocks'] = [
  {
    i: nastyBlock,
    a: 1,
    t: 1_760_000_300_000,
    m: nastyMessage,
    l: 'https://example.org/?q=%3Cscript%3E',
    px: createPicture(() => RED),
  },
  { i: checkerBlock, a: 0, t: 1_760_000_100_000, px: createPicture((x, y) => ((x + y) % 2 ? WHITE : BLACK)) },
  {
    i: rainbowBlock,
    a: 0,
    t: 1_760_000_000_000,
    m: 'Hello from a machine.',
    l: 'https://example.com/a',
    px: createPicture(computeRainbowColour),
  },
  { i: blockWithoutPicture, a: 0, t: 1_760_000_200_000 },
]

export const canvas: Canvas = {
  canvas: { width: WIDTH, height: HEIGHT, blockSize: BLOCK_SIZE, cols: COLS, rows: ROWS, totalBlocks: TOTAL_BLOCKS },
  pricing: { perPixel: '0.01', perBlock: USUAL_PRICE, asset: ASSET_SYMBOL, network: 'eip155:8453' },
  palette: [...PALETTE],
  stats: { claimed: 4, remaining: TOTAL_BLOCKS - 4, agents: 2, lastClaimedAt: 1_760_000_300_000, lastSaleId: 4 },
  agents,
  blocks,
}

/** The deed of a block; `undefined` if the block is not claimed. */
export function findDeed({ blocks: claimed, agents: owners }: Canvas, coord: string): Deed | undefined {
  const index = parseCoord(coord)
  const claim = claimed.find(({ i }) => i === index)
  const owner = claim && owners[claim.a]
  if (claim === undefined || owner === undefined) return undefined
  return {
    state: 'claimed',
    block: { coord, index: claim.i },
    owner: { name: owner.name, wallet: owner.wallet, framework: owner.framework },
    claimedAt: claim.t,
    settled: true,
    tx: `0x${claim.i.toString(16).padStart(64, '0')}`,
    // In this wall, the payments for blocks with an odd index are bound to their orders.
    ...(claim.i % 2 === 1 ? { bound: true } : {}),
    message: claim.m ?? null,
    link: claim.l ?? null,
    pixels: claim.px ?? null,
  }
}
