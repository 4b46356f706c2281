/** The colours that are the page's own and not the palette's. The ground is page.css's `--ground`. */

import { BARE, BARE_FRAME, OPEN, OPEN_DOT } from './wall/pixel-buffer.ts'

/** `#rrggbb` of the stage around the wall and of each byte of our own in the atlas. */
export type Theme = { readonly ground: string; readonly own: Readonly<Record<number, string>> }

export const dark: Theme = {
  ground: '#0b0d10',
  own: { [OPEN]: '#15191e', [OPEN_DOT]: '#282f37', [BARE]: '#28303a', [BARE_FRAME]: '#465361' },
}

export const light: Theme = {
  ground: '#e4e7eb',
  own: { [OPEN]: '#f7f8fa', [OPEN_DOT]: '#d3d9e0', [BARE]: '#d7dde4', [BARE_FRAME]: '#a9b4c0' },
}

/** For those who need strong contrasts: black, white and nothing between. */
export const contrast: Theme = {
  ground: '#000000',
  own: { [OPEN]: '#000000', [OPEN_DOT]: '#b0b0b0', [BARE]: '#303030', [BARE_FRAME]: '#ffffff' },
}

export const THEMES = ['dark', 'light', 'contrast'] as const
export type ThemeName = (typeof THEMES)[number]

/** The theme of a name. */
export const themes: Readonly<Record<ThemeName, Theme>> = { dark, light, contrast }

/** `#rrggbb` as three bytes. */
export function bytesOf(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}
