/** Watches the machine's clock by the chain's: payments and owners' signatures are good for minutes. */

import type { UnixSeconds } from '../domain/purchase/payment.ts'
import type { Clock } from '../ports.ts'
import type { Outages } from './track-outages.ts'

/** A block, by height and time. */
type Block = { readonly number: bigint; readonly timestamp: UnixSeconds }

/** How far the clock may be off, in seconds. */
export const CLOCK_OFF_MAX = 60

/** Makes what is told of the chain's newest block, again and again. A block that was seen before says nothing. */
export function watchClock({
  clock,
  outages,
}: {
  readonly clock: Clock
  readonly outages: Outages
}): (newest: Block | undefined) => void {
  let seen: bigint | undefined
  return (newest) => {
    // The first may have been made at any time before.
    const isFresh = newest !== undefined && seen !== undefined && newest.number > seen
    seen = newest?.number ?? seen
    if (newest === undefined) return
    const ahead = Math.round(clock.now() / 1000) - Number(newest.timestamp)
    // An old block may be all there is; one from the future cannot be.
    if (!isFresh && ahead > 0) return
    const isOff = Math.abs(ahead) > CLOCK_OFF_MAX
    const way = ahead > 0 ? 'ahead of' : 'behind'
    outages.saw(
      { kind: 'clock', name: 'machine' },
      isOff ? `the clock of this machine is more than ${CLOCK_OFF_MAX} s ${way} the newest block` : null,
    )
  }
}
