/** The state of an area: how much of it can be bought, and who owns it. */

import { areaName, blocksOf, type Area } from '../../shared/area.ts'
import type { AreaState } from '../../shared/contract/area.ts'
import { moneyText } from '../../shared/money.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Offer } from '../x402/terms.ts'
import type { TakenBlocks } from './open-blocks.ts'

/** What reading an area needs. */
export type ReadAreaDeps = {
  readonly view: WallView
  readonly taken: TakenBlocks
  readonly offer: Pick<Offer, 'terms'>
}

/** Counts an area's blocks. Holds nothing. */
export async function readArea({ view, taken, offer }: ReadAreaDeps, area: Area): Promise<AreaState> {
  const gone = await taken()
  const blocks = blocksOf(area)
  const sold = blocks.flatMap((block) => view.claimed.get(block) ?? [])
  const open = blocks.filter((block) => !gone.has(block)).length
  const [agent] = new Set(sold.map((claimed) => claimed.agent))
  const isOneWallets = sold.length === blocks.length && sold.every((claimed) => claimed.agent === agent)
  return {
    area: areaName(area),
    blocks: blocks.length,
    open,
    taken: sold.length,
    held: blocks.length - sold.length - open,
    price: open === blocks.length ? moneyText(BigInt(open) * offer.terms.amount) : null,
    owner:
      agent !== undefined && isOneWallets
        ? { name: agent.name, wallet: agent.shownAs, framework: agent.framework }
        : null,
  }
}
