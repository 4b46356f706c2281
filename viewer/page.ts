/** What the components of the page share: the state, and the theme. */

import type { Action, State } from './state.ts'
import { THEMES, themes, type Theme, type ThemeName } from './theme.ts'
import type { Wall } from './wall/wall-model.ts'

export type Page = {
  state(): State
  dispatch(action: Action): void
  showWall(wall: Wall): void
  /** Whether the GPU draws. Only then the stage's pixels can be read. */
  onGpu(): boolean
  /** Whether overlays and the past can be shown; not where the server's picture stands in for the wall. */
  showsOverlays(): boolean
  /** Draws now and answers the stage's canvas while its pixels can be read. */
  drawn(): HTMLCanvasElement
  readonly appearance: Appearance
}

/** A part that follows the state; built after the first drawing. */
export type Component = {
  /** The state has changed. */
  update(next: State, before: State): void
  /** The stage has been drawn. */
  frame?(state: State): void
  /** The theme has changed. */
  restyle?(state: State): void
}

/** The content of a panel; `update` is called while it is open. */
export type PanelContent = {
  readonly title: string
  readonly body: readonly Node[]
  update?(state: State, before: State): void
  /** The panel is closed. */
  close?(): void
}

export type Appearance = {
  theme(): Theme
  name(): ThemeName
  /** What the user chose; the system's preference when undefined. */
  chosen(): ThemeName | undefined
  choose(name: ThemeName | undefined): void
}

const KEPT_AS = 'theme'

/** The page's theme, which follows the system until the user chooses one. */
export function createAppearance(onChange: () => void): Appearance {
  const light = window.matchMedia('(prefers-color-scheme: light)')
  const strong = window.matchMedia('(prefers-contrast: more)')
  let chosen = THEMES.find((name) => name === recall())
  const name = (): ThemeName => chosen ?? (strong.matches ? 'contrast' : light.matches ? 'light' : 'dark')
  const show = () => {
    document.documentElement.dataset['theme'] = name()
    onChange()
  }
  document.documentElement.dataset['theme'] = name()
  light.addEventListener('change', show)
  strong.addEventListener('change', show)
  return {
    theme: () => themes[name()],
    name,
    chosen: () => chosen,
    choose(next) {
      chosen = next
      remember(next)
      show()
    },
  }
}

// A browser may refuse storage to a page; the choice then lasts as long as the page.
function recall(): string | undefined {
  try {
    return localStorage.getItem(KEPT_AS) ?? undefined
  } catch {
    return undefined
  }
}

function remember(name: ThemeName | undefined) {
  try {
    if (name === undefined) localStorage.removeItem(KEPT_AS)
    else localStorage.setItem(KEPT_AS, name)
  } catch {
    // The choice lasts as long as the page.
  }
}
