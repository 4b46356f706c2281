/** The state of a block, for a request without a payment. */

import type { Deed } from '../../shared/contract/block.ts'
import { pixelsToBase64 } from '../../shared/pixels.ts'
import { coordOf, type BlockIndex } from '../../shared/wall.ts'
import { truncatedWallet } from '../../shared/wallet.ts'
import type { Target } from '../domain/purchase/payment.ts'
import type { OwnedBlock } from '../domain/wall/log.ts'
import type { Blocks } from '../ports.ts'
import type { OfferState, Seller } from '../purchase/seller.ts'

/** The public record of a claimed block. */
export function deedOf({ block, wallet, persona, face, claimedAt, tx, settled }: OwnedBlock): Deed {
  return {
    state: 'claimed',
    block: { coord: coordOf(block), index: block },
    owner: { name: persona.name, wallet: truncatedWallet(wallet), framework: persona.framework },
    claimedAt,
    settled,
    tx,
    message: face.message,
    link: face.link,
    pixels: face.pixels === null ? null : pixelsToBase64(face.pixels),
  }
}

type ReadWallDeps = { readonly blocks: Blocks; readonly seller: Pick<Seller, 'offered'> }

/** The state of a target: its deed if it is a claimed block, else whether it can be bought. */
export type Found = Deed | OfferState

/** Reads the state of a target. */
export async function lookAt({ blocks, seller }: ReadWallDeps, target: Target): Promise<Found> {
  const space = await seller.offered(target)
  return typeof target !== 'number' || space !== 'claimed' ? space : await deedIn(blocks, target)
}

async function deedIn(blocks: Blocks, block: BlockIndex): Promise<Found> {
  const owned = await blocks.owned(block)
  return owned === undefined ? 'reserved' : deedOf(owned)
}
