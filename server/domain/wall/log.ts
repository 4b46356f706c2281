/**
 * The wall is an append-only log. Each sale, repaint, identity change and action of the operator is one entry, written
 * in the same database transaction as the change itself and numbered in commit order. Everything that a reader sees is
 * a view of the log.
 */

import type { Pixels } from '../../../shared/pixels.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Address, Hash, UnixMs } from '../purchase/payment.ts'

/**
 * The number of a log entry, from 1. Numbers have no gaps when they are written; superseded repaints and names may be
 * compacted away later.
 */
export type LogNumber = number

/**
 * The log has all entries younger than this. Of older repaints and names, it may have only the last one per hour and
 * block or wallet.
 */
export const COMPACTED_AFTER_MS = 2 * 3_600_000

/** The content of a block. */
export type BlockContent = {
  readonly pixels: Pixels | null
  readonly message: string | null
  readonly link: string | null
}

/** Which parts of a block the operator hides from readers. */
export type Hidden = Readonly<Record<keyof BlockContent, boolean>>

/** The names of a wallet. */
export type Profile = { readonly name: string | null; readonly framework: string | null }

/** An agent's number in the order of first purchases, from 1 and without gaps. */
export type AgentId = number

/** One log entry: the state of a block or a wallet from that entry on. */
export type Change = { readonly number: LogNumber; readonly at: UnixMs } & (
  | SaleChange
  | RepaintChange
  | ModerationChange
  | IdentityChange
)

/** A block was sold, as item `seq` of the feed. The entry has the buyer's identity from this sale on. */
export type SaleChange = {
  readonly kind: 'sale'
  readonly seq: number
  readonly block: BlockIndex
  readonly content: BlockContent
  readonly agent: AgentId
  readonly wallet: Address
  readonly profile: Profile
}

/** The owner or painter of a block changed its content. The content is what readers see: hidden parts stay hidden. */
export type RepaintChange = { readonly kind: 'repaint'; readonly block: BlockIndex; readonly content: BlockContent }

/**
 * The operator hid parts of a block, or showed them again. `hidden` marks all parts hidden from this entry on; older
 * entries are permanently shown without them. The content is what readers see.
 */
export type ModerationChange = {
  readonly kind: 'hide' | 'unhide'
  readonly block: BlockIndex
  readonly hidden: Hidden
  readonly content: BlockContent
}

/**
 * A wallet changed its identity, or the operator hid or showed parts of the identity. The profile is what readers see.
 */
export type IdentityChange = {
  readonly kind: 'identity'
  readonly agent: AgentId
  readonly profile: Profile
  readonly withheld?: HiddenNames // names that the operator hides permanently in earlier entries
}

/** Which names of a wallet the operator hides from readers. */
export type HiddenNames = Readonly<Record<keyof Profile, boolean>>

/**
 * The owner of an area: one wallet; nobody, because a block has no owner (`block` is the first such block); or
 * `several` wallets. `painter` may paint every block of the area, like the owner.
 */
export type AreaOwner =
  | { readonly kind: 'owned'; readonly wallet: Address; readonly painter: Address | null }
  | { readonly kind: 'open' | 'held'; readonly block: BlockIndex }
  | { readonly kind: 'several' }

/** A claimed block with its owner and its visible content. */
export type OwnedBlock = {
  readonly block: BlockIndex
  readonly wallet: Address
  readonly profile: Profile
  readonly content: BlockContent
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean
  readonly isBound: boolean // whether its payment is bound to the order that was bought
  readonly painter: Address | null // the wallet that may also sign changes to the block; shown only to the owner
}
