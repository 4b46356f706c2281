/**
 * One sale, over HTTP and MCP alike: why an order without a payment is refused, and what a payment buys. The two
 * interfaces read orders and payments, and write responses, each in its own form.
 */

import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { formatCoord } from '../../shared/wall.ts'
import { isFailure, type Failure } from '../domain/failure.ts'
import type { PurchaseOrder } from '../domain/purchase/listing.ts'
import type { Payment } from '../domain/purchase/payment.ts'
import type { SoldPurchase } from '../domain/purchase/purchase.ts'
import { createUnavailableFailure } from '../domain/purchase/refusals.ts'
import { isBlock, getPosition, type Target } from '../domain/purchase/target.ts'
import { findNearestArea } from '../domain/wall/open-space.ts'
import { listSales, type WallView } from '../domain/wall/wall-view.ts'
import type { Blocks, Ledger } from '../ports.ts'
import type { TakenBlocks } from '../wall/open-blocks.ts'
import { type Found, readTarget } from '../wall/read-wall.ts'
import { createReceipt } from '../x402/receipt.ts'
import type { Offer } from '../x402/terms.ts'
import type { Buyer, SellTo } from './limited-seller.ts'
import { addBinding } from './order-binding.ts'
import type { Seller } from './seller.ts'

export type SaleDeps = {
  readonly ledger: Pick<Ledger, 'find' | 'listUnavailable'>
  readonly seller: Pick<Seller, 'readOffer'>
  readonly sellTo: SellTo
  readonly blocks: Blocks
  readonly readTaken: TakenBlocks
  readonly view: WallView
  readonly offer: Offer
}

/** Why an order without a payment is refused; `undefined` if the client gets the terms for it. */
export const findUnpaidRefusal = async (deps: SaleDeps, order: PurchaseOrder): Promise<Failure | undefined> =>
  order.isArea ? await findAreaRefusal(deps, order) : findBlockRefusal(order, await readTarget(deps, order.target))

/**
 * Why an unpaid order for a block in a known state is refused. By the contract, a sold block is reported
 * before the order's listing is checked.
 */
export function findBlockRefusal({ target, listing }: PurchaseOrder, found: Found): Failure | undefined {
  if (found.kind === 'deed' || found.kind === 'claimed') return createUnavailableFailure(target, 'claimed')
  // A client should not sign for a request that would be refused.
  if (isFailure(listing)) return listing
  // A block that is held in doubt is offered, so that its payer can return with a client that cannot resend the
  // payment.
  return found.kind === 'reserved' ? createUnavailableFailure(target, 'reserved') : undefined
}

/** Why an unpaid order for an area is refused. By the contract, its listing is checked first. */
async function findAreaRefusal(deps: SaleDeps, { target, listing }: PurchaseOrder): Promise<Failure | undefined> {
  if (isFailure(listing)) return listing
  const found = (await searchOpenArea(deps, target)) ?? (await deps.seller.readOffer(target))
  if (found === 'open' || found === 'uncertain') return undefined
  return await addConflicts(deps.ledger, target, createUnavailableFailure(target, found))
}

/** The result of a search for an open area, if the order has no position; `undefined` if only the ledger can decide. */
async function searchOpenArea({ readTaken }: SaleDeps, target: Target) {
  const { at, ...size } = getPosition(target)
  if (at !== 'next' || isBlock(target)) return undefined
  const { kind } = findNearestArea((await readTaken()).computeOccupied(), size)
  return kind === 'reserved' ? undefined : kind
}

/** The receipt and the purchase of a payment, or why it bought nothing. */
type SaleOutcome =
  | { readonly kind: 'sold'; readonly receipt: Receipt | AreaReceipt; readonly purchase: SoldPurchase }
  | Failure

/** Sells the ordered block or area. */
export async function sell(deps: SaleDeps, order: PurchaseOrder, payment: Payment, buyer: Buyer): Promise<SaleOutcome> {
  const { target, isArea, listing } = order
  const host = new URL(deps.offer.baseUrl).hostname
  const outcome = await deps.sellTo(buyer, { target, payment: addBinding(payment, order, host), listing })
  if (outcome.kind === 'failure') return isArea ? await addConflicts(deps.ledger, target, outcome) : outcome
  const { purchase, isEarlier } = outcome
  const facts = { purchase, sales: listSales(deps.view, purchase), isEarlier, baseUrl: deps.offer.baseUrl }
  return { kind: 'sold', receipt: createReceipt(facts, isArea), purchase }
}

// A buyer needs an idea of where the unavailable blocks are, not a complete list.
const NAMED_MAX = 100

/** Adds to a refusal the blocks of an area that are sold or held, if they are the reason for it. */
async function addConflicts(ledger: SaleDeps['ledger'], target: Target, refusal: Failure): Promise<Failure> {
  const { code } = refusal
  if (code !== 'block_taken' && code !== 'purchase_pending') return refusal
  const { taken, held } = await ledger.listUnavailable(target)
  const [name, blocks] = code === 'block_taken' ? ['taken', taken] : ['held', held]
  if (blocks.length === 0) return refusal
  return { ...refusal, details: { ...refusal.details, [name]: blocks.slice(0, NAMED_MAX).map(formatCoord) } }
}
