/** Payers and others, who do everything that the protocol lets them do. */

import { createFailure, isFailure, type Failure } from '../../../../server/domain/failure.ts'
import { HOLDS_MAX } from '../../../../server/domain/purchase/claim-rules.ts'
import type { Draft } from '../../../../server/domain/purchase/listing.ts'
import {
  toPaymentKey,
  computeTerms,
  type Address,
  type Payment,
  type Target,
} from '../../../../server/domain/purchase/payment.ts'
import { isBlock } from '../../../../server/domain/purchase/target.ts'
import { toOrder } from '../../../../server/purchase/order-binding.ts'
import { computeOrderNonce, formatOrderText } from '../../../../shared/order.ts'
import type { BlockIndex } from '../../../../shared/wall.ts'
import { parseSize } from '../areas.ts'
import { toAddress, FORGED, createModelPayment, createPicture, createPixels, PLAIN, SIGNED } from '../samples.ts'
import { broadcastPayment, spendAuthorization, drawFault, readTerms, computeTime, type World } from '../world.ts'

/** One request to buy, as it leaves a client. */
export type Order = {
  readonly target: Target
  readonly payment: Payment
  readonly listing: Draft | Failure
}

/**
 * The habit of a client that was not served: it resends its request, forgets it and signs a new payment, or requests
 * new terms first. The wall's own client stores its request.
 */
export type Payer = { readonly wallet: Address; readonly habit: 'resends' | 'signs again' | 'asks again' | 'keeps' }

/** The payers, and every authorization that they signed, with its first target. */
export type Crowd = {
  readonly payers: readonly Payer[]
  readonly wall: readonly BlockIndex[]
  readonly areas: readonly Target[] // the areas that are ordered in addition to blocks
  readonly signed: Payment[] // one payment for each nonce
  readonly firstTarget: Map<string, Target>
  readonly bound: Map<string, Order> // the orders that payments are bound to, as their payers made them
}

/** The targets that can be bought. */
export type Shop = Pick<Crowd, 'wall' | 'areas'>

export function createCrowd(world: World, { wall, areas }: Shop, size: number): Crowd {
  const { prng, balances } = world
  const payers = Array.from({ length: size }, (_, i) => {
    const habit = prng.pick(['resends', 'resends', 'signs again', 'signs again', 'asks again'] as const)
    const wallet = toAddress(i + 1)
    // If older copies are restored, an earlier response about a block proves nothing, so no client has the habit of
    // requesting new terms first.
    if (world.hasOperator) return { wallet, habit: habit === 'asks again' ? 'signs again' : habit } as const
    return { wallet, habit: world.isKept && habit === 'resends' ? 'keeps' : habit } as const
  })
  for (const { wallet } of payers) balances.set(wallet, 1 + prng.nextInt(3))
  // Some payers have enough money for an area, others only for a block.
  if (areas.length > 0)
    for (const [wallet, dollars] of balances) balances.set(wallet, dollars * prng.pick([1, wall.length, 400]))
  return { payers, wall, areas, signed: [], firstTarget: new Map(), bound: new Map() }
}

/** A payer's next request to buy: newly signed, resent, or sent for another target. */
export function drawOrder(world: World, crowd: Crowd, payer: Payer): Order {
  const { prng } = world
  const own = crowd.signed.filter((payment) => payment.payer === payer.wallet).slice(-3)
  const isGreedy = crowd.wall.length > HOLDS_MAX
  const again = isGreedy ? 0.1 : payer.habit === 'resends' ? 0.75 : 0.2
  const known = own.length > 0 && prng.nextBoolean(again) ? prng.pick(own) : undefined
  const pen = known === undefined ? drawPen(world, crowd) : undefined
  const first = known && crowd.firstTarget.get(toPaymentKey(known))
  const last = own.at(-1)
  // A payer who signs a new payment usually still wants the same target.
  const same = first ?? (last === undefined ? undefined : crowd.firstTarget.get(toPaymentKey(last)))
  const target =
    same !== undefined && prng.nextBoolean(isGreedy && first === undefined ? 0 : 0.85) ? same : drawTarget(world, crowd)
  const signed =
    known === undefined ? signPayment(world, crowd, payer, target, pen) : signAgain(world, known, first ?? target)
  const listing = prng.nextBoolean(0.05)
    ? createFailure('invalid_listing', 'link: is not an address')
    : drawDraft(world, target)
  const order =
    world.isBound && known === undefined ? bindOrder(world, crowd, { target, payment: signed, listing }) : undefined
  const payment = order?.payment ?? signed
  if (first === undefined) crowd.firstTarget.set(toPaymentKey(payment), target)
  return alterInTransit(world, crowd, { target, payment, listing })
}

/** The host name of the wall in the orders that payments are bound to. */
export const HOST = 'wall.example'

const BOUND = 0.7
const ALTERED = 0.4

