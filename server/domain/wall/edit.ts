/** Owner-signed changes: what they hold and how they can end. */

import { partOf, type Pixels } from '../../../shared/pixels.ts'
import type { Address, Hash, UnixMs } from '../purchase/payment.ts'
import type { BlockContent, LogNumber, Profile } from './log.ts'

/** How far a signed time may be from ours, either way. */
export const TS_TOLERANCE_MS = 5 * 60_000

// A digest outlives the window in which its message could be sent again.
const DIGEST_KEPT_MS = TS_TOLERANCE_MS + 60_000

/** A signed message: its digest, which recognises it (a signature has twins), and the time that was signed. */
export type Signed = { readonly digest: Hash; readonly ts: UnixMs }

/** What an owner changes about a block; `undefined` keeps, `null` clears. */
export type Edit = Signed & {
  readonly pixels: Pixels | undefined
  readonly message: string | null | undefined
  readonly link: string | null | undefined
  readonly painter: Address | null // who signed it, where that was not the owner
}

/** What a wallet says of itself; `undefined` keeps, `null` clears. */
export type Identity = Signed & {
  readonly name: string | null | undefined
  readonly framework: string | null | undefined
}

/** The painter that a wallet names; `null` for nobody. Of two namings the one with the later time holds. */
export type PainterNaming = { readonly painter: Address | null; readonly ts: UnixMs }

/** `superseded`: a naming with this time or a later one was applied before. */
export type NamingResult = 'applied' | 'superseded' | 'unknown-wallet'

/**
 * `repeated`: the same message is the latest applied; `superseded`: a newer one was applied, after this one or instead of it;
 * `not-painter`: who signed is not the painter any more.
 */
export type EditResult = 'applied' | 'repeated' | 'superseded' | 'not-owned' | 'not-painter'

export type IdentityResult = 'applied' | 'repeated' | 'superseded' | 'unknown-wallet'

/** Whether a signed time is near enough to ours. */
export const isTimely = (ts: UnixMs, now: UnixMs): boolean => Math.abs(now - ts) <= TS_TOLERANCE_MS

/** Until when the digest of a message signed at `ts` must be remembered. */
export const keepUntil = (ts: UnixMs): UnixMs => ts + DIGEST_KEPT_MS

/** The time that orders messages, in whatever order they arrive: a clock that is fast must not keep later ones out. */
export const orderingTime = (ts: UnixMs, now: UnixMs): UnixMs => Math.min(ts, now)

/** Whether a message was signed before one that was applied; `latest` is the ordering time of that, `null` for none. */
export const isOutrun = (ts: UnixMs, latest: UnixMs | null): boolean => latest !== null && ts < latest

/** What an edit leaves of a value: `undefined` keeps it, `null` clears it. */
export const edited = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value

/** What an edit leaves of the block that is number `at` of those it is about. */
export const contentAfter = ({ pixels, message, link }: Edit, at: number, before: BlockContent): BlockContent => ({
  pixels: edited(pixels && partOf(pixels, at), before.pixels),
  message: edited(message, before.message),
  link: edited(link, before.link),
})

/** How a message stands to what it is about, by its own first change, if it was applied, and the latest ones of all its blocks. */
export function standingOf(
  known: LogNumber | undefined,
  changed: readonly LogNumber[],
): 'new' | 'repeated' | 'superseded' {
  if (known === undefined) return 'new'
  return changed.every((number, at) => number === known + at) ? 'repeated' : 'superseded'
}

/** What a sale leaves of a wallet's identity: what the listing says of it, the rest stays. */
export const profileAfter = (before: Profile, { name, framework }: Profile): Profile => ({
  name: name ?? before.name,
  framework: framework ?? before.framework,
})

/** Whom a purchase named, by the number of its payment. */
type PurchasePainter = { readonly payment: number; readonly painter: Address }

/** A wallet's naming, and the last payment whose own naming it ended. */
export type WalletPainter = PainterNaming & { readonly through: number }

/** Who paints what a purchase bought: the painter that it named, unless the wallet has named one since. */
export function painterAmong(purchase: PurchasePainter | null, wallet: WalletPainter | null): Address | null {
  if (purchase !== null && purchase.payment > (wallet?.through ?? 0)) return purchase.painter
  return wallet?.painter ?? null
}
