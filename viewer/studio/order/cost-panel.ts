/** How many blocks of each kind are covered, and the price of the open ones. */

import { ASSET_SYMBOL, blocksText } from '../../../shared/money.ts'
import { differs } from '../../state.ts'
import { createElement, query } from '../../ui/dom.ts'
import { type Component, type Sketch, covered } from '../sketch.ts'
import { coveredCounts, coveredKinds, dealOf, priceOf } from './cost-summary.ts'

const SPEAK_AFTER_MS = 400

/** Visible counts, and the same in words for screen readers. */
export function createCostPanel(): Component {
  const section = query('cost', HTMLElement)
  const price = query('price', HTMLElement)
  const what = query('what', HTMLElement)
  const list = query('covered', HTMLElement)
  const spoken = query('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (sketch: Sketch) => {
    const kinds = coveredKinds(coveredCounts(sketch))
    const [head, rest] = wordsFor(sketch)
    price.textContent = head
    what.textContent = rest
    list.replaceChildren(
      ...kinds.map(({ kind, text }) => createElement(`li.${kind}`, createElement(`span.swatch.${kind}`), text)),
    )
    const texts = kinds.map(({ text }) => text).join(', ')
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

function wordsFor(sketch: Sketch): readonly [head: string, rest: string] {
  const { wall } = sketch
  const deal = dealOf(sketch)
  const count = covered(sketch).length
  if (deal === 'repaint') return ['Free', `to repaint ${blocksText(count)}, with one signature`]
  if (deal === 'neither' || wall === undefined) return ['Not available', 'a picture is bought or repainted as a whole']
  const [all, each] = [count, 1].map((blocks) => `${priceOf(wall, blocks)} ${ASSET_SYMBOL}`)
  return [`${all}`, `for ${blocksText(count)}, at ${each} each, in one payment`]
}
