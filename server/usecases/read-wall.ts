/** Free reads that need the store: what a block is to someone who brings no payment. */

import type { Deed } from '../../shared/contract/block.ts'
import { pixelsToBase64 } from '../../shared/pixels.ts'
import { coordOf } from '../../shared/wall.ts'
import { truncatedWallet } from '../../shared/wallet.ts'
import type { OwnedBlock } from '../domain/log.ts'
import type { Space, Target } from '../domain/payment.ts'
import type { Blocks, Ledger } from '../ports.ts'

/** The public record of a claimed block. */
export function deedOf({ block, wallet, persona, face, claimedAt, tx, settled }: OwnedBlock): Deed {
  return {
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

/** A target's deed when it is a claimed block, else whether it can be bought. */
export async function lookAt(
  { blocks, ledger }: { readonly blocks: Blocks; readonly ledger: Ledger },
  target: Target,
): Promise<Deed | Exclude<Space, 'full'>> {
  const space = await ledger.space(target)
  if (target === 'next' || space !== 'claimed') return space
  const owned = await blocks.owned(target)
  return owned === undefined ? 'reserved' : deedOf(owned)
}
