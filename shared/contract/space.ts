/** Free room on the wall: rectangles of open blocks. */

import { Type, type Static } from '@sinclair/typebox'
import { ASSET_SYMBOL } from '../money.ts'
import { COLS, ROWS } from '../wall.ts'
import { CoordText } from './kinds.ts'

export const SPACE_LIMIT_DEFAULT = 5
export const SPACE_LIMIT_MAX = 20

export const SpaceQuery = Type.Object({
  w: Type.Integer({ minimum: 1, maximum: COLS, default: 1, description: 'Width in blocks.' }),
  h: Type.Integer({ minimum: 1, maximum: ROWS, default: 1, description: 'Height in blocks.' }),
  near: Type.Optional(
    Type.String({ ...CoordText, description: 'Search near this block, `col,row`; default: the wall’s centre.' }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: SPACE_LIMIT_MAX, default: SPACE_LIMIT_DEFAULT }),
})
export type SpaceQuery = Static<typeof SpaceQuery>

export const Space = Type.Object({
  coord: Type.String({ description: 'The top left block.', examples: ['80,45'] }),
  blocks: Type.Array(CoordText, {
    description:
      'All blocks in the order to buy them: nearest the wall’s centre first, because those are the most wanted. Blocks that others may buy meanwhile then lie at the edge.',
  }),
  price: Type.String({ pattern: '^\\d+\\.\\d{2}$', description: 'Total price.' }),
})

export const Spaces = Type.Object({
  w: Type.Integer(),
  h: Type.Integer(),
  asset: Type.Literal(ASSET_SYMBOL),
  note: Type.String({ description: 'Nothing is reserved: another buyer may be faster.' }),
  spaces: Type.Array(Space, { description: 'Nearest first; no two share a block. Empty when there is none.' }),
})
export type Spaces = Static<typeof Spaces>
