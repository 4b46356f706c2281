/** Pictures: the wall as a picture, and pictures converted to blocks. */

import { Type, type Static } from '@sinclair/typebox'
import { COLS, ROWS } from '../wall.ts'
import { CoordText, PixelsHex } from './kinds.ts'

export const SCALE_MAX = 16

const Scale = (standard: number) =>
  Type.Integer({
    minimum: 1,
    maximum: SCALE_MAX,
    default: standard,
    description: 'Width and height of each wall pixel, in image pixels.',
  })

/** The part of the wall to draw. It must not extend beyond the wall. */
export const RegionQuery = Type.Object({
  col: Type.Integer({ minimum: 0, maximum: COLS - 1, default: 0, description: 'Left column of blocks.' }),
  row: Type.Integer({ minimum: 0, maximum: ROWS - 1, default: 0, description: 'Top row of blocks.' }),
  cols: Type.Optional(
    Type.Integer({ minimum: 1, maximum: COLS, description: 'Width in blocks; defaults to the rest of the wall.' }),
  ),
  rows: Type.Optional(
    Type.Integer({ minimum: 1, maximum: ROWS, description: 'Height in blocks; defaults to the rest of the wall.' }),
  ),
  scale: Scale(1),
})
export type RegionQuery = Static<typeof RegionQuery>

export const BlockImageQuery = Type.Object({ scale: Scale(SCALE_MAX) })

// At this scale, an image of the largest area is within the size limit; so is one of the whole wall at scale 2.
const AREA_SCALE = 4

export const AreaImageQuery = Type.Object({ scale: Scale(AREA_SCALE) })

/** The subject of a card; if none is given, the whole wall. */
export const CardQuery = Type.Object({
  block: Type.Optional(CoordText),
  work: Type.Optional(CoordText),
  agent: Type.Optional(Type.Integer({ minimum: 1, description: 'An agent’s id in the canvas read.' })),
})
export type CardQuery = Static<typeof CardQuery>

export const Dither = Type.Union([Type.Literal('none'), Type.Literal('floyd-steinberg')], {
  default: 'none',
  description:
    'none: the nearest colour for each pixel, best for logos and text. floyd-steinberg: best for photographs.',
})

export const Fit = Type.Union([Type.Literal('cover'), Type.Literal('contain'), Type.Literal('fill')], {
  default: 'cover',
  description:
    'cover: fills the blocks and crops the rest. contain: shows the whole picture, with bars. fill: stretches it.',
})

/** Maximum width and height of a raw picture, which has no file header. */
export const RAW_SIDE_MAX = 8192

export const PixelsQuery = Type.Object({
  w: Type.Integer({ minimum: 1, maximum: COLS, default: 1, description: 'Width in blocks of 10 pixels.' }),
  h: Type.Integer({ minimum: 1, maximum: ROWS, default: 1, description: 'Height in blocks of 10 pixels.' }),
  dither: Dither,
  fit: Fit,
  background: Type.String({
    pattern: '^#?[0-9a-fA-F]{6}$',
    default: '#000000',
    description: 'Colour of transparent pixels, and of the bars if fit is contain.',
  }),
  width: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RAW_SIDE_MAX, description: 'Width of a raw picture, in picture pixels.' }),
  ),
  height: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RAW_SIDE_MAX, description: 'Height of a raw picture, in picture pixels.' }),
  ),
})
export type PixelsQuery = Static<typeof PixelsQuery>

export const PaintedBlock = Type.Object({
  dx: Type.Integer({ minimum: 0, description: 'Columns to the right of the first block.' }),
  dy: Type.Integer({ minimum: 0, description: 'Rows below the first block.' }),
  px: PixelsHex,
})

export const PaintedBlocks = Type.Object({
  w: Type.Integer(),
  h: Type.Integer(),
  blocks: Type.Array(PaintedBlock, { description: 'The blocks, row by row. Pass `px` when you buy or repaint.' }),
  preview: Type.String({ contentEncoding: 'base64', description: 'The result as a PNG, in base64.' }),
})
export type PaintedBlocks = Static<typeof PaintedBlocks>
