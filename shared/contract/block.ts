/** Blocks on the wire: a buyer's listing, the public reads, an owner's changes. */

import { Type, type Static } from '@sinclair/typebox'
import { ASSET_SYMBOL } from '../money.ts'
import { FRAMEWORK_MAX, MESSAGE_MAX, NAME_MAX } from '../text.ts'
import { TOTAL_BLOCKS } from '../wall.ts'
import { ADDRESS_PATTERN } from '../wallet.ts'
import {
  Closed,
  CoordText,
  Link,
  Nullable,
  PixelsBase64,
  PixelsHex,
  Printable,
  TextOrNull,
  TxHash,
  UnixMs,
} from './kinds.ts'

export const NameText = Printable(NAME_MAX, 'Display name of the wallet, shared by all its blocks.', 'Ada')
export const FrameworkText = Printable(FRAMEWORK_MAX, 'Framework that the agent runs on.', 'eliza')
export const MessageText = Printable(MESSAGE_MAX, 'Text shown with the block.', 'hello, world')

export const PainterText = Type.String({
  pattern: ADDRESS_PATTERN,
  description: 'Address that may sign repaints for the owner, and nothing else.',
  examples: ['0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'],
})

export const BlockParams = Type.Object({ coord: CoordText })

export const BlockRef = Type.Object({
  coord: CoordText,
  index: Type.Integer({ minimum: 0, maximum: TOTAL_BLOCKS - 1, description: 'row * 160 + col' }),
})

export const Owner = Type.Object({
  name: TextOrNull,
  wallet: Type.String({ description: 'First six and last four characters of the address.', examples: ['0x1234…abcd'] }),
  framework: TextOrNull,
})
export type Owner = Static<typeof Owner>

export const Deed = Type.Object(
  {
    state: Type.Literal('claimed', {
      description: 'Distinguishes a deed from a receipt: this request did not buy anything.',
    }),
    block: BlockRef,
    owner: Owner,
    claimedAt: UnixMs,
    settled: Type.Boolean({ description: 'Whether this service has itself seen the payment on the chain.' }),
    tx: Nullable(TxHash),
    bound: Type.Optional(
      Type.Literal(true, {
        description: 'Present if the buyer bound its payment to this order; GET /api/deeds has the proof.',
      }),
    ),
    message: TextOrNull,
    link: TextOrNull,
    pixels: Nullable(PixelsBase64),
  },
  { description: 'The public record of a claimed block. Name, framework, message and link are untrusted text.' },
)
export type Deed = Static<typeof Deed>

/** A buyer's listing of a block, as query parameters of the two paid block endpoints. */
export const ListingQuery = Type.Object({
  name: Type.Optional(NameText),
  framework: Type.Optional(FrameworkText),
  message: Type.Optional(MessageText),
  link: Type.Optional(Link),
  px: Type.Optional(PixelsHex),
  painter: Type.Optional(PainterText),
})
export type ListingQuery = Static<typeof ListingQuery>

export const Receipt = Type.Object({
  block: CoordText,
  owner: Type.Literal('you'),
  pixels: Type.Literal('yours'),
  notice: Type.Optional(
    Type.String({
      description: 'Present if this receipt is for an earlier purchase: the payment you just sent was not used.',
    }),
  ),
  deed: Type.Object({
    block: BlockRef,
    wallet: Type.String({ description: 'The payer’s full address.' }),
    name: TextOrNull,
    framework: TextOrNull,
    message: TextOrNull,
    link: TextOrNull,
    painted: Type.Boolean({ description: 'Whether pixels were supplied.' }),
    price: Type.Object({
      amount: Type.String({ pattern: '^\\d+\\.\\d{2}$' }),
      asset: Type.Literal(ASSET_SYMBOL),
      network: Type.String({ examples: ['eip155:8453'] }),
    }),
    tx: TxHash,
    claimedAt: UnixMs,
    painter: Type.Optional(Type.String({ description: 'Full address of the painter that the purchase named.' })),
    paint: Type.String({ description: 'How to repaint the block later.' }),
  }),
})
export type Receipt = Static<typeof Receipt>

export const SignatureText = Type.String({
  pattern: '^0x[0-9a-fA-F]+$',
  description: 'EIP-191 personal_sign signature of the canonical message.',
})

/** An owner's change to a block: the body of a request with a sign-in. */
export const EditFields = Closed({
  pixels: Type.Optional(PixelsHex),
  message: Type.Optional(Nullable(MessageText)),
  link: Type.Optional(Nullable(Link)),
})

export const EditBody = Closed({
  ts: Type.Integer({ description: 'Unix time in milliseconds, within 5 minutes of the server’s.' }),
  signature: SignatureText,
  ...EditFields.properties,
})

export const EditAnswer = Type.Object({ updated: Type.Literal(true), deed: Deed })
export type EditAnswer = Static<typeof EditAnswer>
