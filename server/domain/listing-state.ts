/** Whether a catalogue lists the wall. */

import type { UnixMs } from './purchase/payment.ts'

/** What a catalogue lists of the wall. */
export type Listing = {
  readonly catalogue: string // its host
  readonly addresses: number // how many paid addresses it lists
  readonly seenAt: UnixMs // when it last responded
  readonly listedAt: UnixMs // when it last listed one, or since when it is watched
}
