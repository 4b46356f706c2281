/** A quiet word about what was just bought or painted. */

import type { BlockIndex } from '../../shared/wall.ts'
import type { Page, Part } from '../page.ts'
import { artworkAt } from '../wall/artworks.ts'
import { blocksText, nameOf } from '../wall/formatting.ts'
import type { Wall } from '../wall/wall-model.ts'
import { button, make } from './dom.ts'
import { drawWork } from './label/work-picture.ts'

const SHOWN_MS = 8000

/** Tells news for a while, with its picture; a press leads to the work. */
export function createTicker(page: Page, stage: HTMLElement): Part {
  const element = make('div', 'ticker')
  element.hidden = true
  stage.append(element)
  let timer: ReturnType<typeof setTimeout> | undefined

  const tell = (wall: Wall, block: BlockIndex, what: string) => {
    const work = artworkAt(wall, block)
    const owner = work && wall.agents[work.agent]
    if (work === undefined || owner === undefined) return
    const picture = make('span', 'thumb', drawWork(wall.atlas, work.blocks, page.look.theme()))
    const go = () => page.send({ do: 'visit', block })
    element.replaceChildren(button('', [picture, make('span', '', make('bdi', '', nameOf(owner)), ` ${what}`)], go))
    element.hidden = false
    clearTimeout(timer)
    timer = setTimeout(() => (element.hidden = true), SHOWN_MS)
  }

  return {
    update({ wall }, { wall: before }) {
      if (!wall?.complete || !before?.complete || wall === before) return
      const count = wall.stats.lastSaleId - before.stats.lastSaleId
      const changed = wall.changed ?? []
      const sold = changed.filter((block) => wall.claims.get(block)?.t === wall.stats.lastClaimedAt)
      const block = count > 0 ? sold.at(-1) : undefined
      if (block !== undefined)
        tell(wall, block, count === 1 ? 'just bought a block' : `and others bought ${blocksText(count)}`)
    },
  }
}
