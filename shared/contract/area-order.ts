/** Orders for areas: a buyer's request and its receipt. */

import { Type, type Static, type TString } from '@sinclair/typebox'
import { AREA_BLOCKS_MAX } from '../area.ts'
import { COLS, ROWS } from '../wall.ts'
import { AreaText as AnyAreaText } from './area.ts'
import { FrameworkText, ListingQuery, MessageText, NameText, Receipt } from './block.ts'
import { Closed, CoordText, Link } from './kinds.ts'
import { Dither, Fit } from './picture.ts'
import { TargetText } from './preview.ts'

/** The size limit of an image, in bytes. */
export const AREA_IMAGE_MAX_BYTES = 2 * 1024 * 1024

const AreaText: TString = { ...AnyAreaText, description: 'Top left block and size in blocks: `col,row,WxH`.' }

/** An order for an area, with the listing that all its blocks share. */
export const AreaOrder = Closed({
  at: Type.Optional(
    Type.String({
      ...TargetText,
      default: 'next',
      description: 'The top left block, `col,row`; or `next` (default) for the open area nearest the centre.',
    }),
  ),
  w: Type.Integer({ minimum: 1, maximum: COLS, description: 'Width in blocks of 10 pixels.' }),
  h: Type.Integer({
    minimum: 1,
    maximum: ROWS,
    description: `Height in blocks of 10 pixels; w x h is at most ${AREA_BLOCKS_MAX}.`,
  }),
  pixels: Type.Optional(
    Type.String({
      contentEncoding: 'base64',
      description:
        'The picture as palette indices, one byte each, in base64: row by row over the whole area, 10 x w bytes per row.',
    }),
  ),
  image: Type.Optional(
    Type.String({
      contentEncoding: 'base64',
      description:
        'The picture as a PNG or JPEG of at most 2 MiB, in base64, fitted to the area. Cannot be combined with pixels.',
    }),
  ),
  fit: Type.Optional(Fit),
  dither: Type.Optional(Dither),
  name: Type.Optional(NameText),
  framework: Type.Optional(FrameworkText),
  message: Type.Optional(MessageText),
  link: Type.Optional(Link),
  painter: ListingQuery.properties.painter,
})
export type AreaOrder = Static<typeof AreaOrder>

const { block: _, ...ofDeed } = Receipt.properties.deed.properties

export const AreaReceipt = Type.Object({
  area: AreaText,
  blocks: Type.Array(CoordText, {
    description: 'The area’s blocks, row by row. Each is an ordinary block with its own deed.',
  }),
  owner: Receipt.properties.owner,
  pixels: Receipt.properties.pixels,
  notice: Receipt.properties.notice,
  deed: Type.Object({ area: AreaText, ...ofDeed }),
})
export type AreaReceipt = Static<typeof AreaReceipt>
