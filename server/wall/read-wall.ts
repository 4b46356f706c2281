/** The state of a block or an area, for requests without a payment. */

import { type Area, formatArea, listAreaBlocks } from '../../shared/area.ts'
import type { AreaState } from '../../shared/contract/area.ts'
import type { Deed } from '../../shared/contract/block.ts'
import { formatMoney } from '../../shared/money.ts'
import { type BlockIndex, toBlockRef } from '../../shared/wall.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import { type MaybeAsync, continueWith } from '../domain/maybe-async.ts'
import { computePrice, type Target } from '../domain/purchase/payment.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import { toOwner, type WallView } from '../domain/wall/wall-view.ts'
import type { Blocks } from '../ports.ts'
import type { OfferState, Seller } from '../purchase/seller.ts'
import type { Offer } from '../x402/terms.ts'
import type { TakenBlocks } from './open-blocks.ts'

/** The public record of a claimed block. */
export function toDeed({ block, wallet, profile, content, claimedAt, tx, settled, isBound }: OwnedBlock): Deed {
  return {
    state: 'claimed',
    block: toBlockRef(block),
    owner: { name: profile.name, wallet: truncateWallet(wallet), framework: profile.framework },
    claimedAt,
    settled,
    tx,
    ...(isBound ? { bound: true } : {}),
    message: content.message,
    link: content.link,
    pixels: content.pixels === null ? null : content.pixels.toBase64(),
  }
}

type ReadWallDeps = { readonly blocks: Blocks; readonly seller: Pick<Seller, 'readOffer'> }

/** The state of a target: its deed if the target is a claimed block, else whether it can be bought. */
export type Found = { readonly kind: 'deed'; readonly deed: Deed } | { readonly kind: OfferState }

/** Reads the state of a target. */
export const readTarget = ({ blocks, seller }: ReadWallDeps, target: Target): MaybeAsync<Found> =>
  continueWith(seller.readOffer(target), (space) =>
    typeof target !== 'number' || space !== 'claimed' ? { kind: space } : findDeed(blocks, target),
  )

const findDeed = (blocks: Blocks, block: BlockIndex): MaybeAsync<Found> =>
  continueWith(blocks.findOwned(block), (owned) =>
    owned === undefined ? { kind: 'reserved' } : { kind: 'deed', deed: getCachedDeed(owned) },
  )

/** Returns the same deed object for the same block, so that its response is made only once. */
const getCachedDeed = (owned: OwnedBlock): Deed => {
  const deed = deeds.get(owned) ?? toDeed(owned)
  deeds.set(owned, deed)
  return deed
}

const deeds = new WeakMap<OwnedBlock, Deed>()

type ReadAreaDeps = {
  readonly view: WallView
  readonly readTaken: TakenBlocks
  readonly offer: Pick<Offer, 'terms'>
}

/** Counts an area's open, sold and held blocks, without holding any of them. */
export async function readArea({ view, readTaken, offer }: ReadAreaDeps, area: Area): Promise<AreaState> {
  const gone = await readTaken()
  const blocks = listAreaBlocks(area)
  const sold = blocks.flatMap((block) => view.claimed.get(block) ?? [])
  const open = blocks.filter((block) => !gone.has(block)).length
  const [agent] = new Set(sold.map((claimed) => claimed.agent))
  const isOneWallets = sold.length === blocks.length && sold.every((claimed) => claimed.agent === agent)
  return {
    area: formatArea(area),
    blocks: blocks.length,
    open,
    taken: sold.length,
    held: blocks.length - sold.length - open,
    price: open === blocks.length ? formatMoney(computePrice(offer.terms, open)) : null,
    owner: agent !== undefined && isOneWallets ? toOwner(agent) : null,
  }
}
