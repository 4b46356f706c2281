/** Log entries as followers are told of them. */

import type { ChangeDto } from '../../../shared/contract/live.ts'
import { coordOf } from '../../../shared/wall.ts'
import { truncatedWallet } from '../../../shared/wallet.ts'
import type { Change } from './log.ts'
import { saleItem, wireFace } from './wall-view.ts'

/** A log entry on the wire. */
export function changeDtoOf(change: Change): ChangeDto {
  const { number, at } = change
  switch (change.kind) {
    case 'sale':
      return { number, kind: 'sale', ...saleItem(change, truncatedWallet(change.wallet), at) }
    // Who follows shows what there is to show, whoever changed it.
    case 'repaint':
    case 'hide':
    case 'unhide':
      return { number, kind: 'repaint', t: at, i: change.block, coord: coordOf(change.block), ...wireFace(change.face) }
    case 'identity':
      return { number, kind: 'identity', t: at, agent: { id: change.agent, ...change.persona } }
  }
}
