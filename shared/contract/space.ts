/** Open space on the wall: rectangles of open blocks. */

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
  order: Type.Object(
    { at: CoordText, w: Type.Integer(), h: Type.Integer() },
    {
      description:
        'Order that buys the whole rectangle in one payment: the body of POST /areas, or the arguments of buy_area.',
    },
  ),
  price: Type.String({ pattern: '^\\d+\\.\\d{2}$', description: 'Total price.' }),
})

export const Spaces = Type.Object({
  w: Type.Integer(),
  h: Type.Integer(),
  asset: Type.Literal(ASSET_SYMBOL),
  spaces: Type.Array(Space, {
    description: 'Open rectangles, nearest first; no two share a block. Empty if there are none.',
  }),
})
export type Spaces = Static<typeof Spaces>
