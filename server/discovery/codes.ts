/** Every error code in words: what it means and what to do next. One that is added without words does not compile. */

import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import { FEED_LIMIT_MAX } from '../../shared/contract/feed.ts'
import { PALETTE_SIZE } from '../../shared/palette.ts'
import { PIXELS_HEX_LENGTH } from '../../shared/pixels.ts'
import { COLS, ROWS } from '../../shared/wall.ts'
import { ADVICE, IF_YOURS, LOOK, REPEAT, TRY_AGAIN } from '../domain/advice.ts'
import type { FailureCode } from '../domain/failure.ts'
import { TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import { rules } from '../domain/wall/signed-fields.ts'
import { PATHS } from './links.ts'

const SECONDS = TS_TOLERANCE_MS / 1000

/** What each code tells the caller. */
export const meaningOf: Readonly<Record<FailureCode, string>> = {
  invalid_coordinate: `The block is not named col,row, with col from 0 to ${COLS - 1} and row from 0 to ${ROWS - 1}.`,
  invalid_area: `The area is not named col,row,WxH, is not all on the wall, or has not 1 to ${AREA_BLOCKS_MAX} blocks.`,
  invalid_listing: 'A name, framework, message or link breaks its rule; the message names it. Nothing was charged.',
  invalid_payment: 'The payment cannot be read as one of x402 v2. Nothing was charged.',
  invalid_body: 'The body is not the JSON object that is described, or has further fields.',
  invalid_pixels: `The picture is not ${PIXELS_HEX_LENGTH} hex digits, or a pixel is beyond ${PALETTE_SIZE - 1}; the message says which.`,
  invalid_message: `The message ${rules.message}.`,
  invalid_link: `The link ${rules.link}.`,
  invalid_name: `The name ${rules.name}.`,
  invalid_framework: `The framework ${rules.framework}.`,
  invalid_wallet: `The wallet ${rules.wallet}.`,
  invalid_painter: `The painter ${rules.painter}.`,
  empty_update: 'There is no field to change.',
  stale_signature: `ts is more than ${SECONDS} seconds from the time here, or a newer change has been made. Sign anew.`,
  invalid_sign_in:
    'The SIGN-IN-WITH-X header is not one that can be read, or of another version or chain; the message says what.',
  invalid_after: 'after must be one integer from 0 up.',
  invalid_limit: `limit must be one integer from 1 to ${FEED_LIMIT_MAX}.`,
  invalid_size: 'w and h must be whole numbers of blocks that fit on the wall.',
  invalid_region: 'The region is not on the wall, or the picture of it would be too large.',
  invalid_image: 'The image cannot be read, or has too many pixels.',
  invalid_option: 'An option is none of those listed.',
  unauthorized:
    'The signature is not the wallet’s, or for another request. With a PUT, expected holds the exact text to sign; compare it with yours.',
  payment_required: `Not paid. ${ADVICE[402]}`,
  sign_in_required:
    'Nothing is to be paid: the wallet signs what PAYMENT-REQUIRED asks for (x402 extension sign-in-with-x, EIP-4361), and the same request is sent again with SIGN-IN-WITH-X.',
  forbidden: 'The Host of the request is not this service’s, or on a loopback name its Origin; only /mcp asks.',
  not_found: 'There is nothing at this path.',
  no_owner: 'The block has not been sold, so nobody can repaint it.',
  no_purchases: 'This wallet has bought no block.',
  method_not_allowed: 'The address does not take this verb; Allow lists those it takes.',
  payment_used: 'The payment belongs to the block or area that is named. Sign a new one to buy another.',
  block_taken: 'Somebody else owns the block, or one of the area; taken lists them. Nothing was charged.',
  purchase_pending: `The block, or one of the area, is being bought (held lists them), or too many of your purchases are open. ${IF_YOURS}`,
  no_room: 'No area of that size is open. Nothing was charged; ask for a smaller one.',
  wall_busy: `Every block or area left is being bought, or too many of your purchases are open. ${IF_YOURS}`,
  payment_credited: `Paid, and it bought nothing. Do not pay again: the operator owes it back; contact says whom to ask. ${LOOK}`,
  payment_unmatched:
    'Paid to this wall before it had seen the payment, and no purchase is known for it. Do not pay again: contact says whom to ask.',
  sold_out: 'Every block is sold.',
  body_too_large: 'The body is larger than this address takes.',
  too_many_requests:
    'You have asked for more of what costs than one client is answered. Nothing was done; wait Retry-After seconds.',
  internal_error: `A fault of this service. If you sent a payment: ${REPEAT}`,
  facilitator_unavailable: `Payments cannot be taken now. ${TRY_AGAIN}`,
  settlement_unknown: `The payment may have gone through, and the block is held for you. ${REPEAT}`,
  deed_not_persisted: `Paid, but the deed is not written yet. ${REPEAT}`,
  server_busy:
    'Too much of one kind is under way: pictures, readers, payments or checks of smart wallets. Nothing was charged or changed; send the same request again after Retry-After seconds.',
  database_unavailable: `The store cannot be used now. If you sent a payment: ${REPEAT}`,
}

/** The body of the 402 that asks for a signature. */
export const signInRequired = (baseUrl: string) => ({
  error: 'sign_in_required',
  message: meaningOf.sign_in_required,
  accepts: [],
  docs: baseUrl + PATHS.openapi,
})
