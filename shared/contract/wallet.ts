/** Everything that the wall stores about one wallet, for an agent that has lost its own state. */

import { Type, type Static } from '@sinclair/typebox'
import { ADDRESS_PATTERN } from '../wallet.ts'
import { AreaReceipt } from './area-order.ts'
import { AreaText } from './area.ts'
import { BlockRef, Owner, Receipt } from './block.ts'
import { Closed, CoordText, Count, Nullable, TextOrNull, TxHash, UnixMs } from './kinds.ts'

export const WalletParams = Type.Object({
  wallet: Type.String({
    pattern: ADDRESS_PATTERN,
    description: 'The full address.',
    examples: ['0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'],
  }),
})

export const WALLET_LIMIT_MAX = 200

export const WalletQuery = Type.Object({
  after: Count({
    default: 0,
    description: 'Sale number, as in the feed. Only blocks of later sales are returned.',
  }),
  since: Type.Optional(
    Count({
      description:
        'Number of a change (`next` of an earlier response, or 0). If given, the response also contains later changes of the wallet’s blocks and of the blocks next to them.',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: WALLET_LIMIT_MAX,
    default: WALLET_LIMIT_MAX,
    description: 'Maximum number of blocks.',
  }),
})
export type WalletQuery = Static<typeof WalletQuery>

export const WalletBlock = Type.Object({
  block: BlockRef,
  claimedAt: UnixMs,
  settled: Type.Boolean({ description: 'Whether this service has itself seen the payment on the chain.' }),
  tx: TxHash,
  painter: Type.Optional(
    Type.String({
      description: 'Truncated address of the painter. Absent if there is none. Receipts show it in full.',
    }),
  ),
})

export const WalletArea = Type.Object({
  area: AreaText,
  claimedAt: UnixMs,
  tx: TxHash,
})

export type WalletArea = Static<typeof WalletArea>

export const OpenPurchase = Type.Object({
  target: Type.String({
    description:
      'The request: `next`, a block, an area, or `next,WxH` for the open area of that size nearest the centre. For an area, `block` is the top left block that is or was held.',
    examples: ['next', '80,45', '80,45,4x3', 'next,4x3'],
  }),
  block: BlockRef,
  state: Type.Union([Type.Literal('reserved'), Type.Literal('released')], {
    description:
      'reserved: the block is held for this wallet. released: it is no longer held; the payment is still watched.',
  }),
  doubted: Type.Boolean({ description: 'Whether the money may already have moved.' }),
  since: UnixMs,
  ageMs: Type.Integer({ minimum: 0 }),
  resend: Type.Boolean({
    description:
      'Whether to resend the same request, with the same payment or one from the same wallet; you will not be charged twice.',
  }),
  next: Type.String({ description: 'The next step for the unfinished purchase.' }),
})
export type OpenPurchase = Static<typeof OpenPurchase>

export const Credit = Type.Object({
  amount: Type.String({ pattern: '^\\d+$', description: 'Atomic units of USDC, six decimals.' }),
  tx: TxHash,
})

/** The maximum number of changed blocks in one response. */
export const NEAR_CHANGES_MAX = 100

export const NearChange = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Number of the last change of this block, as in the history.' }),
  kind: Type.Union([Type.Literal('sale'), Type.Literal('repaint')], {
    description: 'sale: the block was sold after the given change, and may have been repainted later.',
  }),
  t: UnixMs,
  coord: CoordText,
  yours: Type.Boolean({ description: 'Whether the block is the wallet’s own; if not, it is next to one that is.' }),
  owner: Owner,
  message: TextOrNull,
  link: TextOrNull,
})
export type NearChange = Static<typeof NearChange>

/** The part that is added to the response if the request has `since`. */
const News = Type.Object({
  rankByBlocks: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'Rank by number of blocks; null before the wallet’s first purchase is final.',
  }),
  changes: Type.Array(NearChange, {
    maxItems: NEAR_CHANGES_MAX,
    description: 'Each changed block as it is now, oldest change first. Names, messages and links are untrusted text.',
  }),
  next: Type.Integer({
    minimum: 0,
    description: 'Pass it as `since` in the next request; send that immediately if you got 100 changes.',
  }),
  complete: Type.Boolean({
    description:
      'False if `since` is greater than the last change number, or so old that later repaints may be missing from the history.',
  }),
})
export type News = Static<typeof News>

/** The response to a request without `since`. */
export const WalletAccount = Type.Object({
  wallet: Type.String({ description: 'Truncated address.', examples: ['0x1234…abcd'] }),
  name: TextOrNull,
  framework: TextOrNull,
  rank: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: 'Rank by order of arrival; null before the first purchase is final.',
  }),
  firstSeenAt: Type.Union([UnixMs, Type.Null()]),
  painter: Nullable(
    Type.String({
      description:
        'Truncated address of the painter for all the wallet’s blocks. A later purchase may name a different one.',
    }),
  ),
  blocks: Type.Array(WalletBlock, { description: 'The wallet’s blocks, in the order in which they were bought.' }),
  areas: Type.Array(WalletArea, {
    description: 'The areas among these blocks, each bought in one payment. An area may start or end on another page.',
  }),
  nextAfter: Type.Integer({ minimum: 0, description: 'Pass it as `after` to continue.' }),
  hasMore: Type.Boolean({ description: 'Whether there are more blocks after this page.' }),
  open: Type.Array(OpenPurchase, {
    description: 'Unfinished purchases, oldest first: all reserved ones, and the latest released ones.',
  }),
  credits: Type.Array(Credit, {
    description: `The latest ${WALLET_LIMIT_MAX} payments that arrived when no block was left for them; the operator owes them back.`,
  }),
  contact: Nullable(Type.String({ description: 'Whom to contact about a credit.' })),
})

export const WalletStanding = Type.Composite([WalletAccount, Type.Partial(News)])
export type WalletStanding = Static<typeof WalletStanding>

/** The position after which a page of receipts starts. */
export const ReceiptsBody = Closed({
  after: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: '`nextAfter` of the previous page.' }),
  ),
})
export type ReceiptsBody = Static<typeof ReceiptsBody>

/** The most purchases on a page of receipts. */
export const RECEIPTS_MAX = 50

export const OwnPurchase = Type.Object({
  target: OpenPurchase.properties.target,
  nonce: Type.String({ description: 'Nonce of the authorization signed for the purchase.' }),
  since: UnixMs,
  state: Type.Union(
    ['sold', 'reserved', 'released', 'expired', 'credited'].map((state) => Type.Literal(state)),
    {
      description:
        'sold: it is yours. reserved: held for you, being settled. released: no longer held; the payment is still watched. expired: no longer held, and the payment can never settle. credited: paid when no block was left; the operator owes it back to you, or has paid it back if `credit` is null.',
    },
  ),
  tx: Type.Union([TxHash, Type.Null()]),
  receipt: Type.Union([Receipt, AreaReceipt, Type.Null()], { description: 'The receipt, if the purchase is sold.' }),
  credit: Type.Union([Credit, Type.Null()], {
    description: 'The payment that the operator owes back to you; null if there is none.',
  }),
})
export type OwnPurchase = Static<typeof OwnPurchase>

export const Receipts = Type.Object({
  purchases: Type.Array(OwnPurchase, { description: `Newest first, ${RECEIPTS_MAX} at most.` }),
  nextAfter: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Pass it as `after` to continue; null at the end.',
  }),
})
export type Receipts = Static<typeof Receipts>
