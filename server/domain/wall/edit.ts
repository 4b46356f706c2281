/** Signed changes to blocks and wallets: their contents and results. */

import { sliceBlockPixels, type Pixels } from '../../../shared/pixels.ts'
import type { Address, Hash, UnixMs } from '../purchase/payment.ts'
import type { BlockContent, LogNumber, Profile } from './log.ts'

/** How far a signed time may be from the server's clock, in either direction. */
export const TS_TOLERANCE_MS = 5 * 60_000

// A digest must be kept longer than the window in which its message could be sent again.
const DIGEST_KEPT_MS = TS_TOLERANCE_MS + 60_000

/**
 * A signed message: its digest, which identifies it (a message can have several valid signatures), and the time that
 * was signed.
 */
export type Signed = { readonly digest: Hash; readonly ts: UnixMs }

/** A change to one or more blocks, signed by their owner or painter; `undefined` keeps a field, `null` clears it. */
export type Edit = Signed & {
  readonly pixels: Pixels | undefined
  readonly message: string | null | undefined
  readonly link: string | null | undefined
  readonly painter: Address | null // the painter that signed the change; null if the owner signed it
}

/** The names that a wallet gives itself; `undefined` keeps a name, `null` clears it. */
export type Identity = Signed & {
  readonly name: string | null | undefined
  readonly framework: string | null | undefined
}

/** The painter that a wallet names; `null` for nobody. Of two namings by a wallet, the one with the later time wins. */
export type PainterNaming = { readonly painter: Address | null; readonly ts: UnixMs }

/** `superseded`: a naming with the same time or a later one was already applied. */
export type NamingResult = 'applied' | 'superseded' | 'unknown-wallet'

/**
 * `repeated`: the same message is the latest applied one; `superseded`: a newer one was applied, after this one or
 * instead of it; `not-painter`: the signer is not the painter any more.
 */
export type EditResult = 'applied' | 'repeated' | 'superseded' | 'not-owned' | 'not-painter'

export type IdentityResult = 'applied' | 'repeated' | 'superseded' | 'unknown-wallet'

/** Whether a signed time is close enough to the server's clock. */
export const isTimely = (ts: UnixMs, now: UnixMs): boolean => Math.abs(now - ts) <= TS_TOLERANCE_MS

/** Until when the digest of a message signed at `ts` must be remembered. */
export const computeRetentionEnd = (ts: UnixMs): UnixMs => ts + DIGEST_KEPT_MS

/**
 * The time that orders messages, whatever their order of arrival. It is never in the future, so that a signer's fast
 * clock does not block later messages.
 */
export const computeOrderingTime = (ts: UnixMs, now: UnixMs): UnixMs => Math.min(ts, now)

/**
 * Whether a message was signed before the latest applied one; `latest` is the ordering time of that message, `null` if
 * there is none.
 */
export const isSignedBeforeLatest = (ts: UnixMs, latest: UnixMs | null): boolean => latest !== null && ts < latest

/** A value after an edit: `undefined` keeps it, `null` clears it. */
export const applyFieldEdit = <T>(value: T | null | undefined, before: T | null): T | null =>
  value === undefined ? before : value

/** The content of a block after an edit; `at` is the block's index among the edited blocks. */
export const applyEdit = ({ pixels, message, link }: Edit, at: number, before: BlockContent): BlockContent => ({
  pixels: applyFieldEdit(pixels && sliceBlockPixels(pixels, at), before.pixels),
  message: applyFieldEdit(message, before.message),
  link: applyFieldEdit(link, before.link),
})

/**
 * Compares a message with those already applied. `known` is the number of its own first change, if it was applied;
 * `changed` are the numbers of the latest changes of its blocks.
 */
export function classifyMessage(
  known: LogNumber | undefined,
  changed: readonly LogNumber[],
): 'new' | 'repeated' | 'superseded' {
  if (known === undefined) return 'new'
  return changed.every((number, at) => number === known + at) ? 'repeated' : 'superseded'
}

/**
 * A wallet's identity after a sale: names in the listing replace the old ones, and a name that the listing omits stays.
 */
export const applyProfileEdit = (before: Profile, { name, framework }: Profile): Profile => ({
  name: name ?? before.name,
  framework: framework ?? before.framework,
})

/** The painter that a purchase named, and the number of its payment. */
type PurchasePainter = { readonly payment: number; readonly painter: Address }

/** The painter that a wallet named, and the number of the last payment whose painter it replaced. */
export type WalletPainter = PainterNaming & { readonly through: number }

/**
 * The painter of the blocks of a purchase: the one that the purchase named, unless the wallet has since named a painter
 * or nobody.
 */
export function choosePainter(purchase: PurchasePainter | null, wallet: WalletPainter | null): Address | null {
  if (purchase !== null && purchase.payment > (wallet?.through ?? 0)) return purchase.painter
  return wallet?.painter ?? null
}
