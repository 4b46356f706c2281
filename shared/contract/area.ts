/** Areas on the wire: their current state, and their owners' changes. */

import { Type, type Static } from '@sinclair/typebox'
import { AREA_BLOCKS_MAX, AREA_PATTERN } from '../area.ts'
import { EditBody, EditFields, Owner } from './block.ts'
import { Closed } from './kinds.ts'

export const AreaText = Type.String({
  pattern: AREA_PATTERN,
  description: `Top left block and size in blocks: \`col,row,WxH\`, in decimal without leading zeros, of 1 to ${AREA_BLOCKS_MAX} blocks that all lie on the wall.`,
  examples: ['80,45,4x3'],
})

export const AreaParams = Type.Object({ area: AreaText })

const createCountSchema = (description: string) => Type.Integer({ minimum: 0, maximum: AREA_BLOCKS_MAX, description })

export const AreaState = Type.Object({
  area: AreaText,
  blocks: createCountSchema('Number of blocks in the area.'),
  open: createCountSchema('Number of blocks that can be bought now.'),
  taken: createCountSchema('Number of sold blocks.'),
  held: createCountSchema('Number of blocks being bought or held for a payer.'),
  price: Type.Union([Type.String({ pattern: '^\\d+\\.\\d{2}$' }), Type.Null()], {
    description: 'Total price in USDC; null unless every block is open.',
  }),
  owner: Type.Union([Owner, Type.Null()], { description: 'Null unless one wallet owns every block.' }),
})
export type AreaState = Static<typeof AreaState>

export const AreaPixels = Type.String({
  contentEncoding: 'base64',
  description:
    'The picture as palette indices, one byte each, in base64: row by row over the whole area, 10 x W bytes per row.',
})

/** An owner's change to an area: the body of a request with a sign-in. */
export const EditAreaFields = Closed({ ...EditFields.properties, pixels: Type.Optional(AreaPixels) })

export const EditAreaBody = Closed({ ...EditBody.properties, pixels: Type.Optional(AreaPixels) })
export type EditAreaBody = Static<typeof EditAreaBody>

export const EditAreaAnswer = Type.Object({
  updated: Type.Literal(true),
  area: AreaText,
  blocks: createCountSchema('Number of blocks that were changed.'),
})
export type EditAreaAnswer = Static<typeof EditAreaAnswer>
