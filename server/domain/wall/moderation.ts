/** What the operator withholds from readers: parts of what a block shows, for as long as they are hidden. */

import type { Address, UnixMs } from '../purchase/payment.ts'
import type { BlockContent, Hidden, HiddenNames, Profile } from './log.ts'

export type { HiddenNames }

/** The parts of a block that can be hidden, each on its own. */
export const CONTENT_PARTS = ['pixels', 'message', 'link'] as const
export type ContentPart = (typeof CONTENT_PARTS)[number]

/** What the operator does with parts of a block. */
export type ModerationAct = 'hide' | 'unhide'

/** How a moderation ends: with what is hidden from then on, or the same when it was so before. */
export type ModerationResult =
  | { readonly kind: 'applied' | 'unchanged'; readonly hidden: Hidden }
  | { readonly kind: 'not-owned' }

/** What readers see of what a block shows. */
export const visible = (content: BlockContent, hidden: Hidden): BlockContent => ({
  pixels: hidden.pixels ? null : content.pixels,
  message: hidden.message ? null : content.message,
  link: hidden.link ? null : content.link,
})

/** What is hidden once an act is done; parts that it does not name stay as they are. */
export function moderated(before: Hidden, act: ModerationAct, parts: readonly ContentPart[]): Hidden {
  const after = (part: ContentPart) => (parts.includes(part) ? act === 'hide' : before[part])
  return { pixels: after('pixels'), message: after('message'), link: after('link') }
}

/** Whether two say the same. */
export const sameHidden = (one: Hidden, other: Hidden): boolean =>
  CONTENT_PARTS.every((part) => one[part] === other[part])

/** The parts of what a wallet is called that can be hidden, each on its own. */
export const NAME_PARTS = ['name', 'framework'] as const
export type NamePart = (typeof NAME_PARTS)[number]

/**
 * What the operator does about a wallet: parts of its names are hidden or shown; a banned one keeps its blocks and may buy,
 * while what it says from then on, names and pictures included, is hidden as it comes, and stays so once the ban has ended.
 */
export type WalletAct =
  | { readonly act: ModerationAct; readonly parts: readonly NamePart[] }
  | { readonly act: 'ban' | 'unban' }

/** What is withheld of a wallet. */
export type WalletModeration = { readonly hidden: HiddenNames; readonly isBanned: boolean }

/** How an act on a wallet ends: with what is so from then on, or the same when it was so before. */
export type WalletActResult =
  | ({ readonly kind: 'applied' | 'unchanged' } & WalletModeration)
  | { readonly kind: 'unknown-wallet' }

/** What readers see of a profile. */
export const visibleNames = (profile: Profile, hidden: HiddenNames): Profile => ({
  name: hidden.name ? null : profile.name,
  framework: hidden.framework ? null : profile.framework,
})

/** Which parts of something are said, be it of a block or of a wallet. */
export const saidParts = <Part extends string>(
  parts: readonly Part[],
  said: Readonly<Partial<Record<Part, unknown>>>,
): readonly Part[] => parts.filter((part) => said[part] !== undefined && said[part] !== null)

/** An act of the operator's, on record. */
export type RecordedAct = {
  readonly at: UnixMs
  readonly who: string // the user of the machine whose command it was
  readonly act: 'hide' | 'unhide' | 'ban' | 'unban'
  readonly what: string // a block, an area or a wallet, as the operator is told of it
  readonly parts: string // separated by commas; empty for a ban
  readonly why: string | null
}

/** A wallet of which something is withheld now. */
export type ModeratedWallet = WalletModeration & { readonly wallet: Address }

/** The moderation of a wallet; `everHidden` are the parts that were ever hidden. */
export type WalletState = WalletModeration & { readonly everHidden: HiddenNames }

const NO_NAMES: HiddenNames = { name: false, framework: false }

/** Of a wallet of which nothing was ever hidden. */
export const UNMODERATED: WalletState = { hidden: NO_NAMES, everHidden: NO_NAMES, isBanned: false }

/** The moderation of a wallet once an act is done. */
export function afterWalletAct(before: WalletState, act: WalletAct): WalletState {
  if (!('parts' in act)) return { ...before, isBanned: act.act === 'ban' }
  const { parts } = act
  const isHidden = act.act === 'hide'
  const named = (part: NamePart) => parts.includes(part)
  const after = (part: NamePart) => (named(part) ? isHidden : before.hidden[part])
  const ever = (part: NamePart) => before.everHidden[part] || (named(part) && isHidden)
  return {
    ...before,
    hidden: { name: after('name'), framework: after('framework') },
    everHidden: { name: ever('name'), framework: ever('framework') },
  }
}

export const sameNames = (one: HiddenNames, other: HiddenNames): boolean =>
  NAME_PARTS.every((part) => one[part] === other[part])
