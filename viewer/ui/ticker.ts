/** A quiet word about the latest sale. */

import type { BlockIndex } from '../../shared/wall.ts'
import { coordOf } from '../../shared/wall.ts'
import type { Page, Part } from '../page.ts'
import { blocksText, nameOf } from '../wall/formatting.ts'
import { button, make } from './dom.ts'

const SHOWN_MS = 8000

/** Tells news for a while; a press leads to the block. */
export function createTicker(page: Page, stage: HTMLElement): Part {
  const element = make('div', 'ticker')
  element.hidden = true
  stage.append(element)
  let timer: ReturnType<typeof setTimeout> | undefined

  const tell = (block: BlockIndex, name: string, count: number) => {
    const text = count === 1 ? ['just bought ', coordOf(block)] : [`and others bought ${blocksText(count)}`]
    element.replaceChildren(button('', [make('bdi', '', name), ' ', ...text], () => page.send({ do: 'go', to: block })))
    element.hidden = false
    clearTimeout(timer)
    timer = setTimeout(() => (element.hidden = true), SHOWN_MS)
  }

  return {
    update({ wall }, { wall: before }) {
      if (!wall?.complete || !before?.complete) return
      const count = wall.stats.lastSaleId - before.stats.lastSaleId
      const sold = (wall.changed ?? []).filter((block) => wall.claims.get(block)?.t === wall.stats.lastClaimedAt)
      const block = sold.at(-1)
      const owner = block === undefined ? undefined : wall.agents[wall.claims.get(block)?.a ?? -1]
      if (count > 0 && block !== undefined && owner) tell(block, nameOf(owner), count)
    },
  }
}
