/** Searching, and the list of agents: the wall for those who would rather read it. */

import { coordOf } from '../../shared/wall.ts'
import type { Content, Page } from '../page.ts'
import type { State } from '../state.ts'
import { blocksText, countText, nameOf } from '../wall/formatting.ts'
import { find, ordered, type Hit, type Order } from '../wall/search.ts'
import type { Wall } from '../wall/wall-model.ts'
import { button, make, strangersText } from './dom.ts'

const HITS_MAX = 60
const AGENTS_MAX = 100

const orders: readonly (readonly [Order, string])[] = [
  ['rank', 'by arrival'],
  ['blocks', 'by blocks'],
  ['newest', 'newest first'],
]

/** A search field over a list that is all agents until something is searched. */
export function createFinder(page: Page): Content {
  const field = make('input', '')
  field.type = 'search'
  field.placeholder = '80,45 · a name · 0x12… · a word'
  field.ariaLabel = 'Search by coordinate, agent, wallet or message'
  field.autocomplete = 'off'
  const order = make('select', '', ...orders.map(([value, text]) => new Option(text, value)))
  order.ariaLabel = 'Order of the agents'
  const found = make('p', 'found')
  found.role = 'status'
  const list = make('ul', 'list')
  let shown = AGENTS_MAX

  const fill = (state: State) => {
    const { wall } = state
    if (wall === undefined) return
    const searching = field.value.trim() !== ''
    order.hidden = searching
    const hits = searching ? find(wall, field.value, HITS_MAX) : agentHits(wall, chosenOrder(order.value), shown)
    found.textContent = searching ? hitsText(hits.length) : `${countText(wall.agents.length)} agents`
    const rest = searching ? 0 : wall.agents.length - hits.length
    const more = button('more', [`Show more of ${countText(rest)}`], () => {
      shown += AGENTS_MAX
      fill(page.state())
    })
    const items = hits.map((hit) => make('li', '', hitButton(wall, hit, state, page)))
    list.replaceChildren(...items, ...(rest > 0 ? [make('li', '', more)] : []))
  }

  const refill = () => fill(page.state())
  field.addEventListener('input', refill)
  order.addEventListener('change', refill)
  field.addEventListener('keydown', ({ key }) => key === 'Enter' && list.querySelector('button')?.click())
  return {
    title: 'Find',
    body: [field, make('div', 'line', found, order), list],
    update(state, before) {
      if (state === before || state.wall !== before.wall) fill(state)
      else if (state.agent !== before.agent) markChosen(list, state.agent)
    },
  }
}

const chosenOrder = (value: string): Order => orders.find(([order]) => order === value)?.[0] ?? 'rank'

const agentHits = (wall: Wall, order: Order, max: number): Hit[] =>
  ordered(wall, order)
    .slice(0, max)
    .map((agent) => ({ kind: 'agent', agent }))

const hitsText = (count: number) =>
  count === 0 ? 'Nothing found' : count >= HITS_MAX ? `The first ${HITS_MAX}` : `${count} found`

function hitButton(wall: Wall, hit: Hit, state: State, page: Page): HTMLElement {
  if (hit.kind === 'block') {
    const text = hit.message === undefined ? [] : [strangersText('span', 'said', hit.message)]
    return button('hit', [make('span', 'rank', coordOf(hit.block)), ...text], () =>
      page.send({ do: 'go', to: hit.block }),
    )
  }
  const agent = wall.agents[hit.agent]
  if (agent === undefined) return make('span', '')
  const name =
    agent.name === null ? make('span', 'name unnamed', nameOf(agent)) : strangersText('span', 'name', agent.name)
  const content = [
    make('span', 'rank', `#${agent.id}`),
    name,
    make('code', '', agent.wallet),
    make('span', 'count', blocksText(agent.blocks)),
  ]
  const element = button('hit agent', content, () => {
    page.send({ do: 'choose', agent: page.state().agent === hit.agent ? undefined : hit.agent })
  })
  element.dataset['agent'] = String(hit.agent)
  element.ariaPressed = String(state.agent === hit.agent)
  return element
}

function markChosen(list: HTMLElement, agent: number | undefined) {
  for (const element of list.querySelectorAll<HTMLElement>('.agent')) {
    element.ariaPressed = String(element.dataset['agent'] === String(agent))
  }
}
