/** The tools for owners: repaint a block or an area, name a painter, and get the text to sign. */

import { Type } from '@sinclair/typebox'
import { PainterAnswer } from '../../../shared/contract/agent.ts'
import { AreaPixels, AreaText, EditAreaAnswer } from '../../../shared/contract/area.ts'
import {
  EditAnswer,
  FrameworkText,
  MessageText,
  NameText,
  PainterText,
  SignatureText,
} from '../../../shared/contract/block.ts'
import { Closed, Link, Nullable } from '../../../shared/contract/kinds.ts'
import { SignQuery, Signing } from '../../../shared/contract/sign.ts'
import { ADDRESS_PATTERN } from '../../../shared/wallet.ts'
import type { Failure } from '../../domain/failure.ts'
import { makeChange } from '../../wall/make-change.ts'
import { readAreaEdit, readEdit, readPainterNaming } from '../../wall/signed-body.ts'
import { painterNaming, repaintOfArea, repaintOfBlock } from '../../wall/signed-changes.ts'
import { signingMessage as messageFor } from '../../wall/signing-message.ts'
import {
  CoordArgument,
  KEEPS,
  Output,
  PixelsArgument,
  SignedAt,
  Untrusted,
  WalletArgument,
  argumentsIn,
} from '../arguments.ts'
import { UNTRUSTED_DEED, refuse, succeed, type Reply } from '../reply.ts'
import { errors, READ_ONLY, type Tool, WRITES, tool } from '../tool.ts'

// Errors of every repaint, beside those of the place and the signature.
const REPAINTING = [
  'invalid_pixels',
  'invalid_message',
  'invalid_link',
  'no_owner',
  'purchase_pending',
  'server_busy',
  'too_many_requests',
  'database_unavailable',
] as const

