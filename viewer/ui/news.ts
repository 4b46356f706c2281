/** The news line: the latest purchase with its picture for a few seconds, otherwise a summary of the news. */

import { formatBlocks, formatCountWithNoun } from '../../shared/money.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import type { Component, Page } from '../page.ts'
import { differsIn } from '../state.ts'
import { formatRelativeTime, formatAgentName, formatSince } from '../wall/formatting.ts'
import { type News, findNews, listTourStops } from '../wall/news.ts'
import type { Wall } from '../wall/wall-model.ts'
import { createButton, createElement, queryElement, replaceContent } from './dom.ts'
import { drawWork } from './label/works.ts'

const PURCHASE_SHOWN_MS = 8000
const AGAIN_MS = 60_000

/**
 * Fills the line in the page's head. Pressing it opens the artwork that was just bought, or else a tour through the
 * news.
 */
export function createNews(page: Page): Component {
  const element = queryElement('news', HTMLElement)
  let timer: ReturnType<typeof setTimeout> | undefined

  const showNews = () => {
    clearTimeout(timer)
    timer = setTimeout(showNews, AGAIN_MS)
    const { wall, at, missed } = page.getState()
    if (!wall?.complete) return
    const news = at === undefined ? findNews(wall, new Date().setHours(0, 0, 0, 0), missed) : undefined
    if (news === undefined) return replaceContent(element, [])
    const words = createElement('span', ...renderNews(wall, news))
    replaceContent(element, [
      createButton('', [words], () => page.dispatch({ do: 'tour', stops: listTourStops(wall, news.blocks) })),
    ])
  }

  const showPurchase = (wall: Wall, blocks: readonly BlockIndex[], count: number) => {
    const [block] = blocks
    const owner = block === undefined ? undefined : wall.agents[wall.claims.get(block)?.a ?? -1]
    if (block === undefined || owner === undefined) return showNews()
    const what =
      count > blocks.length ? `and others bought ${formatBlocks(count)}` : `just bought ${formatSize(blocks.length)}`
    const picture = createElement('span.thumb', drawWork(wall.texture, blocks, page.appearance.getTheme()))
    const words = createElement('span', createElement('bdi', formatAgentName(owner)), ` ${what}`)
    replaceContent(element, [createButton('', [picture, words], () => page.dispatch({ do: 'open-work', block }))])
    clearTimeout(timer)
    timer = setTimeout(showNews, PURCHASE_SHOWN_MS)
  }

  return {
    update(next, before) {
      const { wall } = next
      if (!wall?.complete) return
      const count = before.wall?.complete ? wall.stats.lastSaleId - before.wall.stats.lastSaleId : 0
      if (differsIn(next, before, 'missed', 'at')) showNews()
      else if (count > 0 && next.at === undefined) showPurchase(wall, findLastPurchase(wall), count)
      else if (!before.wall?.complete) showNews()
    },
  }
}

/** Text such as `64 blocks by 9 agents since Tuesday`; if nothing is new, a text about the last sale. */
function renderNews({ agents: all }: Wall, { blocks, agents, since }: News): readonly (Node | string)[] {
  if (typeof since === 'object') {
    const owner = all[since.agent]
    return [
      `Last sale ${formatRelativeTime(since.lastAt, Date.now())}, to `,
      createElement('bdi', owner ? formatAgentName(owner) : ''),
    ]
  }
  const when = since === 'today' ? since : formatSince(since, Date.now())
  return [`${formatBlocks(blocks.length)} by ${formatCountWithNoun(agents, 'agent')} ${when}`]
}

const formatSize = (blocks: number) => (blocks === 1 ? 'a block' : formatBlocks(blocks))

/** The newest purchase's blocks that the page has read so far; they share an owner and a time. */
function findLastPurchase({ claims, stats, changed }: Wall): BlockIndex[] {
  const newest = (changed ?? []).findLast((block) => claims.get(block)?.t === stats.lastClaimedAt)
  const last = newest === undefined ? undefined : claims.get(newest)
  if (last === undefined) return []
  return [...claims].flatMap(([block, { a, t }]) => (a === last.a && t === last.t ? [block] : []))
}
