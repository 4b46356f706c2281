/** Shows how many blocks of each kind the picture covers, and what it costs. */

import { ASSET_SYMBOL, formatBlocks } from '../../../shared/money.ts'
import { differsIn } from '../../state.ts'
import { createElement, queryElement } from '../../ui/dom.ts'
import { type Component, type Sketch, listCoveredBlocks } from '../sketch.ts'
import { countCoveredBlocks, describeCoveredBlocks, chooseDeal, formatTotal } from './cost-summary.ts'

const SPEAK_AFTER_MS = 400

/** Shows the counts and the price, and announces them to screen readers. */
export function createCostPanel(): Component {
  const section = queryElement('cost', HTMLElement)
  const price = queryElement('price', HTMLElement)
  const what = queryElement('what', HTMLElement)
  const list = queryElement('covered', HTMLElement)
  const spoken = queryElement('spoken', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const showCost = (sketch: Sketch) => {
    const kinds = describeCoveredBlocks(countCoveredBlocks(sketch))
    const [head, rest] = describeCost(sketch)
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
      if (differsIn(next, before, 'at', 'size', 'wall', 'mine', 'held', 'picture')) showCost(next)
    },
  }
}

function describeCost(sketch: Sketch): readonly [head: string, rest: string] {
  const { wall } = sketch
  const deal = chooseDeal(sketch)
  const count = listCoveredBlocks(sketch).length
  if (deal === 'repaint') return ['Free', `to repaint ${formatBlocks(count)}, with one signature`]
  if (deal === 'neither' || wall === undefined)
    return ['Not available', 'here: a picture is bought or repainted as a whole']
  const [all, each] = [count, 1].map((blocks) => `${formatTotal(wall, blocks)} ${ASSET_SYMBOL}`)
  return [`${all}`, `for ${formatBlocks(count)}, at ${each} each, in one payment`]
}
