/** Owner-signed changes: what they hold and how they can end. */

import type { Pixels } from '../../shared/pixels.ts'
import type { Hash, UnixMs } from './payment.ts'

/** How far a signed time may be from ours, either way. */
export const TS_TOLERANCE_MS = 5 * 60_000

// A digest outlives the window in which its message could be sent again.
const DIGEST_KEPT_MS = TS_TOLERANCE_MS + 60_000

/** What makes a signed message recognisable: its digest, not its signature, which has twins. */
export type Signed = { readonly digest: Hash; readonly keepUntil: UnixMs }

/** What an owner changes about a block; `undefined` keeps, `null` clears. */
export type Edit = Signed & {
  readonly pixels: Pixels | undefined
  readonly message: string | null | undefined
  readonly link: string | null | undefined
}

/** What a wallet says of itself; `undefined` keeps, `null` clears. */
export type Identity = Signed & {
  readonly name: string | null | undefined
  readonly framework: string | null | undefined
}

/** `repeated`: the same message is the latest applied; `superseded`: it was applied once and a newer one since. */
export type EditResult = 'applied' | 'repeated' | 'superseded' | 'not-owned'

export type IdentityResult = 'applied' | 'repeated' | 'superseded' | 'unknown-wallet'

/** Whether a signed time is near enough to ours. */
export const isTimely = (ts: UnixMs, now: UnixMs): boolean => Math.abs(now - ts) <= TS_TOLERANCE_MS

/** Until when the digest of a message signed at `ts` must be remembered. */
export const keepUntil = (ts: UnixMs): UnixMs => ts + DIGEST_KEPT_MS
