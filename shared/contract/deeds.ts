/**
 * Deeds: every sale with everything needed to find its payment on the chain, and the money that arrived without a sale.
 */

import { Type, type Static } from '@sinclair/typebox'
import { SALT_PATTERN } from '../order.ts'
import { FEED_LIMIT_MAX } from './feed.ts'
import { CoordText, Count, Nullable, TxHash, UnixMs } from './kinds.ts'

const DEEDS_LIMIT_DEFAULT = 100

export const DeedsQuery = Type.Object({
  after: Count({ default: 0, description: 'Only deeds with a greater number are returned.' }),
  owedAfter: Count({ default: 0, description: 'How many entries of `owed` to skip.' }),
  limit: Type.Integer({ minimum: 1, maximum: FEED_LIMIT_MAX, default: DEEDS_LIMIT_DEFAULT }),
})
export type DeedsQuery = Static<typeof DeedsQuery>

const Hash = (description: string) => Type.String({ pattern: '^0x[0-9a-f]{64}$', description })

const Amount = Type.String({ pattern: '^[1-9]\\d*$', description: 'Atomic units of the asset.', examples: ['1000000'] })

const AddressText = (description: string) => Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description })

const Shortened = Type.String({
  description: 'First six and last four characters of the payer’s address.',
  examples: ['0x1234…abcd'],
})

const Said = (description: string) => Type.Optional(Nullable(Type.String(), { description }))

/**
 * An order as its buyer signed it. A field is absent if the buyer did not send it, and null while the operator hides
 * it.
 */
const OrderAsSigned = Type.Object(
  {
    host: Type.String({ description: 'Host name of the service when the order was made, without a port.' }),
    block: Type.Optional(Type.String({ description: 'The requested block, `col,row` or `next`.' })),
    area: Type.Optional(Type.String({ description: 'The requested area, `col,row,WxH` or `next,WxH`.' })),
    name: Said('Display name.'),
    framework: Said('Framework that the agent runs on.'),
    message: Said('Text shown with the block.'),
    link: Said('Link of the block.'),
    px: Said('The picture of a block: 200 lower-case hex digits.'),
    pixels: Said('The picture of an area: `sha256:` and the SHA-256 of its palette indices, row by row.'),
    image: Said('The image that was sent: `sha256:` and the SHA-256 of the file, then `,<fit>,<dither>`.'),
    painter: Said('Full address of the painter that the purchase named.'),
  },
  { description: 'The order that the nonce is bound to. Its text is untrusted: the buyer wrote it.' },
)
export type OrderAsSigned = Static<typeof OrderAsSigned>

export const SaleDeed = Type.Object({
  seq: Type.Integer({ minimum: 1, description: 'Number of the deed’s first sale in /api/feed.' }),
  blocks: Type.Union(
    [
      Type.Object({ coord: CoordText }),
      Type.Object({ at: CoordText, w: Type.Integer({ minimum: 1 }), h: Type.Integer({ minimum: 1 }) }),
    ],
    { description: 'The sold position: one block, or an area as its top left block and its size in blocks.' },
  ),
  placedElsewhere: Type.Optional(
    Type.Literal(true, {
      description: 'Present if the payment settled late and the buyer got a different position from the requested one.',
    }),
  ),
  wallet: Shortened,
  tx: TxHash,
  nonce: Hash('Nonce of the authorization (EIP-3009).'),
  amount: Amount,
  payTo: AddressText('The address that was paid.'),
  claimedAt: UnixMs,
  settled: Type.Boolean({ description: 'Whether this service has itself seen the payment on the chain.' }),
  salt: Type.Optional(
    Type.String({
      pattern: SALT_PATTERN,
      description:
        'Present if the nonce is bound to the order: the nonce is 0x50584f31, then the first 28 bytes of keccak256 of the order’s text followed by the salt.',
    }),
  ),
  order: Type.Optional(OrderAsSigned),
  hidden: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Members of `order` that the operator hides. Without them, nobody can recompute the nonce.',
    }),
  ),
})
export type SaleDeed = Static<typeof SaleDeed>

export const OwedMoney = Type.Object({
  wallet: Shortened,
  nonce: Hash('Nonce of the authorization.'),
  tx: Nullable(TxHash, {
    description: 'The transaction that moved the money; null if the wall recorded the money without it.',
  }),
  amount: Nullable(Amount, {
    description: 'Amount owed, in atomic units; null for money that was recorded as owed to nobody.',
  }),
  paidOut: Nullable(TxHash, {
    description:
      'The transaction that paid the money back; null if there is none, or if the operator settled the debt in another way.',
  }),
})
export type OwedMoney = Static<typeof OwedMoney>

export const DeedsPage = Type.Object({
  nextAfter: Type.Integer({ minimum: 0 }),
  hasMore: Type.Boolean(),
  payTo: Type.Array(AddressText('An address at which this wall is or was paid.'), {
    description: 'Every address that was ever the payee in this wall’s payment terms.',
  }),
  asset: AddressText('The token’s contract.'),
  network: Type.String({ examples: ['eip155:8453'] }),
  deeds: Type.Array(SaleDeed, { description: 'One deed for each payment that bought something, oldest first.' }),
  owed: Type.Array(OwedMoney, {
    description:
      'Money that arrived but bought nothing: at most `limit` entries, starting after the first `owedAfter` entries.',
  }),
  hasMoreOwed: Type.Boolean(),
})
export type DeedsPage = Static<typeof DeedsPage>
