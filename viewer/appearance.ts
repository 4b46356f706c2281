/** The page's theme, which follows the system unless the user has chosen a theme. */

import { THEMES, themes, type Theme, type ThemeName } from './theme.ts'

export type Appearance = ReturnType<typeof createAppearance>

// The `localStorage` key of the chosen theme.
const STORAGE_KEY = 'theme'

/** Applies the theme to the page, and calls `onChange` when the theme changes. */
export function createAppearance(onChange: () => void) {
  const light = window.matchMedia('(prefers-color-scheme: light)')
  const strong = window.matchMedia('(prefers-contrast: more)')
  let chosenName = THEMES.find((name) => name === readStored(STORAGE_KEY))
  const getThemeName = (): ThemeName => chosenName ?? (strong.matches ? 'contrast' : light.matches ? 'light' : 'dark')
  const applyTheme = () => {
    document.documentElement.dataset['theme'] = getThemeName()
    onChange()
  }
  document.documentElement.dataset['theme'] = getThemeName()
  light.addEventListener('change', applyTheme)
  strong.addEventListener('change', applyTheme)
  return {
    getTheme: (): Theme => themes[getThemeName()],
    /** The theme that the user chose; `undefined` if the page follows the system. */
    getChosenTheme: () => chosenName,
    chooseTheme(next: ThemeName | undefined) {
      chosenName = next
      storeValue(STORAGE_KEY, next)
      applyTheme()
    },
  }
}

/** The value stored under a name; `undefined` if there is none, or if the browser refuses storage. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Stores a value under a name, or removes the stored one if `value` is undefined; does nothing if the browser refuses
 * storage.
 */
export function storeValue(name: string, value: string | undefined) {
  try {
    if (value === undefined) localStorage.removeItem(name)
    else localStorage.setItem(name, value)
  } catch {
    // The next visit will then find no value.
  }
}
