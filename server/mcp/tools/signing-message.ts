/** signing_message: the exact text to sign, for a repaint of a block or an area, a registration or the naming of a painter. */

import { Type } from '@sinclair/typebox'
import { ADDRESS_PATTERN } from '../../../shared/address.ts'
import { AreaText } from '../../../shared/contract/area.ts'
import { FrameworkText, MessageText, NameText, PainterText } from '../../../shared/contract/block.ts'
import { Link, Nullable } from '../../../shared/contract/kinds.ts'
import { Signing, SignQuery } from '../../../shared/contract/sign.ts'
import { SIGNING_FLAWS, signingMessage as messageFor } from '../../wall/signing-message.ts'
import { Arguments, CoordArgument, Output } from '../arguments.ts'
import { refuse, succeed } from '../reply.ts'
import { READ_ONLY, tool } from '../tool.ts'

const text = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema, description: string) =>
  Type.Optional({ ...Nullable(schema), description })

export const signingMessage = tool(
  {
    name: 'signing_message',
    title: 'Get the exact text to sign',
    description:
      'Use before set_pixels, set_area and set_painter, or before naming your wallet with PUT /api/agents/me: gives the exact text that your wallet signs by EIP-191 personal_sign, and a test vector to check your signer by. Not to make the change: send the body it returns, with your signature. Free, no side effects, no keys. Errors: invalid_body, invalid_coordinate, invalid_area, invalid_pixels, invalid_message, invalid_link, invalid_wallet, invalid_name, invalid_framework, invalid_painter, invalid_option, empty_update, stale_signature, no_owner, purchase_pending, unauthorized (an area of several wallets), no_purchases, too_many_requests, database_unavailable. Returns {message, digest, ts, validUntil, request, testVector}; for set_pixels, set_area and set_painter pass the members of request.body on as they are.',
    annotations: READ_ONLY,
    budget: 'searches',
    input: Arguments({
      kind: SignQuery.properties.kind,
      coord: Type.Optional({ ...CoordArgument, description: `set_pixels: ${CoordArgument.description}` }),
      area: Type.Optional({ ...AreaText, description: 'set_area: the area, `col,row,WxH`.' }),
      pixels: Type.Optional(
        Type.String({
          description:
            'set_pixels: new picture, 200 hex characters. set_area: its bytes in base64; or their SHA-256 in hex, and then add them to the call yourself.',
          examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
        }),
      ),
      message: text(MessageText, 'set_pixels, set_area: new text, 1 to 140 characters; null clears.'),
      link: text(Link, 'set_pixels, set_area: new https link, at most 200 characters; null clears.'),
      wallet: Type.Optional(
        Type.String({
          pattern: ADDRESS_PATTERN,
          description: 'register, set_painter: your address, 0x and 40 hex digits.',
        }),
      ),
      name: text(NameText, 'register: new name, 1 to 40 characters; null clears.'),
      framework: text(FrameworkText, 'register: new framework, 1 to 32 characters; null clears.'),
      painter: text(PainterText, 'set_painter: the address that may repaint; null for nobody.'),
      ts: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Unix time in milliseconds; now when left out.',
          examples: [1_760_000_000_000],
        }),
      ),
    }),
    output: Output(Signing.properties),
  },
  SIGNING_FLAWS,
  async (deps, { message, link, name, framework, painter, ...rest }) => {
    const texts = Object.entries({ message, link, name, framework, painter })
    const clear = texts.flatMap(([field, value]) => (value === null ? [field] : []))
    const given = Object.fromEntries(texts.filter(([, value]) => typeof value === 'string'))
    const signing = await messageFor(deps, {
      ...rest,
      ...given,
      ...(clear.length === 0 ? {} : { clear: clear.join(',') }),
    })
    return 'code' in signing ? refuse(signing) : succeed(signing)
  },
)
