/** Whether an area can be bought, for a request without a payment, and which of its blocks are taken. */

import { coordOf } from '../../shared/wall.ts'
import type { Failure } from '../domain/failure.ts'
import { unavailability } from '../domain/purchase/refusals.ts'
import { isBlock, placeOf, type Target } from '../domain/purchase/target.ts'
import { nearestAreaIn } from '../domain/wall/open-space.ts'
import type { Ledger } from '../ports.ts'
import type { TakenBlocks } from '../wall/open-blocks.ts'
import type { Seller } from './seller.ts'

/** What asking needs. */
export type OfferAreaDeps = {
  readonly ledger: Pick<Ledger, 'inTheWay'>
  readonly seller: Pick<Seller, 'offered'>
  readonly taken: TakenBlocks
}

/** Why an area cannot be bought; `undefined` where its terms are to be told. */
export async function refusalOfArea(deps: OfferAreaDeps, target: Target): Promise<Failure | undefined> {
  const { ledger, seller } = deps
  const found = (await searched(deps, target)) ?? (await seller.offered(target))
  // An uncertain area is offered, so that its own payer can come back with a client that cannot resend.
  if (found === 'open' || found === 'uncertain') return undefined
  return await namingBlocks(ledger, target, unavailability(target, found))
}

/** What a search finds of an area that is wanted anywhere; nothing where only the ledger knows. */
async function searched({ taken }: Pick<OfferAreaDeps, 'taken'>, target: Target) {
  const { at, ...size } = placeOf(target)
  if (at !== 'next' || isBlock(target)) return undefined
  const found = nearestAreaIn((await taken()).occupied(), size)
  if (typeof found === 'number') return 'open'
  return found === 'reserved' ? undefined : found
}

// A buyer needs to know where to look, not all of it.
const NAMED_MAX = 100

/** The same refusal with the blocks of an area that are sold, or held, where it is for these. */
export async function namingBlocks(
  ledger: Pick<Ledger, 'inTheWay'>,
  target: Target,
  refusal: Failure,
): Promise<Failure> {
  const { code } = refusal
  if (code !== 'block_taken' && code !== 'purchase_pending') return refusal
  const { taken, held } = await ledger.inTheWay(target)
  const [name, blocks] = code === 'block_taken' ? ['taken', taken] : ['held', held]
  if (blocks.length === 0) return refusal
  return { ...refusal, details: { ...refusal.details, [name]: blocks.slice(0, NAMED_MAX).map(coordOf) } }
}
