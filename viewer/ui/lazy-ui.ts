/** The components of the page that load after the wall has begun to arrive. */

import { createHistoryLoader } from '../data/history-loader.ts'
import { keepOffline } from '../data/keep-offline.ts'
import type { CanvasReader } from '../data/read-canvas.ts'
import { syncWall } from '../data/sync.ts'
import type { Page, Component } from '../page.ts'
import { createAmbient } from './ambient.ts'
import { query } from './dom.ts'
import { createEmptyState } from './empty-state.ts'
import { createAgentWorks } from './label/agent-works.ts'
import { createLabel } from './label/label.ts'
import { createMinimap } from './minimap.ts'
import { createPanels } from './panels.ts'
import { createPulses } from './pulses.ts'
import { createTicker } from './ticker.ts'
import { createTicks } from './ticks.ts'
import { createTitle } from './title.ts'
import { createTooltip } from './tooltip.ts'

/** Builds the components in their places, and keeps the wall up to date once all of it has arrived. */
export function createLazyUi(page: Page, readCanvas: CanvasReader, signal: AbortSignal): Component {
  const stale = query('stale', HTMLElement)
  const stage = query('stage', HTMLElement)
  const components: Component[] = [
    createAmbient(stage),
    createTicks(stage),
    createLabel(page),
    createPanels(page),
    createAgentWorks(page, stage),
    createMinimap(page, stage),
    createTicker(page, stage),
    createEmptyState(page, stage),
    createTooltip(page, stage),
    createTitle(),
    createPulses(stage),
    createHistoryLoader(page, signal),
  ]
  const syncDeps = {
    readCanvas,
    wall: () => page.state().wall,
    show: page.showWall,
    stale: (words: string) => void (stale.textContent = words),
  }
  let following = false
  return {
    update(next, before) {
      for (const component of components) component.update(next, before)
      // Older rows of a wall that is still arriving would overwrite the changes.
      if (!following && next.wall?.complete) {
        following = true
        syncWall(syncDeps, signal)
        if (!document.body.classList.contains('embed')) keepOffline(signal)
      }
    },
    frame: (state) => components.forEach((component) => component.frame?.(state)),
    restyle: (state) => components.forEach((component) => component.restyle?.(state)),
  }
}
