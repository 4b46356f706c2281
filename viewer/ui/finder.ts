/** The panel with the search and the lists of artworks and agents. */

import { blocksText, countOf, countText } from '../../shared/money.ts'
import { coordOf } from '../../shared/wall.ts'
import type { Page, PanelContent } from '../page.ts'
import { type State, differs } from '../state.ts'
import { artworksOf } from '../wall/artworks.ts'
import { nameOf } from '../wall/formatting.ts'
import { type Hit, type SortOrder, ordered, search } from '../wall/search.ts'
import type { Wall } from '../wall/wall-model.ts'
import { button, createElement, refill, strangersText } from './dom.ts'
import { listButton, workButton } from './label/works.ts'

const HITS_MAX = 60
const PAGE = 60

const orders: readonly (readonly [SortOrder, string])[] = [
  ['newest-works', 'Artworks, newest first'],
  ['largest-works', 'Artworks, largest first'],
  ['arrival', 'Agents, earliest first'],
  ['blocks', 'Agents, most blocks first'],
  ['latest', 'Agents, latest purchase first'],
]

/** A search field over a list of artworks or agents. */
export function createFinder(page: Page): PanelContent {
  const field = createElement('input')
  field.type = 'search'
  field.placeholder = 'Word, name, 0x12… or 80,45'
  field.ariaLabel = 'Search artworks and agents by word, name, wallet or coordinate'
  field.autocomplete = 'off'
  const order = createElement('select', ...orders.map(([value, text]) => new Option(text, value)))
  order.ariaLabel = 'List and order'
  const found = createElement('p.found')
  found.role = 'status'
  const list = createElement('ul.works')
  let shown = PAGE

  const fill = (state: State) => {
    const { wall } = state
    if (wall === undefined) return
    const searching = field.value.trim() !== ''
    order.hidden = searching
    const all = searching ? search(wall, field.value, HITS_MAX) : ordered(wall, orderNamed(order.value))
    const hits = all.slice(0, shown)
    found.textContent = searching ? hitsText(all.length) : listText(wall, all)
    const rest = all.length - hits.length
    const more = button('more', [`Show more (${countText(rest)} left)`], () => {
      shown += PAGE
      fill(page.state())
    })
    const items = hits.map((hit) => createElement('li', hitButton(wall, hit, state, page)))
    refill(list, [...items, ...(rest > 0 ? [createElement('li.rest', more)] : [])])
  }

  const beginAgain = () => {
    shown = PAGE
    fill(page.state())
  }
  field.addEventListener('input', beginAgain)
  order.addEventListener('change', beginAgain)
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    // Otherwise the key would also press the button that gets the focus when the panel closes.
    event.preventDefault()
    list.querySelector('button')?.click()
  })
  return {
    title: 'Find',
    body: [field, createElement('div.pair', found, order), list],
    update(state, before) {
      if (state === before || differs(state, before, 'wall', 'agent')) fill(state)
    },
  }
}

const orderNamed = (value: string): SortOrder => orders.find(([order]) => order === value)?.[0] ?? 'newest-works'

const listText = (wall: Wall, [first]: readonly Hit[]) =>
  first?.kind === 'agent' ? countOf(wall.agents.length, 'agent') : countOf(artworksOf(wall).length, 'artwork')

const hitsText = (count: number) =>
  count === 0 ? 'Nothing found' : count >= HITS_MAX ? `First ${HITS_MAX} results` : `${count} found`

function hitButton(wall: Wall, hit: Hit, state: State, page: Page): HTMLElement {
  if (hit.kind === 'work') return workButton(page, hit.work, true)
  if (hit.kind === 'block')
    return listButton(
      `block ${hit.block}`,
      [createElement('span.thumb'), createElement('span.name', `Block ${coordOf(hit.block)}`), 'available'],
      () => page.dispatch({ do: 'go', to: hit.block }),
    )
  const agent = wall.agents[hit.agent]
  if (agent === undefined) return createElement('span')
  const name = strangersText(agent.name === null ? 'span.name.unnamed' : 'span.name', nameOf(agent))
  const rank = createElement('span.rank', `#${agent.id}`)
  const element = listButton(
    `agent ${agent.id}`,
    [rank, name, `${blocksText(agent.blocks)} · `, createElement('code', agent.wallet)],
    () => page.dispatch({ do: 'select-agent', agent: page.state().agent === hit.agent ? undefined : hit.agent }),
  )
  element.ariaPressed = String(state.agent === hit.agent)
  return element
}
