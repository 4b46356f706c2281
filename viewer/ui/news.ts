/** The line of what happened lately: the purchase of this moment with its picture, else today's sales. */

import { blocksText, countText } from '../../shared/money.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Component, Page } from '../page.ts'
import { differs, hasNews } from '../state.ts'
import { agoText, nameOf } from '../wall/formatting.ts'
import { newsSince } from '../wall/news.ts'
import type { Wall } from '../wall/wall-model.ts'
import { button, createElement, query, refill } from './dom.ts'
import { drawWork } from './label/works.ts'

const PURCHASE_SHOWN_MS = 8000
const AGAIN_MS = 60_000

/** Fills the line in the page's head. A press opens the work that was just bought, else the newest works. */
export function createNews(page: Page): Component {
  const element = query('news', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const showLately = () => {
    clearTimeout(timer)
    timer = setTimeout(showLately, AGAIN_MS)
    const { wall, at, panel } = page.state()
    const news = wall?.complete && at === undefined ? newsSince(wall, new Date().setHours(0, 0, 0, 0)) : undefined
    const owner = news && wall?.agents[news.agent]
    if (news === undefined || owner === undefined) return refill(element, [])
    const name = createElement('bdi', nameOf(owner))
    const ago = agoText(news.soldAt, Date.now())
    const words =
      news.sold > 0
        ? [`${countText(news.sold)} sold today, most recently to `, name, `, ${ago}`]
        : [`Last sale ${ago}, to `, name]
    refill(element, [
      button(
        '',
        [createElement('span', ...words)],
        () => panel !== 'find' && page.dispatch({ do: 'open', panel: 'find' }),
      ),
    ])
  }

  const showPurchase = (wall: Wall, blocks: readonly BlockIndex[], count: number) => {
    const [block] = blocks
    const owner = block === undefined ? undefined : wall.agents[wall.claims.get(block)?.a ?? -1]
    if (block === undefined || owner === undefined) return showLately()
    const what =
      count > blocks.length ? `and others bought ${blocksText(count)}` : `just bought ${sizeText(blocks.length)}`
    const picture = createElement('span.thumb', drawWork(wall.texture, blocks, page.appearance.theme()))
    const words = createElement('span', createElement('bdi', nameOf(owner)), ` ${what}`)
    refill(element, [button('', [picture, words], () => page.dispatch({ do: 'open-work', block }))])
    clearTimeout(timer)
    timer = setTimeout(showLately, PURCHASE_SHOWN_MS)
  }

  return {
    update(next, before) {
      const { wall } = next
      if (!wall?.complete) return
      const count = before.wall?.complete ? wall.stats.lastSaleId - before.wall.stats.lastSaleId : 0
      if (count > 0 && next.at === undefined) showPurchase(wall, lastPurchase(wall), count)
      else if (hasNews(next, before) || differs(next, before, 'at', 'panel')) showLately()
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
