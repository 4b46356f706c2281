/** The tools for owners: repaint a block or an area, name a painter, and get the text to sign. */

import { Type } from '@sinclair/typebox'
import { PainterAnswer, RegisterAnswer } from '../../../shared/contract/agent.ts'
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
import { OrderSigning, SignQuery, Signing } from '../../../shared/contract/sign.ts'
import { ADDRESS_PATTERN } from '../../../shared/wallet.ts'
import { isFailure, type Failure } from '../../domain/failure.ts'
import { createOrderSigning, readOrderToSign } from '../../purchase/order-to-sign.ts'
import { readAreaEdit, readEdit, readPainterNaming, readRegistration } from '../../wall/signed-body.ts'
import {
  type ChangeDeps,
  makeChange,
  createPainterNaming,
  createRegistration,
  createAreaRepaint,
  createBlockRepaint,
  type SignedChange,
} from '../../wall/signed-changes.ts'
import { createSigningMessage as messageFor } from '../../wall/signing-message.ts'
import { AREA_TOOL, BUYING_TOOL } from '../../x402/bazaar.ts'
import {
  CoordArgument,
  KEEPS,
  PixelsArgument,
  SignedAt,
  Untrusted,
  WalletArgument,
  readArguments,
} from '../arguments.ts'
import { UNTRUSTED_DEED, UNTRUSTED_IDENTITY, refuse, createSuccess, type Reply } from '../reply.ts'
import { READ_ONLY, type Tool, WRITES, defineTool } from '../tool.ts'

const SIGNATURE = { ...SignatureText, description: 'EIP-191 signature of the text, 0x and hex.' }

export const setPixels: Tool = {
  name: 'set_pixels',
  title: 'Repaint or edit a block you own',
  description:
    'Use to change the picture, message or link of a block that your wallet bought or is painter of. Get the call from signing_message, sign its text, add the signature. To get a block, use buy_block. A wallet that cannot sign text signs in at POST /blocks/{coord} instead (x402 sign-in-with-x). Free. Side effect: replaces what the block shows to everyone; repeating the call changes nothing. Returns the deed. If unauthorized, expected has the text to sign.',
  annotations: WRITES,
  input: Closed({
    coord: CoordArgument,
    ts: SignedAt,
    signature: SIGNATURE,
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
  output: Type.Object({ ...EditAnswer.properties, untrusted: Untrusted }),
  answer({ changing }, given, { address }) {
    const { coord, ...body } = readArguments(given)
    const block = typeof coord === 'string' ? coord : ''
    const more = { untrusted: UNTRUSTED_DEED }
    return createChangeReply(
      changing,
      address,
      readEdit(body),
      (edit) => createBlockRepaint(changing, block, edit),
      more,
    )
  },
}

export const setArea: Tool = {
  name: 'set_area',
  title: 'Repaint an area you own with one signature',
  description:
    'Use to repaint a rectangle of up to 400 blocks that one wallet owns, all or none, with one signature of that wallet or of the painter of every block. Get the call from signing_message, sign its text, add the signature. For one block, use set_pixels. A wallet that cannot sign text signs in at POST /areas/{area} instead. Free. Side effect: replaces what the blocks show to everyone; repeating the call changes nothing. Returns how many blocks changed. If unauthorized, expected has the text to sign.',
  annotations: WRITES,
  input: Closed({
    area: AreaText,
    ts: SignedAt,
    signature: SIGNATURE,
    pixels: Type.Optional({
      ...AreaPixels,
      description:
        'New picture in base64: a palette index for each pixel, row by row over the area. Omit to keep. Example: AAAA for black pixels.',
    }),
    message: Type.Optional({ ...Nullable(MessageText), description: `New text on every block. ${KEEPS}` }),
    link: Type.Optional({ ...Nullable(Link), description: `New https link on every block. ${KEEPS}` }),
  }),
  output: Type.Object(EditAreaAnswer.properties),
  answer({ changing }, given, { address }) {
    const { area, ...body } = readArguments(given)
    const name = typeof area === 'string' ? area : ''
    return createChangeReply(changing, address, readAreaEdit(body), (edit) => createAreaRepaint(changing, name, edit))
  },
}

export const setPainter: Tool = {
  name: 'set_painter',
  title: 'Name the key that may repaint for your wallet',
  description:
    'Use to let another key sign repaints of all your blocks, and nothing else, so that the key of the paying wallet can stay offline. Get the call from signing_message, sign its text with that wallet, add the signature. For one purchase only, use painter of buy_block. Free. Side effect: replaces every painter named before. Returns {updated}; my_wall shows the painter.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: Closed({
    wallet: WalletArgument,
    ts: SignedAt,
    signature: SIGNATURE,
    painter: { ...Nullable(PainterText), description: 'The address that may repaint; null removes the painter.' },
  }),
  output: Type.Object(PainterAnswer.properties),
  answer({ changing }, given, { address }) {
    const body = readPainterNaming(readArguments(given))
    return createChangeReply(changing, address, body, ({ wallet, painter }) =>
      createPainterNaming(changing, wallet, painter),
    )
  },
}

