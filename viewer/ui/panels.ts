/** The panels next to the wall; at most one is open at a time. */

import type { PanelContent, Page, Component } from '../page.ts'
import type { Panel, State } from '../state.ts'
import { createAbout } from './about.ts'
import { createButton, queryElement, createElement } from './dom.ts'
import { createFinder } from './finder.ts'
import { createInvite } from './invite.ts'
import { createProfile } from './label/profile.ts'
import { createTimeline } from './past/timeline.ts'
import { createShare } from './share.ts'
import { createTour } from './tour.ts'
import { createViews } from './views.ts'

const contents: Readonly<Record<Panel, (page: Page) => PanelContent>> = {
  find: createFinder,
  view: createViews,
  time: createTimeline,
  tour: createTour,
  share: createShare,
  about: createAbout,
  agent: createInvite,
  profile: createProfile,
}

/** Shows the panel that is open in the state. */
export function createPanels(page: Page): Component {
  const element = queryElement('panel', HTMLElement)
  let open: PanelContent | undefined

  const fillPanel = (panel: Panel, state: State) => {
    open = contents[panel](page)
    const close = createButton('close', ['×'], () => page.dispatch({ do: 'open', panel }))
    close.ariaLabel = `Close ${open.title}`
    element.className = panel
    element.ariaLabel = open.title
    element.replaceChildren(createElement('h2', open.title), close, ...open.body)
    element.hidden = false
    open.update?.(state, state)
    // No field gets the focus on a touch screen, because the on-screen keyboard would cover the list.
    const isTouched = window.matchMedia('(pointer: coarse)').matches
    const first = isTouched ? undefined : element.querySelector<HTMLElement>('input, select, button:not(.close)')
    ;(first ?? close).focus({ preventScroll: true })
  }

  const clearPanel = (panel: Panel) => {
    open?.close?.()
    open = undefined
    const focused = element.contains(document.activeElement)
    element.hidden = true
    element.replaceChildren()
    if (focused)
      (document.querySelector<HTMLElement>(`[data-panel="${panel}"]`) ?? queryElement('wall', HTMLElement)).focus()
  }

  return {
    update(next, before) {
      if (next.panel === before.panel) return open?.update?.(next, before)
      if (before.panel !== undefined) clearPanel(before.panel)
      if (next.panel !== undefined) fillPanel(next.panel, next)
    },
  }
}
