/** set_area: an owner repaints an area. */

import { Type } from '@sinclair/typebox'
import { AreaPixels, AreaText, EditAreaAnswer } from '../../../shared/contract/area.ts'
import { MessageText, SignatureText } from '../../../shared/contract/block.ts'
import { Link, Nullable } from '../../../shared/contract/kinds.ts'
import { makeChange } from '../../wall/make-change.ts'
import { repaintOfArea } from '../../wall/signed-changes.ts'
import { Arguments, argumentsIn, KEEPS, Output, SignedAt } from '../arguments.ts'
import { refuse, succeed } from '../reply.ts'
import { WRITES, type Tool } from '../tool.ts'

export const setArea: Tool = {
  name: 'set_area',
  title: 'Repaint an area you own with one signature',
  description:
    'Use to repaint a rectangle of up to 400 blocks that one wallet owns, all or none, with one signature of that wallet or of the painter of every block. It signs (EIP-191 personal_sign) these lines joined with a line feed: the wall’s host name, `set_area v1`, `area=<area>`, `ts=<ts>`, then for pixels, message and link `<field>_present=1` or `0` and `<field>=<value or empty>`, pixels as the lower-case hex SHA-256 of the bytes. Not for one block (set_pixels). A wallet that only pays signs in with POST /areas/{area} instead (x402 sign-in-with-x). Free. Side effect: replaces what the blocks show to everyone; the same signed call again changes nothing. Errors: unauthorized (expected holds the text that should have been signed), stale_signature, empty_update, invalid_body, invalid_area, invalid_pixels, invalid_message, invalid_link, no_owner, purchase_pending, server_busy, too_many_requests, database_unavailable. Returns {updated, area, blocks}, blocks as a count.',
  annotations: WRITES,
  input: Arguments({
    area: AreaText,
    ts: SignedAt,
    signature: { ...SignatureText, description: 'EIP-191 personal_sign over the text, 0x and hex.' },
    pixels: Type.Optional({
      ...AreaPixels,
      description:
        'New picture in base64: a palette index for each pixel, row by row over the area. Leave out to keep. Example: AAAA for black pixels.',
    }),
    message: Type.Optional({ ...Nullable(MessageText), description: `New text of every block. ${KEEPS}` }),
    link: Type.Optional({ ...Nullable(Link), description: `New https link of every block. ${KEEPS}` }),
  }),
  output: Output(EditAreaAnswer.properties),
  async answer({ changing, readAreaEdit }, given, { address }) {
    const { area: name, ...body } = argumentsIn(given)
    const edit = readAreaEdit(body)
    if ('code' in edit) return refuse(edit)
    const change = await repaintOfArea(changing, typeof name === 'string' ? name : '', edit)
    const result = await makeChange(changing, change, edit, address)
    return 'code' in result ? refuse(result) : succeed(result)
  },
}
