/** Shows the current selection as chips on the stage, each with a button to undo it, and in the window’s title. */

import { formatTitle } from '../../shared/titles.ts'
import { formatCoord } from '../../shared/wall.ts'
import type { Component, Page } from '../page.ts'
import { type Panel, type State, differsIn, selectShownWall } from '../state.ts'
import { findArtwork } from '../wall/artworks.ts'
import { formatDate, formatAgentName } from '../wall/formatting.ts'
import { createButton, createElement, replaceContent } from './dom.ts'

/** Each chip opens the panel that shows what is selected, and is hidden while that panel is open. */
export function createChips(page: Page, stage: HTMLElement): Component {
  const element = createElement('div.chips')
  stage.append(element)
  const createChip = (panel: Panel, name: Node | string, back: string, leave: () => void) =>
    createElement(
      'div.chip',
      createButton('', [name], () => page.dispatch({ do: 'open', panel })),
      createButton('', [back], leave),
    )
  const fillChips = ({ wall, agent, at, panel }: State) => {
    const owner = agent === undefined ? undefined : wall?.agents[agent]
    const showPresent = () => page.dispatch({ do: 'seek', at: undefined })
    const showEveryone = () => page.dispatch({ do: 'select-agent', agent: undefined })
    replaceContent(element, [
      ...(at === undefined || panel === 'time' ? [] : [createChip('time', formatDate(at), 'Now', showPresent)]),
      ...(owner === undefined || panel === 'profile'
        ? []
        : [createChip('profile', createElement('bdi', formatAgentName(owner)), 'Deselect', showEveryone)]),
    ])
  }
  return {
    update(next, before) {
      if (differsIn(next, before, 'agent', 'panel', 'at') || (next.agent !== undefined && next.wall !== before.wall))
        fillChips(next)
    },
  }
}

/** A component that sets the window's title. */
export function createTitle(): Component {
  const site = document.title
  return {
    update(next, before) {
      if (!differsIn(next, before, 'pinned', 'agent', 'at', 'wall')) return
      const subject = nameShownSubject(next)
      document.title = subject === undefined ? site : `${subject} · ${site}`
    },
  }
}

function nameShownSubject(state: State): string | undefined {
  const { pinned, agent, at } = state
  const wall = selectShownWall(state)
  if (wall === undefined) return undefined
  const work = pinned === undefined ? undefined : findArtwork(wall, pinned, at)
  const owner = wall.agents[work?.agent ?? agent ?? -1]
  if (work !== undefined && owner !== undefined) return `${formatTitle(work.message)} by ${formatAgentName(owner)}`
  if (pinned !== undefined) return `Block ${formatCoord(pinned)}`
  if (owner !== undefined) return formatAgentName(owner)
  return at === undefined ? undefined : formatDate(at)
}
