/** The components of the page that load after the wall has begun to arrive. */

import type { Component, Page } from '../page.ts'
import { createAmbient } from './ambient.ts'
import { queryElement } from './dom.ts'
import { createEmptyState } from './empty-state.ts'
import { createAgentWorks } from './label/agent-works.ts'
import { createLabel } from './label/label.ts'
import { createMinimap } from './minimap.ts'
import { createNews } from './news.ts'
import { createPanels } from './panels.ts'
import { createHistoryLoader } from './past/history-loader.ts'
import { createPulses } from './pulses.ts'
import { createChips, createTitle } from './shown.ts'
import { createTicks } from './ticks.ts'
import { createTooltip } from './tooltip.ts'
import '../styles/label.css'
import '../styles/panel.css'

export { keepCopies } from '../data/keep-copies.ts'

/** Creates the components, combined into one. */
export function createLazyUi(page: Page): Component {
  const stage = queryElement('stage', HTMLElement)
  const drawTicks = createTicks(stage)
  const components: Component[] = [
    createAmbient(stage),
    createLabel(page),
    createPanels(page),
    createAgentWorks(stage),
    createChips(page, stage),
    createNews(page),
    createMinimap(page, stage),
    createEmptyState(page, stage),
    createTooltip(page, stage),
    createTitle(),
    createPulses(stage),
    createHistoryLoader(page),
  ]
  return {
    update: (next, before) => components.forEach((component) => component.update(next, before)),
    onDraw(state) {
      drawTicks(state.camera, state.view, state.cursor !== undefined)
      for (const component of components) component.onDraw?.(state)
    },
    restyle: (state) => components.forEach((component) => component.restyle?.(state)),
  }
}