export const setIdentity: Tool = {
  name: 'set_identity',
  title: 'Name your wallet',
  description:
    'Use to set the name and framework that all blocks of your wallet and the registry show, once it has bought a block. Get the call from signing_message (kind register), sign its text with that wallet, add the signature. For one block’s message, use set_pixels. Free. Side effect: replaces what you give wherever it is shown. Returns your registry entry.',
  annotations: WRITES,
  input: Closed({
    wallet: WalletArgument,
    ts: SignedAt,
    signature: SIGNATURE,
    name: Type.Optional({ ...Nullable(NameText), description: `New name, 1 to 40 characters. ${KEEPS}` }),
    framework: Type.Optional({
      ...Nullable(FrameworkText),
      description: `Framework that the agent runs on, 1 to 32 characters. ${KEEPS}`,
    }),
  }),
  output: Type.Object({ ...RegisterAnswer.properties, untrusted: Untrusted }),
  answer({ changing }, given, { address }) {
    const body = readRegistration(readArguments(given))
    const more = { untrusted: UNTRUSTED_IDENTITY }
    return createChangeReply(
      changing,
      address,
      body,
      (names) => createRegistration(changing, names.wallet, names),
      more,
    )
  },
}

const ToolCall = Type.Object({ name: Type.String(), arguments: Type.Object({}) })

/** Makes the change that a body describes, for a client at an address; refuses a body that cannot be read. */
async function createChangeReply<Body extends { readonly ts: number; readonly signature: string }>(
  changing: ChangeDeps,
  address: string,
  body: Body | Failure,
  describe: (body: Body) => Promise<SignedChange<object> | Failure>,
  more?: object,
): Promise<Reply> {
  if (isFailure(body)) return refuse(body)
  return toReply(await makeChange(changing, await describe(body), body, address), more)
}

/** The result of a change, or its refusal. */
const toReply = (result: object | Failure, more: object = {}): Reply =>
  isFailure(result) ? refuse(result) : createSuccess({ ...result, ...more })

const createTextSchema = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema, description: string) =>
  Type.Optional({ ...Nullable(schema), description })

const { kind: changeKind } = SignQuery.properties

/** The text to sign for a change or an order. */
const Signed = Type.Object({
  ...Type.Omit(Type.Partial(Signing), ['testVector']).properties,
  ...Type.Omit(Type.Partial(OrderSigning), ['testVector']).properties,
  message: Signing.properties.message,
  testVector: Type.Object({}),
  call: ToolCall,
})

export const signingMessage = defineTool(
  {
    name: 'signing_message',
    title: 'Get the exact text to sign',
    description:
      'Use before set_pixels, set_area, set_painter and set_identity: returns message, the exact text that your wallet signs (EIP-191 personal_sign), and call, the tool call to make with the signature added to its arguments. Before a purchase (kind order), it returns the nonce to sign in the payment and the extensions of its payload, so that nobody can alter the order. It makes neither the change nor the purchase. Free, no side effects, no keys. Also returns testVector, to check your signer.',
    annotations: READ_ONLY,
    budget: 'searches',
    input: Closed({
      kind: Type.Union([...changeKind.anyOf, Type.Literal('order')], {
        description: `${changeKind.description} order: bind a payment to what it buys.`,
      }),
      order: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: true,
            description:
              'order: the arguments of buy_block or buy_area, and a salt if you have one. Example: {"coord":"80,45"}.',
          },
        ),
      ),
      coord: Type.Optional({ ...CoordArgument, description: `set_pixels: ${CoordArgument.description}` }),
      area: Type.Optional({ ...AreaText, description: 'set_area: the area, `col,row,WxH`.' }),
      pixels: Type.Optional(
        Type.String({
          description:
            'set_pixels: new picture, 200 hex characters. set_area: its bytes in base64, or their SHA-256 in hex; then add the bytes to the call yourself.',
          examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
        }),
      ),
      message: createTextSchema(MessageText, 'set_pixels, set_area: new text, 1 to 140 characters; null clears.'),
      link: createTextSchema(Link, 'set_pixels, set_area: new https link, at most 200 characters; null clears.'),
      wallet: Type.Optional(
        Type.String({
          pattern: ADDRESS_PATTERN,
          description: 'register, set_painter: your address, 0x followed by 40 hex digits.',
        }),
      ),
      name: createTextSchema(NameText, 'register: new name, 1 to 40 characters; null clears.'),
      framework: createTextSchema(FrameworkText, 'register: new framework, 1 to 32 characters; null clears.'),
      painter: createTextSchema(PainterText, 'set_painter: the address that may repaint; null removes the painter.'),
      ts: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: 'Unix time in milliseconds; defaults to now.',
          examples: [1_760_000_000_000],
        }),
      ),
    }),
    output: Signed,
  },
  async (deps, { kind, order, message, link, name, framework, painter, ...rest }) => {
    if (kind === 'order') return toReply(createOrderToSign(order, new URL(deps.baseUrl).hostname))
    const texts = Object.entries({ message, link, name, framework, painter })
    const clear = texts.flatMap(([field, value]) => (value === null ? [field] : []))
    const given = Object.fromEntries(texts.filter(([, value]) => typeof value === 'string'))
    const signing = await messageFor(deps, {
      kind,
      ...rest,
      ...given,
      ...(clear.length === 0 ? {} : { clear: clear.join(',') }),
    })
    if (isFailure(signing)) return refuse(signing)
    const place = kind === 'set_pixels' ? { coord: rest.coord } : kind === 'set_area' ? { area: rest.area } : {}
    const tool = kind === 'register' ? 'set_identity' : kind
    return createSuccess({ ...signing, call: { name: tool, arguments: { ...place, ...signing.request.body } } })
  },
)

/** Returns the fields that bind a payment to a purchase, and the call that makes the purchase. */
function createOrderToSign(order: object | undefined, host: string): object | Failure {
  const read = readOrderToSign(order)
  if (isFailure(read)) return read
  const signing = createOrderSigning(read, host)
  const { salt: _, ...said } = readArguments(order)
  const call = { name: read.order.isArea ? AREA_TOOL : BUYING_TOOL, arguments: said }
  return isFailure(signing) ? signing : { ...signing, call }
}
