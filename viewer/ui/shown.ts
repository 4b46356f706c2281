/** Shows the current selection as chips on the stage, each with a way back, and in the window’s title. */

import { titleOf } from '../../shared/titles.ts'
import { coordOf } from '../../shared/wall.ts'
import type { Component, Page } from '../page.ts'
import { type Panel, type State, differs, shownWall } from '../state.ts'
import { artworkAt } from '../wall/artworks.ts'
import { dateText, nameOf } from '../wall/formatting.ts'
import { button, createElement, refill } from './dom.ts'

/** A chip opens the panel with details; if that is open, there is no chip. */
export function createChips(page: Page, stage: HTMLElement): Component {
  const element = createElement('div.chips')
  stage.append(element)
  const chip = (panel: Panel, name: Node | string, back: string, leave: () => void) =>
    createElement(
      'div.chip',
      button('', [name], () => page.dispatch({ do: 'open', panel })),
      button('', [back], leave),
    )
  const fill = ({ wall, agent, at, panel }: State) => {
    const owner = agent === undefined ? undefined : wall?.agents[agent]
    const present = () => page.dispatch({ do: 'seek', at: undefined })
    const everyone = () => page.dispatch({ do: 'select-agent', agent: undefined })
    refill(element, [
      ...(at === undefined || panel === 'time' ? [] : [chip('time', dateText(at), 'Now', present)]),
      ...(owner === undefined || panel === 'profile'
        ? []
        : [chip('profile', createElement('bdi', nameOf(owner)), 'Deselect', everyone)]),
    ])
  }
  return {
    update(next, before) {
      if (differs(next, before, 'agent', 'panel', 'at') || (next.agent !== undefined && next.wall !== before.wall))
        fill(next)
    },
  }
}

/** A part that sets the window's title. */
export function createTitle(): Component {
  const site = document.title
  return {
    update(next, before) {
      if (!differs(next, before, 'pinned', 'agent', 'at', 'wall')) return
      const subject = shownSubject(next)
      document.title = subject === undefined ? site : `${subject} · ${site}`
    },
  }
}

function shownSubject(state: State): string | undefined {
  const { pinned, agent, at } = state
  const wall = shownWall(state)
  if (wall === undefined) return undefined
  const work = pinned === undefined ? undefined : artworkAt(wall, pinned, at)
  const owner = wall.agents[work?.agent ?? agent ?? -1]
  if (work !== undefined && owner !== undefined) return `${titleOf(work.message)} by ${nameOf(owner)}`
  if (pinned !== undefined) return `Block ${coordOf(pinned)}`
  if (owner !== undefined) return nameOf(owner)
  return at === undefined ? undefined : dateText(at)
}
