/** Payers and strangers, who do everything that the wire lets them do. */

import { failure } from '../../server/domain/failure.ts'
import { keyOf, type Address, type Payment, type Target } from '../../server/domain/payment.ts'
import type { Order } from '../../server/domain/purchase.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { addressOf, FORGED, paymentOf, PLAIN, TERMS } from './samples.ts'
import { broadcast, spend, strikes, type World } from './world.ts'

/** Every authorization that was signed, and where it was sent first. */
export type Crowd = {
  readonly payers: readonly Address[]
  readonly wall: readonly BlockIndex[]
  readonly signed: Payment[]
  readonly firstTarget: Map<string, Target>
}

export function crowdOf(world: World, wall: readonly BlockIndex[]): Crowd {
  const payers = Array.from({ length: 1 + world.dice.below(3) }, (_, i) => addressOf(i + 1))
  for (const payer of payers) world.balances.set(payer, 1 + world.dice.below(3))
  return { payers, wall, signed: [], firstTarget: new Map() }
}

/** Somebody's next request to buy: signed anew, sent again, or sent elsewhere. */
export function nextOrder(world: World, crowd: Crowd, armed: boolean): Order {
  const { dice } = world
  const again = crowd.signed.length > 0 && dice.chance(crowd.signed.length > 6 ? 0.9 : 0.6)
  const payment = again ? dice.pick(crowd.signed.slice(-4)) : sign(world, crowd)
  const first = crowd.firstTarget.get(keyOf(payment))
  const target = first !== undefined && dice.chance(0.85) ? first : aim(world, crowd)
  if (first === undefined) crowd.firstTarget.set(keyOf(payment), target)
  const listing = dice.chance(0.05) ? failure('invalid_listing', 'link: is no address') : PLAIN
  return { target, payment, listing, terms: TERMS, now: world.now, armed, contact: null }
}

// Most payers want the same: that is where races are.
const aim = ({ dice }: World, { wall }: Crowd): Target => (dice.chance(0.5) ? 'next' : dice.pick(wall))

function sign(world: World, { payers, signed }: Crowd): Payment {
  const { dice } = world
  const until = BigInt(Math.floor(world.now / 1000) + dice.pick([5, 30, 90, 90, 300, 300]))
  const payment = paymentOf(dice.pick(payers), signed.length + 1, until)
  const made = strikes(world, 'forge') ? ({ ...payment, signature: FORGED } as const) : payment
  signed.push(made)
  return made
}

/** What payers and strangers do with their own wallets and with payments they have seen. */
export function mischief(world: World, { payers, signed }: Crowd): void {
  const { dice, balances } = world
  const payer = dice.pick(payers)
  if (strikes(world, 'drain')) balances.set(payer, 0)
  else if (dice.chance(0.3)) balances.set(payer, (balances.get(payer) ?? 0) + 1)
  if (signed.length === 0) return
  const payment = dice.pick(signed)
  if (strikes(world, 'stranger')) broadcast(world, payment)
  if (world.spendings.has(keyOf(payment))) return
  if (strikes(world, 'cancel')) spend(world, payment, 'cancelled')
  else if (strikes(world, 'spendElsewhere')) spend(world, payment, 'elsewhere')
}
