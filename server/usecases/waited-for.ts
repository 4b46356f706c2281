/** What a run has in hand for its clients, who may hang up before they are answered. */

import { StoreUnavailable } from '../domain/failure.ts'
import type { Purchase, SoldPurchase } from '../domain/purchase.ts'
import type { Audience } from './audience.ts'
import type { World } from './play-script.ts'
import type { Unwritten } from './unwritten.ts'

/**
 * The world of a run that `clients` wait for. Once they hang up, what is held for them is in doubt, and the receipt of what
 * the run sold, or was about to hand over, is owed.
 */
export function waitedFor(world: World, clients: Audience, notes: Unwritten): World {
  let inHand: Purchase | undefined
  const leftWaiting = () => {
    if (inHand !== undefined) notes.doubt(inHand)
  }
  clients.whenGone(leftWaiting)
  const hold = (purchase: Purchase | undefined) => {
    inHand = purchase !== undefined && isUnanswered(purchase) ? purchase : undefined
    if (clients.gone()) leftWaiting()
  }
  return {
    ...world,
    async 'look-up'(request) {
      const known = await world['look-up'](request)
      // Whoever asks for what was sold before may be anybody: settled payloads are public.
      hold(inHand === undefined && known?.state.kind === 'sold' ? undefined : known)
      return known
    },
    async claim(request) {
      const claiming = await world.claim(request)
      if (claiming.kind === 'claimed') hold(claiming.purchase)
      return claiming
    },
    async finalize(request) {
      const sold = await world.finalize(request)
      hold(sold)
      return sold
    },
    async deliver(request) {
      if (clients.gone()) return true
      const wasOwed = await orAnyway(world.deliver(request))
      // It is noted before it is sent, so whoever hangs up in between is owed it again.
      if (wasOwed) hold(delivered(request.purchase))
      return wasOwed
    },
  }
}

/** Whether nothing is written that would keep its payer, left without an answer, from being charged anew. */
const isUnanswered = ({ state }: Purchase) => state.kind === 'reserved' || (state.kind === 'sold' && !state.receiptOwed)

const delivered = ({ state, ...purchase }: SoldPurchase): SoldPurchase => ({
  ...purchase,
  state: { ...state, receiptOwed: false },
})

/** A receipt in hand is true: a store that does not take note of it hands it over once more, which charges nobody. */
async function orAnyway(noting: Promise<boolean>): Promise<boolean> {
  try {
    return await noting
  } catch (error) {
    if (error instanceof StoreUnavailable) return true
    throw error
  }
}
