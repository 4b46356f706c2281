/** How many blocks of each kind are covered, and what the open ones cost. */

import { ASSET_SYMBOL } from '../../../shared/money.ts'
import { differs } from '../../state.ts'
import { createElement, query } from '../../ui/dom.ts'
import { blocksText, countText } from '../../wall/formatting.ts'
import type { Wall } from '../../wall/wall-model.ts'
import { type Component, type Sketch, covered } from '../sketch.ts'
import { type CoveredCounts, coveredCounts, dealOf, priceOf } from './cost-summary.ts'

const SPEAK_AFTER_MS = 400

const names: Readonly<Record<keyof CoveredCounts, string>> = {
  open: 'open',
  mine: 'yours',
  held: 'being bought by others',
  others: 'owned by others',
}

/** Counts in sight, and in words for those who hear the page. */
export function createCostPanel(): Component {
  const section = query('cost', HTMLElement)
  const price = query('price', HTMLElement)
  const what = query('what', HTMLElement)
  const list = query('covered', HTMLElement)
  const spoken = query('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (sketch: Sketch) => {
    const counts = coveredCounts(sketch)
    const kinds = (['open', 'mine', 'held', 'others'] as const).filter((kind) => counts[kind] > 0)
    const [head, rest] = wordsFor(sketch)
    price.textContent = head
    what.textContent = rest
    list.replaceChildren(
      ...kinds.map((kind) =>
        createElement('li', kind, createElement('span', `swatch ${kind}`), `${countText(counts[kind])} ${names[kind]}`),
      ),
    )
    const texts = kinds.map((kind) => `${counts[kind]} ${names[kind]}`).join(', ')
    clearTimeout(timer)
    timer = setTimeout(() => {
      spoken.textContent = `Column ${sketch.at.col}, row ${sketch.at.row}. ${texts}. ${head} ${rest}.`
    }, SPEAK_AFTER_MS)
  }

  return {
    update(next, before) {
      section.hidden = next.picture === undefined || next.wall === undefined
      if (section.hidden) return
      if (differs(next, before, 'at', 'size', 'wall', 'mine', 'held', 'picture')) show(next)
    },
  }
}

const forSale = (wall: Wall, count: number): readonly [head: string, rest: string] => [
  `${priceOf(wall, count)} ${ASSET_SYMBOL}`,
  `for ${blocksText(count)}, at ${priceOf(wall, 1)} ${ASSET_SYMBOL} each, in one payment`,
]

function wordsFor(sketch: Sketch): readonly [head: string, rest: string] {
  const count = covered(sketch).length
  switch (dealOf(sketch)) {
    case 'buy':
      return sketch.wall === undefined ? ['', ''] : forSale(sketch.wall, count)
    case 'repaint':
      return ['Free', `to repaint ${blocksText(count)}, with one signature`]
    case 'neither':
      return ['Not open', 'a picture is bought whole, or repainted whole']
  }
}
