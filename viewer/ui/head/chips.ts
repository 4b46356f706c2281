/** Chips on the stage: the moment and the agent that are shown, each with the way back. */

import type { Component, Page } from '../../page.ts'
import type { Panel, State } from '../../state.ts'
import { dateText, nameOf } from '../../wall/formatting.ts'
import { button, createElement, refill } from '../dom.ts'

/** A chip opens the panel that says more; where that is open, there is no chip. */
export function createChips(page: Page, stage: HTMLElement): Component {
  const element = createElement('div', 'chips')
  stage.append(element)
  const chip = (panel: Panel, name: Node | string, back: string, leave: () => void) =>
    createElement(
      'div',
      'chip',
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
        : [chip('profile', createElement('bdi', '', nameOf(owner)), 'Show all agents', everyone)]),
    ])
  }
  return {
    update(next, before) {
      const isSame = next.agent === before.agent && next.panel === before.panel && next.at === before.at
      if (!isSame || (next.agent !== undefined && next.wall !== before.wall)) fill(next)
    },
  }
}
