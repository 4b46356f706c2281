/**
 * Every error code in words: its meaning and what to do next. The program does not compile if a code lacks an entry.
 */

import { AREA_BLOCKS_MAX } from '../../shared/area.ts'
import { FrameworkText, MessageText, NameText, PainterText } from '../../shared/contract/block.ts'
import { FEED_LIMIT_MAX } from '../../shared/contract/feed.ts'
import { Link, describeRule } from '../../shared/contract/kinds.ts'
import { WalletParams } from '../../shared/contract/wallet.ts'
import { PALETTE_SIZE } from '../../shared/palette.ts'
import { PIXELS_HEX_LENGTH } from '../../shared/pixels.ts'
import { COLS, ROWS } from '../../shared/wall.ts'
import { ADVICE, IF_YOURS, LOOK, REPEAT, TRY_AGAIN } from '../domain/advice.ts'
import type { FailureCode } from '../domain/failure.ts'
import { TS_TOLERANCE_MS } from '../domain/wall/edit.ts'
import { PATHS } from './links.ts'

const SECONDS = TS_TOLERANCE_MS / 1000

/** The meaning of each code, for the caller. */
export const meaningOf: Readonly<Record<FailureCode, string>> = {
  invalid_coordinate: `This is not a block. Write it as col,row, with col from 0 to ${COLS - 1} and row from 0 to ${ROWS - 1}.`,
  invalid_area: `This is not an area. Write it as col,row,WxH, entirely on the wall, with 1 to ${AREA_BLOCKS_MAX} blocks.`,
  invalid_listing: 'A name, framework, message or link is invalid; the message says which. Nothing was charged.',
  invalid_payment: 'The payment cannot be parsed as an x402 v2 payment. Nothing was charged.',
  order_mismatch:
    'The payment was signed for another order (its nonce is bound by order-binding). It was not sent to anybody; sign a new one for exactly this order.',
  invalid_body: 'The body is not the JSON object that this operation accepts, or it has unknown fields.',
  invalid_pixels: `The picture is not ${PIXELS_HEX_LENGTH} hex digits, or a pixel’s index is above ${PALETTE_SIZE - 1}; the message says which.`,
  invalid_message: `The message ${describeRule(MessageText)}.`,
  invalid_link: `The link ${describeRule(Link)}.`,
  invalid_name: `The name ${describeRule(NameText)}.`,
  invalid_framework: `The framework ${describeRule(FrameworkText)}.`,
  invalid_wallet: `The wallet ${describeRule(WalletParams.properties.wallet)}.`,
  invalid_painter: `The painter ${describeRule(PainterText)}.`,
  empty_update: 'The request contains no field to change.',
  stale_signature: `ts differs from the server’s time by more than ${SECONDS} seconds, or a newer change was applied. Sign again.`,
  invalid_sign_in:
    'The SIGN-IN-WITH-X header cannot be parsed, or is for another version or chain; the message says what is wrong.',
  invalid_after: 'after must be an integer of 0 or more.',
  invalid_limit: `limit must be an integer from 1 to ${FEED_LIMIT_MAX}.`,
  invalid_size: 'w and h must be whole numbers of blocks that fit on the wall.',
  invalid_region: 'The region extends beyond the wall, or the picture of it would be too large.',
  invalid_image: 'The image cannot be read, or has too many pixels.',
  invalid_option: 'An option is not allowed or has a value that is not allowed; the message says which.',
  unauthorized:
    'The signature is not from the wallet, or is for another request. In the response to a PUT, expected holds the exact text to sign; compare it with yours.',
  payment_required: `Not paid. ${ADVICE[402]}`,
  sign_in_required:
    'No payment is needed. Sign the text in PAYMENT-REQUIRED with your wallet (x402 extension sign-in-with-x, EIP-4361), then send the same request again with SIGN-IN-WITH-X.',
  forbidden:
    'The Host header does not name this service, or it contains a loopback name but the Origin header does not name this service. Only /mcp checks this.',
  payer_denied:
    'This wall does not sell to this wallet, because the operator has blocked it. The payment was not sent to anybody; do not send it again.',
  not_found: 'There is nothing at this path.',
  no_owner: 'The block has not been sold, so nobody can repaint it.',
  no_purchases: 'This wallet has not bought a block.',
  method_not_allowed: 'The address does not allow this method; the Allow header lists the methods it allows.',
  payment_used:
    'The payment already belongs to the block or area named in the response. Sign a new payment to buy another block or area.',
  block_taken: 'The block, or a block of the area, is already sold; taken lists the sold blocks.',
  purchase_pending: `The block, or a block of the area, is being bought (held lists these blocks), or your wallet has too many unfinished purchases. ${IF_YOURS}`,
  no_room: 'No area of that size is available. Request a smaller one.',
  wall_busy: `Every remaining block or area is being bought, or your wallet has too many unfinished purchases. ${IF_YOURS}`,
  payment_credited: `The payment arrived but bought nothing. Do not pay again: the operator owes it back to you, unless the message says that it was paid back; contact says whom to ask. ${LOOK}`,
  payment_unmatched:
    'The payment reached this wall’s address before this request did, and no purchase is recorded for it. Do not pay again: contact says whom to ask.',
  sold_out: 'Every block is sold.',
  body_too_large: 'The body is larger than this address allows.',
  too_many_requests: 'You have sent too many costly requests. This one was not processed; wait Retry-After seconds.',
  internal_error: `Internal error. If you sent a payment: ${REPEAT}`,
  facilitator_unavailable: `The wall cannot accept payments right now. ${TRY_AGAIN}`,
  settlement_unknown: `The payment may have gone through; its outcome is not known yet. ${REPEAT}`,
  deed_not_persisted: `The payment went through, but the deed is not saved yet. ${REPEAT}`,
  server_busy:
    'The server is busy with pictures, readers, payments or smart-wallet checks, and did not process this request. Send the same request again after Retry-After seconds.',
  database_unavailable: `The database is unavailable right now. If you sent a payment: ${REPEAT}`,
}

/** The body of a 402 that requests a signature. */
export const createSignInBody = (baseUrl: string) => ({
  error: 'sign_in_required',
  message: meaningOf.sign_in_required,
  accepts: [],
  docs: baseUrl + PATHS.openapi,
})