export const setPixels: Tool = {
  name: 'set_pixels',
  title: 'Repaint or edit a block you own',
  description: `Use to change the picture, message or link of a block your wallet bought or may repaint as its painter. Get the exact text to sign from signing_message, sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not for blocks you do not own yet (buy_block) or your name (PUT /api/agents/me). A wallet that can pay but not sign texts signs in with POST /blocks/{coord} instead (x402 sign-in-with-x). Free. Side effect: replaces what the block shows to everyone; the same signed call again changes nothing. Errors: ${errors('unauthorized')} (expected holds the text that should have been signed), ${errors('stale_signature', 'empty_update', 'invalid_body', 'invalid_coordinate', ...REPAINTING)}. Returns {updated, deed, untrusted}.`,
  annotations: WRITES,
  input: Closed({
    coord: CoordArgument,
    ts: SignedAt,
    signature: { ...SignatureText, description: 'EIP-191 personal_sign signature of the text, in hex with 0x.' },
    pixels: Type.Optional({
      ...PixelsArgument,
      description: 'New picture, 200 hex characters like px of buy_block. Omit to keep.',
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
  async answer({ changing }, given, { address }) {
    const { coord, ...body } = argumentsIn(given)
    const edit = readEdit(body)
    if ('code' in edit) return refuse(edit)
    const change = await repaintOfBlock(changing, typeof coord === 'string' ? coord : '', edit)
    return replyOf(await makeChange(changing, change, edit, address), { untrusted: UNTRUSTED_DEED })
  },
}

export const setArea: Tool = {
  name: 'set_area',
  title: 'Repaint an area you own with one signature',
  description: `Use to repaint a rectangle of up to 400 blocks that one wallet owns, all or none, with one signature of that wallet or of the painter of every block. It signs these lines with EIP-191 personal_sign, joined by line feeds: the wall’s host name, \`set_area v1\`, \`area=<area>\`, \`ts=<ts>\`, then for pixels, message and link \`<field>_present=1\` or \`0\` and \`<field>=<value or empty>\`, pixels as the lower-case hex SHA-256 of the bytes. Not for one block (set_pixels). A wallet that can pay but not sign texts signs in with POST /areas/{area} instead (x402 sign-in-with-x). Free. Side effect: replaces what the blocks show to everyone; the same signed call again changes nothing. Errors: ${errors('unauthorized')} (expected holds the text that should have been signed), ${errors('stale_signature', 'empty_update', 'invalid_body', 'invalid_area', ...REPAINTING)}. Returns {updated, area, blocks}, blocks as a count.`,
  annotations: WRITES,
  input: Closed({
    area: AreaText,
    ts: SignedAt,
    signature: { ...SignatureText, description: 'EIP-191 personal_sign signature of the text, in hex with 0x.' },
    pixels: Type.Optional({
      ...AreaPixels,
      description:
        'New picture in base64: a palette index for each pixel, row by row over the area. Omit to keep. Example: AAAA for black pixels.',
    }),
    message: Type.Optional({ ...Nullable(MessageText), description: `New text of every block. ${KEEPS}` }),
    link: Type.Optional({ ...Nullable(Link), description: `New https link of every block. ${KEEPS}` }),
  }),
  output: Output(EditAreaAnswer.properties),
  async answer({ changing }, given, { address }) {
    const { area: name, ...body } = argumentsIn(given)
    const edit = readAreaEdit(body)
    if ('code' in edit) return refuse(edit)
    const change = await repaintOfArea(changing, typeof name === 'string' ? name : '', edit)
    return replyOf(await makeChange(changing, change, edit, address))
  },
}

export const setPainter: Tool = {
  name: 'set_painter',
  title: 'Name the key that may repaint for your wallet',
  description: `Use to let another key sign repaints of all your blocks (set_pixels, set_area), and nothing else, so that the key of the paying wallet can stay offline. Get the exact text from signing_message (kind set_painter), sign it with that wallet (EIP-191 personal_sign) and send the same ts and values here. Not to name a painter for the blocks of one purchase (painter of buy_block). Free. Side effect: replaces every painter named before, including those named in purchases. Errors: ${errors('unauthorized')} (expected holds the text that should have been signed), ${errors('stale_signature', 'invalid_body', 'invalid_wallet', 'invalid_painter', 'no_purchases', 'server_busy', 'too_many_requests', 'database_unavailable')}. Returns {updated}; my_wall shows the current painter.`,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Closed({
    wallet: WalletArgument,
    ts: SignedAt,
    signature: {
      ...SignatureText,
      description: 'EIP-191 personal_sign signature of the text by the wallet, in hex with 0x.',
    },
    painter: { ...Nullable(PainterText), description: 'The address that may repaint; null removes the painter.' },
  }),
  output: Output(PainterAnswer.properties),
  async answer({ changing }, given, { address }) {
    const body = readPainterNaming(argumentsIn(given))
    if ('code' in body) return refuse(body)
    const change = await painterNaming(changing, body.wallet, body.painter)
    return replyOf(await makeChange(changing, change, body, address))
  },
}

/** The answer to a change that was made, or its refusal. */
const replyOf = (result: object | Failure, more: object = {}): Reply =>
  'code' in result ? refuse(result) : succeed({ ...result, ...more })

const text = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema, description: string) =>
  Type.Optional({ ...Nullable(schema), description })

export const signingMessage = tool(
  {
    name: 'signing_message',
    title: 'Get the exact text to sign',
    description: `Use before set_pixels, set_area and set_painter, or before naming your wallet with PUT /api/agents/me: returns the exact text that your wallet signs with EIP-191 personal_sign, and a test vector to check your signer. Not to make the change: send the body it returns, with your signature. Not to bind a payment to its order: POST /api/sign. Free, no side effects, no keys. Errors: ${errors('invalid_body', 'invalid_coordinate', 'invalid_area', 'invalid_pixels', 'invalid_message', 'invalid_link', 'invalid_wallet', 'invalid_name', 'invalid_framework', 'invalid_painter', 'invalid_option', 'empty_update', 'stale_signature', 'no_owner', 'purchase_pending', 'unauthorized')} (an area of several wallets), ${errors('no_purchases', 'too_many_requests', 'database_unavailable')}. Returns {message, digest, ts, validUntil, request, testVector}; for set_pixels, set_area and set_painter pass the fields of request.body on unchanged.`,
    annotations: READ_ONLY,
    budget: 'searches',
    input: Closed({
      kind: SignQuery.properties.kind,
      coord: Type.Optional({ ...CoordArgument, description: `set_pixels: ${CoordArgument.description}` }),
      area: Type.Optional({ ...AreaText, description: 'set_area: the area, `col,row,WxH`.' }),
      pixels: Type.Optional(
        Type.String({
          description:
            'set_pixels: new picture, 200 hex characters. set_area: its bytes in base64; or their SHA-256 in hex, and then you add the bytes to the call yourself.',
          examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
        }),
      ),
      message: text(MessageText, 'set_pixels, set_area: new text, 1 to 140 characters; null clears.'),
      link: text(Link, 'set_pixels, set_area: new https link, at most 200 characters; null clears.'),
      wallet: Type.Optional(
        Type.String({
          pattern: ADDRESS_PATTERN,
          description: 'register, set_painter: your address, 0x followed by 40 hex digits.',
        }),
      ),
      name: text(NameText, 'register: new name, 1 to 40 characters; null clears.'),
      framework: text(FrameworkText, 'register: new framework, 1 to 32 characters; null clears.'),
      painter: text(PainterText, 'set_painter: the address that may repaint; null removes the painter.'),
      ts: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Unix time in milliseconds; defaults to now.',
          examples: [1_760_000_000_000],
        }),
      ),
    }),
    output: Output(Signing.properties),
  },
  async (deps, { message, link, name, framework, painter, ...rest }) => {
    const texts = Object.entries({ message, link, name, framework, painter })
    const clear = texts.flatMap(([field, value]) => (value === null ? [field] : []))
    const given = Object.fromEntries(texts.filter(([, value]) => typeof value === 'string'))
    const signing = await messageFor(deps, {
      ...rest,
      ...given,
      ...(clear.length === 0 ? {} : { clear: clear.join(',') }),
    })
    return replyOf(signing)
  },
)
