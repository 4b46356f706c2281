/** Whether a catalogue lists the wall. */

import type { UnixMs } from './purchase/payment.ts'

/** A catalogue's listing of the wall. */
export type Listing = {
  readonly catalogue: string // its host
  readonly addresses: number // how many paid addresses it lists
  readonly seenAt: UnixMs // when the catalogue last responded
  readonly listedAt: UnixMs // when the catalogue last listed an address; until it does, when we began to check it
}
