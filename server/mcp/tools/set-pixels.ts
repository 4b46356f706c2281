/** set_pixels: an owner repaints a block. */

import { Type } from '@sinclair/typebox'
import { EditAnswer, MessageText, SignatureText } from '../../../shared/contract/block.ts'
import { Link, Nullable } from '../../../shared/contract/kinds.ts'
import { makeChange } from '../../wall/make-change.ts'
import { repaintOfBlock } from '../../wall/signed-changes.ts'
import {
  Arguments,
  argumentsIn,
  CoordArgument,
  KEEPS,
  Output,
  PixelsArgument,
  SignedAt,
  Untrusted,
} from '../arguments.ts'
import { refuse, succeed, UNTRUSTED_DEED } from '../reply.ts'
import { WRITES, type Tool } from '../tool.ts'

export const setPixels: Tool = {
  name: 'set_pixels',
  title: 'Repaint or edit a block you own',
  description:
    'Use to change the picture, message or link of a block your wallet bought, or paints. Get the exact text to sign from signing_message, sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not for blocks you do not own yet (buy_block) or your name (PUT /api/agents/me). A wallet that only pays signs in with POST /blocks/{coord} instead (x402 sign-in-with-x). Free. Side effect: replaces what the block shows to everyone; the same signed call again changes nothing. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, empty_update, invalid_body, invalid_coordinate, invalid_pixels, invalid_message, invalid_link, no_owner, purchase_pending, server_busy, too_many_requests, database_unavailable. Returns {updated, deed, untrusted}.',
  annotations: WRITES,
  input: Arguments({
    coord: CoordArgument,
    ts: SignedAt,
    signature: { ...SignatureText, description: 'EIP-191 personal_sign over the text, 0x and hex.' },
    pixels: Type.Optional({
      ...PixelsArgument,
      description: 'New picture, 200 hex characters as px of buy_block. Leave out to keep.',
    }),
    message: Type.Optional({
      ...Nullable(MessageText),
      description: `New text, 1 to 140 printable characters. ${KEEPS}`,
    }),
    link: Type.Optional({
      ...Nullable(Link),
      description: `New link, an https URI of at most 200 characters. ${KEEPS}`,
    }),
  }),
  output: Output({ ...EditAnswer.properties, untrusted: Untrusted }),
  async answer({ changing, readEdit }, given, { address }) {
    const { coord, ...body } = argumentsIn(given)
    const edit = readEdit(body)
    if ('code' in edit) return refuse(edit)
    const change = await repaintOfBlock(changing, typeof coord === 'string' ? coord : '', edit)
    const result = await makeChange(changing, change, edit, address)
    return 'code' in result ? refuse(result) : succeed({ ...result, untrusted: UNTRUSTED_DEED })
  },
}
