/** The content that the operator hides from readers: parts of blocks, and names of wallets. */

import type { Address, UnixMs } from '../purchase/payment.ts'
import type { BlockContent, Hidden, HiddenNames, Profile } from './log.ts'

export type { HiddenNames }

/** The parts of a block that can be hidden separately. */
export const CONTENT_PARTS = ['pixels', 'message', 'link'] as const
export type ContentPart = (typeof CONTENT_PARTS)[number]

/** The operator's actions on parts of a block. */
export type ModerationAct = 'hide' | 'unhide'

/** The result of a moderation. `hidden` marks the parts that are hidden from then on, even if nothing changed. */
export type ModerationResult =
  | { readonly kind: 'applied' | 'unchanged'; readonly hidden: Hidden }
  | { readonly kind: 'not-owned' }

/** The visible part of a block's content. */
export const omitHiddenParts = (content: BlockContent, hidden: Hidden): BlockContent => ({
  pixels: hidden.pixels ? null : content.pixels,
  message: hidden.message ? null : content.message,
  link: hidden.link ? null : content.link,
})

/** The hidden parts after an action; parts that it does not name stay as they are. */
export function applyModeration(before: Hidden, act: ModerationAct, parts: readonly ContentPart[]): Hidden {
  const decidePart = (part: ContentPart) => (parts.includes(part) ? act === 'hide' : before[part])
  return { pixels: decidePart('pixels'), message: decidePart('message'), link: decidePart('link') }
}

/** Whether two sets of hidden parts are equal. */
export const hidesSameParts = (one: Hidden, other: Hidden): boolean =>
  CONTENT_PARTS.every((part) => one[part] === other[part])

/** The names of a wallet that can be hidden separately. */
export const NAME_PARTS = ['name', 'framework'] as const
export type NamePart = (typeof NAME_PARTS)[number]

/**
 * The operator's actions on a wallet. Names are hidden or shown. A banned wallet keeps its blocks and may buy, but its
 * new content, including names and pictures, is hidden on arrival, and stays hidden after the ban.
 */
export type WalletAct =
  | { readonly act: ModerationAct; readonly parts: readonly NamePart[] }
  | { readonly act: 'ban' | 'unban' }

/** The hidden names and the ban of a wallet. */
export type WalletModeration = { readonly hidden: HiddenNames; readonly isBanned: boolean }

/**
 * The result of an action on a wallet: the wallet's state from then on, which is the same as before if nothing changed.
 */
export type WalletActResult =
  | ({ readonly kind: 'applied' | 'unchanged' } & WalletModeration)
  | { readonly kind: 'unknown-wallet' }

/** The visible part of a profile. */
export const omitHiddenNames = (profile: Profile, hidden: HiddenNames): Profile => ({
  name: hidden.name ? null : profile.name,
  framework: hidden.framework ? null : profile.framework,
})

/** The parts for which `said` has a value other than null. */
export const pickGivenParts = <Part extends string>(
  parts: readonly Part[],
  said: Readonly<Partial<Record<Part, unknown>>>,
): readonly Part[] => parts.filter((part) => said[part] !== undefined && said[part] !== null)

/** A recorded action of the operator. */
export type RecordedAct = {
  readonly at: UnixMs
  readonly who: string // the machine's user account that ran the command
  readonly act: 'hide' | 'unhide' | 'ban' | 'unban'
  readonly what: string // a block, an area or a wallet, in the form that the operator sees
  readonly parts: string // separated by commas; empty for a ban
  readonly why: string | null
}

/** A wallet with hidden names or a ban. */
export type ModeratedWallet = WalletModeration & { readonly wallet: Address }

/** The moderation of a wallet; `everHidden` marks the names that were ever hidden. */
export type WalletState = WalletModeration & { readonly everHidden: HiddenNames }

const NO_NAMES: HiddenNames = { name: false, framework: false }

/** The moderation of a wallet on which the operator has never acted. */
export const UNMODERATED: WalletState = { hidden: NO_NAMES, everHidden: NO_NAMES, isBanned: false }

/** The moderation of a wallet after an action. */
export function applyWalletAct(before: WalletState, act: WalletAct): WalletState {
  if (!('parts' in act)) return { ...before, isBanned: act.act === 'ban' }
  const { parts } = act
  const isHidden = act.act === 'hide'
  const isNamed = (part: NamePart) => parts.includes(part)
  const decideName = (part: NamePart) => (isNamed(part) ? isHidden : before.hidden[part])
  const wasEverHidden = (part: NamePart) => before.everHidden[part] || (isNamed(part) && isHidden)
  return {
    ...before,
    hidden: { name: decideName('name'), framework: decideName('framework') },
    everHidden: { name: wasEverHidden('name'), framework: wasEverHidden('framework') },
  }
}

export const hidesSameNames = (one: HiddenNames, other: HiddenNames): boolean =>
  NAME_PARTS.every((part) => one[part] === other[part])