/** Binds the payment to its order, as careful payers do; leaves some payments unbound. */
function bindOrder(world: World, { signed, bound }: Crowd, { target, payment, listing }: Order): Order {
  if (isFailure(listing) || !world.words.nextBoolean(BOUND)) return { target, payment, listing }
  const salt = payment.nonce
  const text = formatOrderText(toOrder(target, !isBlock(target), listing, HOST))
  const order = { target, payment: { ...payment, nonce: computeOrderNonce(text, salt), salt }, listing }
  signed[signed.indexOf(payment)] = order.payment
  bound.set(toPaymentKey(order.payment), order)
  return order
}

/** An order as it arrives: a bound one is as it was signed, unless somebody alters it or strips its salt in transit. */
function alterInTransit({ words }: World, { bound }: Crowd, order: Order): Order {
  const own = bound.get(toPaymentKey(order.payment))
  if (own === undefined) return order
  if (!words.nextBoolean(ALTERED)) return { ...order, target: own.target, listing: own.listing }
  if (words.nextBoolean(0.5)) return order
  const { salt: _, ...stripped } = order.payment
  return { ...order, payment: stripped }
}

// Most payers want the same target, because that leads to races.
export function drawTarget({ prng }: World, { wall, areas }: Shop): Target {
  if (areas.length > 0 && prng.nextBoolean(0.7)) return prng.pick(areas)
  return prng.nextBoolean(0.5) ? 'next' : prng.pick(wall)
}

/** The listing of an order: a block's may come with pixels, an area's with a picture to convert. */
function drawDraft({ prng, words }: World, target: Target): Draft {
  const said = { ...PLAIN, message: `word ${words.nextInt(1000)}`, painter: words.pick([null, toAddress(9)]) }
  if (isBlock(target)) return { ...said, pixels: words.nextBoolean(0.3) ? createPixels(words.nextInt(240)) : null }
  if (!prng.nextBoolean(0.3)) return said
  return { ...said, picture: createPicture(parseSize(target), prng.nextBoolean(0.8), words.nextInt(240)) }
}

/**
 * A known payment as it is resent: usually unchanged, otherwise with its nonce signed again for another expiry or
 * amount.
 */
function signAgain(world: World, known: Payment, target: Target): Payment {
  const { prng, isVaried, isRepriced } = world
  const asked = computeTerms(readTerms(world), target).amount
  // A payer who has seen another price since signing has a reason to sign again.
  const isOutdated = isRepriced && asked !== known.amount
  if (!isVaried || known.signature !== SIGNED || !prng.nextBoolean(isOutdated ? 0.6 : 0.15)) return known
  const validBefore = BigInt(Math.floor(computeTime(world) / 1000) + prng.pick([30, 90, 300]))
  // The other amount is the current price if the nonce is even or prices keep changing, or else the known amount plus
  // the price of a block.
  const other = isRepriced || BigInt(known.nonce) % 2n === 0n ? asked : known.amount + readTerms(world).amount
  const amount = prng.nextBoolean(isOutdated ? 0.8 : 0.3) ? other : known.amount
  return { ...known, amount, validBefore, accepted: { ...known.accepted, amount } }
}

/** How many seconds a payment is valid, and whether its payer signed it. */
type Pen = {
  readonly seconds: number
  readonly signature: Payment['signature']
  readonly identifier?: string // the payment identifier
}

function drawPen(world: World, { wall }: Crowd): Pen {
  const seconds = wall.length > HOLDS_MAX ? 300 : world.prng.pick([5, 30, 90, 90, 300, 300])
  const signature = drawFault(world, 'forge') ? FORGED : SIGNED
  if (!world.isVaried || !world.prng.nextBoolean(0.3)) return { seconds, signature }
  return { seconds, signature, identifier: `order ${world.prng.nextInt(2)}` }
}

const OWN_PEN: Pen = { seconds: 300, signature: SIGNED }

/** Signs a payment of a target's current price. */
export function signPayment(
  world: World,
  { signed }: Crowd,
  { wallet }: Payer,
  target: Target,
  { seconds, ...pen }: Pen = OWN_PEN,
): Payment {
  const until = BigInt(Math.floor(computeTime(world) / 1000) + seconds)
  const terms = computeTerms(readTerms(world), target)
  const payment = { ...createModelPayment(wallet, signed.length + 1, until, terms), ...pen }
  signed.push(payment)
  return payment
}

/** Lets a payer empty or fill a wallet or use up an authorization, or lets somebody else broadcast a payment. */
export function causeMischief(world: World, { payers, signed, areas, wall }: Crowd): void {
  const { prng, balances } = world
  const { wallet } = prng.pick(payers)
  if (drawFault(world, 'drain')) balances.set(wallet, 0)
  else if (prng.nextBoolean(0.3))
    balances.set(wallet, (balances.get(wallet) ?? 0) + (areas.length > 0 ? prng.pick([1, wall.length]) : 1))
  if (signed.length === 0) return
  const payment = prng.pick(signed)
  if (drawFault(world, 'othersBroadcast')) broadcastPayment(world, payment, 'others')
  if (world.spendings.has(toPaymentKey(payment))) return
  if (drawFault(world, 'cancel')) spendAuthorization(world, payment, 'cancelled')
  else if (drawFault(world, 'spendElsewhere')) spendAuthorization(world, payment, 'elsewhere')
}
