/** The free preview of a purchase: its terms, whether it would be accepted, and how the blocks would look. */

import { Type, type Static } from '@sinclair/typebox'
import { ASSET_SYMBOL } from '../money.ts'
import { BlockRef } from './block.ts'
import { Closed, Money, Nullable, OptionalText } from './kinds.ts'

/** `next`, or the coordinate of a block. */
export const TargetText = Type.String({
  pattern: '^(?:next|\\d{1,3},\\d{1,3})$',
  description: '`next` for the open block nearest the centre, or a block’s `col,row`: col 0 to 159, row 0 to 89.',
  examples: ['next', '80,45'],
})

/** Any text may be previewed; invalid text is reported as a problem. */
export const PreviewBody = Closed({
  coord: TargetText,
  w: Type.Optional(
    Type.Integer({ description: 'Width in blocks, for an area whose top left block is coord. Default 1.' }),
  ),
  h: Type.Optional(Type.Integer({ description: 'Height in blocks. Default 1.' })),
  name: OptionalText('As when buying: 1 to 40 printable characters.'),
  framework: OptionalText('As when buying: 1 to 32 printable characters.'),
  message: OptionalText('As when buying: 1 to 140 printable characters.'),
  link: OptionalText('As when buying: an https URI of at most 200 characters.'),
  px: OptionalText('As when buying a block: 200 hex characters, each pair a palette index from 00 to ef.'),
  pixels: OptionalText('As when buying an area: its palette indices in base64, row by row.'),
  painter: OptionalText('As when buying: an address that may also repaint.'),
})
export type PreviewBody = Static<typeof PreviewBody>

export const PreviewProblem = Type.Object({
  field: Type.String({
    description:
      'The field to fix: coord, name, framework, message, link, px, pixels or painter; `rail` if payments are not accepted right now.',
  }),
  code: Type.String({ description: 'The error code that buying would return.' }),
  message: Type.String(),
})
export type PreviewProblem = Static<typeof PreviewProblem>

export const Price = Type.Object({
  amount: Money,
  asset: Type.Literal(ASSET_SYMBOL),
  network: Type.String({ examples: ['eip155:8453'] }),
})

export const Preview = Type.Object({
  acceptable: Type.Boolean({ description: 'Whether buying exactly this would be accepted at this moment.' }),
  problems: Type.Array(PreviewProblem),
  block: Type.Union([BlockRef, Type.Null()], {
    description:
      'The block you would get: for `next`, the one it currently stands for; for an area, its top left block. Null if there is none.',
  }),
  area: Nullable(
    Type.String({
      description: 'The area you would get, `col,row,WxH`. Null for a block, or if next finds no open area.',
    }),
  ),
  state: Type.Union([Type.Literal('open'), Type.Literal('reserved'), Type.Literal('claimed')], {
    description: 'For an area: open if every block is open, claimed if any block is sold, otherwise reserved.',
  }),
  price: Price,
  request: Type.Object(
    {
      method: Type.Union([Type.Literal('GET'), Type.Literal('POST')]),
      url: Type.String({ format: 'uri' }),
      body: Type.Optional(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Only for an area; add your picture as pixels or image.',
        }),
      ),
    },
    { description: 'Request for this purchase.' },
  ),
  terms: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
    description: 'The one entry of `accepts` that the 402 would contain; null if this cannot be bought now.',
  }),
  image: Nullable(
    Type.String({
      contentEncoding: 'base64',
      description: 'A PNG of the blocks and their surroundings, enlarged up to eight times, in base64.',
    }),
  ),
})
export type Preview = Static<typeof Preview>
