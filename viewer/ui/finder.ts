/** The panel with the search and the lists of artworks and agents. */

import { formatBlocks, formatCountWithNoun, formatCount } from '../../shared/money.ts'
import { formatCoord } from '../../shared/wall.ts'
import type { Page, PanelContent } from '../page.ts'
import { type State, differsIn } from '../state.ts'
import { listArtworks } from '../wall/artworks.ts'
import { formatAgentName } from '../wall/formatting.ts'
import { type Hit, type SortOrder, listHitsInOrder, searchWall } from '../wall/search.ts'
import type { Wall } from '../wall/wall-model.ts'
import { createButton, createElement, replaceContent, createUntrustedText } from './dom.ts'
import { createListButton, createWorkButton } from './label/works.ts'

const HITS_MAX = 60
const PAGE = 60

const orders: readonly (readonly [SortOrder, string])[] = [
  ['newest-works', 'Artworks, newest first'],
  ['largest-works', 'Artworks, largest first'],
  ['arrival', 'Agents, earliest first'],
  ['blocks', 'Agents, most blocks first'],
  ['latest', 'Agents, latest purchase first'],
]

/** A search field above a list of artworks or agents. */
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

  const fillList = (state: State) => {
    const { wall } = state
    if (wall === undefined) return
    const searching = field.value.trim() !== ''
    order.hidden = searching
    const all = searching ? searchWall(wall, field.value, HITS_MAX) : listHitsInOrder(wall, parseOrder(order.value))
    const hits = all.slice(0, shown)
    found.textContent = searching ? formatHitCount(all.length) : describeList(wall, all)
    const rest = all.length - hits.length
    const more = createButton('more', [`Show more (${formatCount(rest)} left)`], () => {
      shown += PAGE
      fillList(page.getState())
    })
    const items = hits.map((hit) => createElement('li', createHitButton(wall, hit, state, page)))
    replaceContent(list, [...items, ...(rest > 0 ? [createElement('li.rest', more)] : [])])
  }

  const restartList = () => {
    shown = PAGE
    fillList(page.getState())
  }
  field.addEventListener('input', restartList)
  order.addEventListener('change', restartList)
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    // Without this call, the key would also press the button that gets the focus when the panel closes.
    event.preventDefault()
    list.querySelector('button')?.click()
  })
  return {
    title: 'Find',
    body: [field, createElement('div.pair', found, order), list],
    update(state, before) {
      if (state === before || differsIn(state, before, 'wall', 'agent')) fillList(state)
    },
  }
}

const parseOrder = (value: string): SortOrder => orders.find(([order]) => order === value)?.[0] ?? 'newest-works'

const describeList = (wall: Wall, [first]: readonly Hit[]) =>
  first?.kind === 'agent'
    ? formatCountWithNoun(wall.agents.length, 'agent')
    : formatCountWithNoun(listArtworks(wall).length, 'artwork')

const formatHitCount = (count: number) =>
  count === 0 ? 'Nothing found' : count >= HITS_MAX ? `First ${HITS_MAX} results` : `${count} found`

function createHitButton(wall: Wall, hit: Hit, state: State, page: Page): HTMLElement {
  if (hit.kind === 'work') return createWorkButton(page, hit.work, true)
  if (hit.kind === 'block')
    return createListButton(
      `block ${hit.block}`,
      [createElement('span.thumb'), createElement('span.name', `Block ${formatCoord(hit.block)}`), 'available'],
      () => page.dispatch({ do: 'go', to: hit.block }),
    )
  const agent = wall.agents[hit.agent]
  if (agent === undefined) return createElement('span')
  const name = createUntrustedText(agent.name === null ? 'span.name.unnamed' : 'span.name', formatAgentName(agent))
  const rank = createElement('span.rank', `#${agent.id}`)
  const element = createListButton(
    `agent ${agent.id}`,
    [rank, name, `${formatBlocks(agent.blocks)} · `, createElement('code', agent.wallet)],
    () => page.dispatch({ do: 'select-agent', agent: page.getState().agent === hit.agent ? undefined : hit.agent }),
  )
  element.ariaPressed = String(state.agent === hit.agent)
  return element
}
