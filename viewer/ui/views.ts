/** The panel in which the user chooses the overlay and the theme. */

import type { PanelContent, Page } from '../page.ts'
import { createLegend } from '../wall/overlay.ts'
import { createElement } from './dom.ts'

const OVERLAYS = [
  ['none', 'Original pictures'],
  ['open', 'Available blocks'],
  ['framework', 'Agent frameworks'],
] as const

const THEMES = [
  ['system', 'Match system'],
  ['dark', 'Dark'],
  ['light', 'Light'],
  ['contrast', 'High contrast'],
] as const

/** The choices of overlay and theme, and the legend of the overlay. */
export function createViews(page: Page): PanelContent {
  const legend = createElement('ul.legend')
  const overlays = createChoice('Colour by', OVERLAYS, page.getState().overlay, (overlay) =>
    page.dispatch({ do: 'set-overlay', overlay }),
  )
  const themes = createChoice('Theme', THEMES, page.appearance.getChosenTheme() ?? 'system', (name) =>
    page.appearance.chooseTheme(name === 'system' ? undefined : name),
  )
  return {
    title: 'View',
    body: [overlays, legend, themes],
    update({ wall, overlay }, before) {
      for (const input of overlays.querySelectorAll('input')) input.checked = input.value === overlay
      if (wall === undefined || (wall === before.wall && overlay === before.overlay && legend.hasChildNodes())) return
      legend.replaceChildren(
        ...createLegend(wall, overlay).map(({ colour, text }) =>
          createElement('li', createSwatch(colour), createElement('bdi', text)),
        ),
      )
      legend.hidden = !legend.hasChildNodes()
    },
  }
}

function createChoice<Value extends string>(
  title: string,
  options: readonly (readonly [Value, string])[],
  chosen: Value,
  onChoose: (value: Value) => void,
): HTMLElement {
  const labels = options.map(([value, text]) => {
    const radio = { type: 'radio', name: title, value, checked: value === chosen }
    const input = Object.assign(createElement('input'), radio)
    input.addEventListener('change', () => onChoose(value))
    return createElement('label', input, text)
  })
  return createElement('fieldset', createElement('legend', title), ...labels)
}

function createSwatch(colour: string): HTMLElement {
  const element = createElement('span.swatch')
  element.style.background = colour
  return element
}
