/** What a buyer says of a block when buying it. */

import type { Pixels } from '../../shared/pixels.ts'

/** Checked by the contract's schema; `null` is "not said". */
export type Listing = {
  readonly name: string | null
  readonly framework: string | null
  readonly message: string | null
  readonly link: string | null
  readonly pixels: Pixels | null
}
