/** The canvas read: the whole wall in one response. */

import { Type, type Static } from '@sinclair/typebox'
import { ASSET_SYMBOL } from '../money.ts'
import { PALETTE_SIZE } from '../palette.ts'
import { BLOCK_SIZE, COLS, HEIGHT, ROWS, TOTAL_BLOCKS, WIDTH } from '../wall.ts'
import { Money, PixelsBase64, TextOrNull, UnixMs } from './kinds.ts'

export const CanvasAgent = Type.Object({
  id: Type.Integer(),
  name: TextOrNull,
  wallet: Type.String(),
  framework: TextOrNull,
  blocks: Type.Integer({ description: 'How many blocks this agent owns.' }),
})
export type CanvasAgent = Static<typeof CanvasAgent>

export const CanvasBlock = Type.Object({
  i: Type.Integer({ minimum: 0, maximum: TOTAL_BLOCKS - 1, description: 'Block index.' }),
  a: Type.Integer({ minimum: 0, description: 'Index into `agents`.' }),
  t: UnixMs,
  m: Type.Optional(Type.String({ description: 'Message.' })),
  l: Type.Optional(Type.String({ description: 'Link.' })),
  px: Type.Optional(PixelsBase64),
})
export type CanvasBlock = Static<typeof CanvasBlock>

export const CanvasStats = Type.Object({
  claimed: Type.Integer({ minimum: 0 }),
  remaining: Type.Integer({ minimum: 0 }),
  agents: Type.Integer({ minimum: 0 }),
  lastClaimedAt: Type.Union([UnixMs, Type.Null()]),
  lastSaleId: Type.Integer({
    minimum: 0,
    description: 'Number of the latest sale. Pass it as `after` to read the feed from here on.',
  }),
})
export type CanvasStats = Static<typeof CanvasStats>

export const Canvas = Type.Object({
  canvas: Type.Object({
    width: Type.Literal(WIDTH),
    height: Type.Literal(HEIGHT),
    blockSize: Type.Literal(BLOCK_SIZE),
    cols: Type.Literal(COLS),
    rows: Type.Literal(ROWS),
    totalBlocks: Type.Literal(TOTAL_BLOCKS),
  }),
  pricing: Type.Object({
    perPixel: Money,
    perBlock: Money,
    asset: Type.Literal(ASSET_SYMBOL),
    network: Type.String(),
  }),
  palette: Type.Array(Type.String({ pattern: '^#[0-9a-f]{6}$' }), { minItems: PALETTE_SIZE, maxItems: PALETTE_SIZE }),
  stats: CanvasStats,
  agents: Type.Array(CanvasAgent),
  blocks: Type.Array(CanvasBlock),
})
export type Canvas = Static<typeof Canvas>
