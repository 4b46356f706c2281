/** How many blocks of each kind are covered, and what the open ones cost. */

import { ASSET_SYMBOL, PRICE } from '../../shared/money.ts'
import { find, make } from '../ui/dom.ts'
import { blocksText, countText } from '../wall/formatting.ts'
import { priceOf, tallyOf, type Standing } from './cost-summary.ts'
import type { Part } from './parts.ts'
import type { Sketch } from './sketch.ts'

const SPEAK_AFTER_MS = 400

const names: Readonly<Record<Standing, string>> = {
  open: 'open',
  mine: 'yours',
  held: 'being bought by others',
  others: 'owned by others',
}

/** Counts in sight, and in words for those who hear the page. */
export function createCost(): Part {
  const section = find('cost', HTMLElement)
  const price = find('price', HTMLElement)
  const toBuy = find('to-buy', HTMLElement)
  const list = find('tally', HTMLElement)
  const spoken = find('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (sketch: Sketch) => {
    const tally = tallyOf(sketch)
    const kinds = (['open', 'mine', 'held', 'others'] as const).filter((kind) => tally[kind].length > 0)
    const count = tally.open.length
    price.textContent = `${priceOf(count)} ${ASSET_SYMBOL}`
    toBuy.textContent = count === 0 ? 'nothing to buy' : `for ${blocksText(count)} at ${PRICE} each`
    list.replaceChildren(
      ...kinds.map((kind) =>
        make('li', kind, make('span', `swatch ${kind}`), `${countText(tally[kind].length)} ${names[kind]}`),
      ),
    )
    const counts = kinds.map((kind) => `${tally[kind].length} ${names[kind]}`).join(', ')
    clearTimeout(timer)
    timer = setTimeout(() => {
      spoken.textContent = `Column ${sketch.at.col}, row ${sketch.at.row}. ${counts}. ${price.textContent} to buy.`
    }, SPEAK_AFTER_MS)
  }

  return {
    update(next, before) {
      section.hidden = next.picture === undefined || next.wall === undefined
      if (section.hidden) return
      const isSame =
        next.at === before.at &&
        next.size === before.size &&
        next.wall === before.wall &&
        next.mine === before.mine &&
        next.held === before.held &&
        next.picture === before.picture
      if (!isSame) show(next)
    },
  }
}
