/** The page's theme, which follows the system until the user chooses one. */

import { THEMES, themes, type Theme, type ThemeName } from './theme.ts'

export type Appearance = ReturnType<typeof createAppearance>

// The key in the browser's storage.
const STORAGE_KEY = 'theme'

/** Shows the theme on the page, and calls `onChange` when it changes. */
export function createAppearance(onChange: () => void) {
  const light = window.matchMedia('(prefers-color-scheme: light)')
  const strong = window.matchMedia('(prefers-contrast: more)')
  let chosenName = THEMES.find((name) => name === readStored(STORAGE_KEY))
  const themeName = (): ThemeName => chosenName ?? (strong.matches ? 'contrast' : light.matches ? 'light' : 'dark')
  const applyTheme = () => {
    document.documentElement.dataset['theme'] = themeName()
    onChange()
  }
  document.documentElement.dataset['theme'] = themeName()
  light.addEventListener('change', applyTheme)
  strong.addEventListener('change', applyTheme)
  return {
    theme: (): Theme => themes[themeName()],
    /** The user's choice; the system's preference if undefined. */
    chosen: () => chosenName,
    choose(next: ThemeName | undefined) {
      chosenName = next
      store(STORAGE_KEY, next)
      applyTheme()
    },
  }
}

/** The stored value of a name; `undefined` if the browser refuses storage. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores a value under a name, or removes it; without storage, the value lasts as long as the page. */
export function store(name: string, value: string | undefined) {
  try {
    if (value === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // As if nothing was stored.
  }
}
