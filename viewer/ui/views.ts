/** The panel with the overlay and the theme. */

import type { PanelContent, Page } from '../page.ts'
import { THEMES, type ThemeName } from '../theme.ts'
import { OVERLAYS, legendOf, type Overlay } from '../wall/overlay.ts'
import { createElement } from './dom.ts'

const overlayNames: Readonly<Record<Overlay, string>> = {
  none: 'Pictures as painted',
  open: 'What is unclaimed',
  framework: 'Framework of each agent',
}

const themeNames: Readonly<Record<ThemeName | 'system', string>> = {
  system: 'As the system',
  light: 'Light',
  dark: 'Dark',
  contrast: 'High contrast',
}

/** Why neither an overlay nor the past can be shown. */
export const CANNOT = 'This browser draws on no canvas, so only a picture of the wall as it is now can be shown.'

/** Two choices, and the overlay's legend. */
export function createViews(page: Page): PanelContent {
  const legend = createElement('ul.legend')
  const overlays = choice('Colours', 'overlay', OVERLAYS, overlayNames, page.state().overlay, (overlay) =>
    page.dispatch({ do: 'set-overlay', overlay }),
  )
  const themes = choice(
    'Theme',
    'theme',
    ['system', ...THEMES],
    themeNames,
    page.appearance.chosen() ?? 'system',
    (name) => page.appearance.choose(name === 'system' ? undefined : name),
  )
  return {
    title: 'View',
    body: page.showsOverlays() ? [overlays, legend, themes] : [createElement('p', CANNOT), themes],
    update({ wall, overlay }, before) {
      for (const input of overlays.querySelectorAll('input')) input.checked = input.value === overlay
      if (wall === undefined || (wall === before.wall && overlay === before.overlay && legend.hasChildNodes())) return
      legend.replaceChildren(
        ...legendOf(wall, overlay).map(({ colour, text }) =>
          createElement('li', swatch(colour), createElement('bdi', text)),
        ),
      )
      legend.hidden = !legend.hasChildNodes()
    },
  }
}

function choice<Value extends string>(
  title: string,
  name: string,
  values: readonly Value[],
  names: Readonly<Record<Value, string>>,
  chosen: Value,
  onChoose: (value: Value) => void,
): HTMLElement {
  const options = values.map((value) => {
    const input = createElement('input')
    input.type = 'radio'
    input.name = name
    input.value = value
    input.checked = value === chosen
    input.addEventListener('change', () => onChoose(value))
    return createElement('label', input, names[value])
  })
  return createElement('fieldset', createElement('legend', title), ...options)
}

function swatch(colour: string): HTMLElement {
  const element = createElement('span.swatch')
  element.style.background = colour
  return element
}
