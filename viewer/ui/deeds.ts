/** Shows the card of the block that is looked at, and tells it to those who hear the page. */

import type { BlockIndex } from '../../shared/wall.ts'
import { boxOf, placeCard } from '../camera/hover.ts'
import type { Source } from '../data/source.ts'
import type { Page, Part } from '../page.ts'
import { shownBlock, shownWall, type State } from '../state.ts'
import { nearestOpen, workAt } from '../wall/artworks.ts'
import { spoken } from '../wall/formatting.ts'
import { plotAt } from '../wall/wall-model.ts'
import { createCard } from './card.ts'
import { find } from './dom.ts'

// A deed is asked for, and told, once pointer or cursor rests; sweeping over the wall asks for none.
const REST_MS = 150

// A card of this share of the stage's width lies along its lower edge.
const WIDE_CARD = 0.8
const UNCOVERED_PX = 28

/** The card and the hidden words beside it. */
export function createDeeds(page: Page, source: Source): Part {
  const told = find('spoken', HTMLElement)
  const card = createCard(find('card', HTMLElement), {
    close: () => page.send({ do: 'dismiss' }),
    choose: (agent) => page.send({ do: 'choose', agent }),
    go: (to) => page.send({ do: 'go', to }),
  })
  let wanted = new AbortController()
  let shownAs: BlockIndex | undefined // pinned

  /** Where the card lies along the stage's lower edge, as on a phone, it must not hide its own block. */
  const uncover = ({ camera, view }: State, block: BlockIndex) => {
    const { width, height } = card.size()
    if (width < view.width * WIDE_CARD) return
    const box = boxOf(camera, view, block)
    const hidden = box.top + box.height - (view.height - height - UNCOVERED_PX)
    if (hidden > 0) page.send({ do: 'pan', dx: 0, dy: -hidden })
  }

  const fill = (state: State) => {
    wanted.abort()
    wanted = new AbortController()
    const { signal } = wanted
    const block = shownBlock(state)
    const { wall, at } = state
    if (wall === undefined || block === undefined) {
      shownAs = undefined
      return card.hide()
    }
    const plot = plotAt(shownWall(state) ?? wall, block, at)
    // Of a block whose row has not arrived nothing is known.
    if (plot.kind === 'open' && !wall.complete) return card.hide()
    const work = plot.kind === 'claimed' ? workAt(wall, block) : []
    const { network } = wall.pricing
    const pinned = state.pinned === block
    const isNew = pinned && shownAs !== block
    shownAs = pinned ? block : undefined
    card.show(plot, pinned, { work, neighbour: nearestOpen(wall, block), network, theme: page.look.theme() })
    if (isNew) uncover(state, block)
    setTimeout(() => {
      if (signal.aborted) return
      if (pinned || state.cursor === block) told.textContent = spoken(plot, work)
      if (plot.kind === 'claimed') void addPayment(signal)
    }, REST_MS)

    async function addPayment(until: AbortSignal) {
      const deed = block === undefined ? undefined : await source.deed(block, until)
      if (deed && !until.aborted) card.addPayment(deed, network)
    }
  }

  return {
    update(next, before) {
      const other = shownBlock(next) !== shownBlock(before)
      const otherWall = shownWall(next) !== shownWall(before) || next.at !== before.at
      if (other || otherWall || next.pinned !== before.pinned) fill(next)
    },
    restyle: fill,
    frame(state) {
      const block = shownBlock(state)
      if (block === undefined) return
      card.moveTo(placeCard(boxOf(state.camera, state.view, block), card.size(), state.view))
    },
  }
}
