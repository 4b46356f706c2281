/**
 * The page's themes: the colours that are not in the palette. Keep `ground` equal to `--ground` in styles/tokens.css.
 */

import { PALETTE } from '../shared/palette.ts'
import { NO_PICTURE, NO_PICTURE_FRAME, OPEN } from './wall/pixel-buffer.ts'

/** Colours as `#rrggbb`. */
export type Theme = {
  readonly ground: string // around the wall
  readonly own: Readonly<Record<number, string>> // colours of the texture's byte values that are not palette indices
  readonly gridLine: string // of the lines between open blocks
  readonly edge: string // of the lines around the wall, and around sold blocks that border on open ones
}

export const dark: Theme = {
  ground: '#13110f',
  own: { [OPEN]: '#1b1916', [NO_PICTURE]: '#35302a', [NO_PICTURE_FRAME]: '#5d5449' },
  gridLine: '#3a342d',
  edge: '#5d5449',
}

export const light: Theme = {
  ground: '#e5dfd5',
  own: { [OPEN]: '#f4efe7', [NO_PICTURE]: '#d8d0c3', [NO_PICTURE_FRAME]: '#a89d8c' },
  gridLine: '#d3cabb',
  edge: '#a89d8c',
}

/** The theme for strong contrast: only black, white and greys. */
export const contrast: Theme = {
  ground: '#000000',
  own: { [OPEN]: '#000000', [NO_PICTURE]: '#303030', [NO_PICTURE_FRAME]: '#ffffff' },
  gridLine: '#808080',
  edge: '#ffffff',
}

export const THEMES = ['dark', 'light', 'contrast'] as const
export type ThemeName = (typeof THEMES)[number]

/** The themes by name. */
export const themes: Readonly<Record<ThemeName, Theme>> = { dark, light, contrast }

/** The red, green and blue bytes of a colour in the form `#rrggbb`. */
export function parseColour(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

const BYTES = 256

/** The colour of each byte value in the texture: red, green, blue and opacity, one byte each. */
export function createColourTable(theme: Theme): Uint8Array<ArrayBuffer> {
  const rgba = new Uint8Array(BYTES * 4)
  for (let i = 0; i < BYTES; i++) rgba.set([...parseColour(PALETTE[i] ?? theme.own[i] ?? theme.ground), 255], i * 4)
  return rgba
}
