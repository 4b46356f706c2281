/** The page's theme, which follows the system until the user chooses one. */

import { THEMES, themes, type Theme, type ThemeName } from './theme.ts'

export type Appearance = {
  theme(): Theme
  name(): ThemeName
  /** What the user chose; the system's preference when undefined. */
  chosen(): ThemeName | undefined
  choose(name: ThemeName | undefined): void
}

// In the browser's storage.
const STORAGE_KEY = 'theme'

/** Shows the theme on the page, and calls `onChange` when it changes. */
export function createAppearance(onChange: () => void): Appearance {
  const light = window.matchMedia('(prefers-color-scheme: light)')
  const strong = window.matchMedia('(prefers-contrast: more)')
  let chosen = THEMES.find((name) => name === storedName())
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
      store(next)
      show()
    },
  }
}

// A browser may refuse storage to a page; the choice then lasts as long as the page.
function storedName(): string | undefined {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? undefined
  } catch {
    return undefined
  }
}

function store(name: ThemeName | undefined) {
  try {
    if (name === undefined) localStorage.removeItem(STORAGE_KEY)
    else localStorage.setItem(STORAGE_KEY, name)
  } catch {
    // The choice lasts as long as the page.
  }
}
