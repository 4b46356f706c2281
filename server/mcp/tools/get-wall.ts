/** get_wall: what the wall is, what it costs and how much of it is sold. */

import { Type } from '@sinclair/typebox'
import { Canvas } from '../../../shared/contract/canvas.ts'
import { ASSET_SYMBOL, moneyText } from '../../../shared/money.ts'
import { PALETTE } from '../../../shared/palette.ts'
import { PIXELS_PER_BLOCK } from '../../../shared/pixels.ts'
import { BLOCK_SIZE, COLS, HEIGHT, ROWS, TOTAL_BLOCKS, WIDTH } from '../../../shared/wall.ts'
import { statsOf } from '../../domain/wall/wall-view.ts'
import { Arguments, Output } from '../arguments.ts'
import { succeed } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

const { canvas, pricing, palette, stats } = Canvas.properties

export const getWall = tool(
  {
    name: 'get_wall',
    title: 'Read the wall’s size, price, palette and counts',
    description:
      'Use first, to learn the size of the wall, the price of a block, the 240 colours that pixels index and how many blocks are sold. Not for single blocks (get_block), a picture (get_wall_image) or open places (list_unclaimed, find_space). Free, no side effects, no arguments. Returns {canvas, pricing, palette, stats, canvasUrl}; canvasUrl serves every claimed block at once and is large.',
    annotations: READ_ONLY,
    isShown: true,
    input: Arguments({}),
    output: Output({ canvas, pricing, palette, stats, canvasUrl: Type.String() }),
  },
  {},
  ({ view, offer }) =>
    succeed({
      canvas: {
        width: WIDTH,
        height: HEIGHT,
        blockSize: BLOCK_SIZE,
        cols: COLS,
        rows: ROWS,
        totalBlocks: TOTAL_BLOCKS,
      },
      pricing: {
        perPixel: moneyText(offer.terms.amount / BigInt(PIXELS_PER_BLOCK)),
        perBlock: moneyText(offer.terms.amount),
        asset: ASSET_SYMBOL,
        network: offer.terms.network,
      },
      palette: PALETTE,
      stats: statsOf(view),
      canvasUrl: `${offer.baseUrl}/api/canvas`,
    }),
)
