/**
 * The wall is an append-only log: each sale, repaint, identity change and act of the operator's is one entry, written in
 * the transaction that makes it true and numbered in commit order. Everything a reader sees is a view of it.
 */

import type { Pixels } from '../../../shared/pixels.ts'
import type { BlockIndex } from '../../../shared/wall.ts'
import type { Address, Hash, UnixMs } from '../purchase/payment.ts'

/** Number of a log entry, from 1. Dense as written; superseded repaints and names may be compacted away later. */
export type LogNumber = number

/** Entries younger than this are all in the log. Of older repaints and names the last of each block or wallet and hour may be all that is left. */
export const COMPACTED_AFTER_MS = 2 * 3_600_000

/** What a block shows. */
export type BlockContent = {
  readonly pixels: Pixels | null
  readonly message: string | null
  readonly link: string | null
}

/** Which parts of a block the operator withholds from readers. */
export type Hidden = Readonly<Record<keyof BlockContent, boolean>>

/** Who a wallet says it is. */
export type Profile = { readonly name: string | null; readonly framework: string | null }

/** An agent's number in the order of first purchases, dense, from 1. */
export type AgentId = number

/** One log entry: what is so from it on. */
export type Change = { readonly number: LogNumber; readonly at: UnixMs } & (
  | SaleChange
  | RepaintChange
  | ModerationChange
  | IdentityChange
)

/** A block was sold, as item `seq` of the feed. Carries the buyer's identity as it is from this sale on. */
export type SaleChange = {
  readonly kind: 'sale'
  readonly seq: number
  readonly block: BlockIndex
  readonly content: BlockContent
  readonly agent: AgentId
  readonly wallet: Address
  readonly profile: Profile
}

/** An owner changed what the block shows. The content is what readers see of it: what is hidden stays so. */
export type RepaintChange = { readonly kind: 'repaint'; readonly block: BlockIndex; readonly content: BlockContent }

/**
 * The operator hid parts of a block, or shows them again. `hidden` is all that is withheld from here on; older entries are
 * shown without it, for good. The content is what readers see.
 */
export type ModerationChange = {
  readonly kind: 'hide' | 'unhide'
  readonly block: BlockIndex
  readonly hidden: Hidden
  readonly content: BlockContent
}

/** A wallet changed its identity, or the operator hid or shows parts of it. The profile is what readers see of it. */
export type IdentityChange = {
  readonly kind: 'identity'
  readonly agent: AgentId
  readonly profile: Profile
  readonly withheld?: HiddenNames // by the operator, of what the wallet was called in earlier entries, for good
}

/** Which of a wallet's names the operator withholds from readers. */
export type HiddenNames = Readonly<Record<keyof Profile, boolean>>

/**
 * Whose an area is: of one wallet, or the first of its blocks that has no owner yet, or of `several` wallets. `painter` is
 * who paints every block of it beside the owner.
 */
export type AreaOwner =
  | { readonly kind: 'owned'; readonly wallet: Address; readonly painter: Address | null }
  | { readonly kind: 'open' | 'held'; readonly block: BlockIndex }
  | { readonly kind: 'several' }

/** A claimed block with its owner, and what readers see of it. */
export type OwnedBlock = {
  readonly block: BlockIndex
  readonly wallet: Address
  readonly profile: Profile
  readonly content: BlockContent
  readonly claimedAt: UnixMs
  readonly tx: Hash
  readonly settled: boolean
  readonly isBound: boolean // whether its payment is bound to the order that was bought
  readonly painter: Address | null // whose signature counts beside the owner's; shown to the owner only
}
