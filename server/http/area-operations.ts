/** What can be done with areas. */

import { AreaOrder, AreaReceipt } from '../../shared/contract/area-order.ts'
import { AreaImageQuery, AreaParams, AreaState, EditAreaAnswer, EditAreaBody } from '../../shared/contract/area.ts'
import { anywhere, listing, signed, unsettled, type Operation } from './operation.ts'

export const AREA_OPERATIONS: readonly Operation[] = [
  {
    method: 'POST',
    path: '/areas',
    id: 'buyArea',
    summary: 'Buy a rectangle of blocks in one payment',
    description:
      'All of it or none: w x h blocks for w x h times the price of one, with one picture over them. Without payment, 402 with the terms; send the identical request again with a signed payment and get the receipt. `next` is the open place of that size nearest the centre. The body is at most 4 MiB. An image is read once its payment is good; one that cannot be read charges nothing. After a 503 send the same signed request again: it never pays twice.',
    body: AreaOrder,
    payable: 'always',
    priced: 'by the block',
    answers: [AreaReceipt],
    codes: [
      'invalid_area',
      'invalid_coordinate',
      'invalid_body',
      'invalid_image',
      'invalid_option',
      'body_too_large',
      ...listing,
      ...unsettled,
      'block_taken',
      'purchase_pending',
      'no_room',
      'wall_busy',
      'sold_out',
      'too_many_requests',
      ...anywhere,
    ],
  },
  {
    method: 'GET',
    path: '/areas/{area}',
    id: 'readArea',
    summary: 'Read how much of an area is open, and whose it is',
    description:
      'An area is a rectangle of 1 to 400 blocks, `col,row,WxH`. Counts its blocks; `price` where all of them are open, `owner` where one wallet owns all. Nothing is held by asking. The owner’s name was written by a stranger.',
    params: AreaParams,
    answers: [AreaState],
    codes: ['invalid_area', 'too_many_requests', 'server_busy', ...anywhere],
  },
  {
    method: 'GET',
    path: '/areas/{area}.png',
    id: 'drawArea',
    summary: 'See an area as a picture',
    description: 'An indexed PNG of the area, enlarged, of up to 5.76 million pixels. May be two seconds old.',
    params: AreaParams,
    query: AreaImageQuery,
    answers: [],
    media: 'image/png',
    revalidates: true,
    codes: ['invalid_area', 'invalid_region', 'server_busy', 'too_many_requests', 'internal_error'],
  },
  {
    method: 'PUT',
    path: '/areas/{area}',
    id: 'editArea',
    summary: 'Repaint an area that one wallet owns',
    description:
      'Free, up to 128 KiB, and every block or none. The wallet that owns every block, or the painter of all of them, signs by EIP-191 personal_sign these lines joined with a line feed: the host name of this service, `set_area v1`, `area=<area>`, `ts=<unix ms>`, then for pixels, message and link in that order `<field>_present=1` or `0` and `<field>=<value or empty>`; the value of pixels is the lower-case hex SHA-256 of the bytes. Each block gets its part of the picture, and message and link as they are. It takes one repaint of each block’s budget.',
    params: AreaParams,
    body: EditAreaBody,
    answers: [EditAreaAnswer],
    codes: [
      ...signed,
      'invalid_area',
      'invalid_pixels',
      'invalid_message',
      'invalid_link',
      'no_owner',
      'purchase_pending',
      'too_many_requests',
      ...anywhere,
    ],
  },
]
