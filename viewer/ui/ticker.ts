/** Shows what was just bought. */

import type { BlockIndex } from '../../shared/wall.ts'
import type { Page, Component } from '../page.ts'
import { blocksText, nameOf } from '../wall/formatting.ts'
import type { Wall } from '../wall/wall-model.ts'
import { button, createElement } from './dom.ts'
import { drawWork } from './label/work-picture.ts'

const SHOWN_MS = 8000

/** Shows each purchase for some seconds, with its picture; a press goes to the work. */
export function createTicker(page: Page, stage: HTMLElement): Component {
  const element = createElement('div', 'ticker')
  element.hidden = true
  stage.append(element)
  let timer: ReturnType<typeof setTimeout> | undefined

  const tell = (wall: Wall, blocks: readonly BlockIndex[], count: number) => {
    const [block] = blocks
    const owner = block === undefined ? undefined : wall.agents[wall.claims.get(block)?.a ?? -1]
    if (block === undefined || owner === undefined) return
    const what =
      count > blocks.length ? `and others bought ${blocksText(count)}` : `just bought ${sizeText(blocks.length)}`
    const picture = createElement('span', 'thumb', drawWork(wall.texture, blocks, page.appearance.theme()))
    const go = () => page.dispatch({ do: 'open-work', block })
    element.replaceChildren(
      button('', [picture, createElement('span', '', createElement('bdi', '', nameOf(owner)), ` ${what}`)], go),
    )
    element.hidden = false
    clearTimeout(timer)
    timer = setTimeout(() => (element.hidden = true), SHOWN_MS)
  }

  return {
    update({ wall }, { wall: before }) {
      if (!wall?.complete || !before?.complete || wall === before) return
      const count = wall.stats.lastSaleId - before.stats.lastSaleId
      if (count > 0) tell(wall, lastPurchase(wall), count)
    },
  }
}

const sizeText = (blocks: number) => (blocks === 1 ? 'a block' : blocksText(blocks))

/** The blocks of the newest purchase, as far as they are known: they have one owner and one time. */
function lastPurchase({ claims, stats, changed }: Wall): BlockIndex[] {
  const newest = (changed ?? []).findLast((block) => claims.get(block)?.t === stats.lastClaimedAt)
  const last = newest === undefined ? undefined : claims.get(newest)
  if (last === undefined) return []
  return [...claims].flatMap(([block, { a, t }]) => (a === last.a && t === last.t ? [block] : []))
}
