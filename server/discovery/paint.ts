/** How a picture is written, in words and in samples. */

import { PALETTE } from '../../shared/palette.ts'
import { PIXELS_HEX_LENGTH } from '../../shared/pixels.ts'

const GREYS_FROM = 216

const pure = {
  black: '#000000',
  white: '#ffffff',
  red: '#ff0000',
  green: '#00ff00',
  blue: '#0000ff',
  yellow: '#ffff00',
}

/** Two hex digits of a colour that the palette has. */
export function hexOf(colour: string): string {
  const index = PALETTE.indexOf(colour)
  if (index < 0) throw new RangeError(`${colour} is not in the palette`)
  return index.toString(16).padStart(2, '0')
}

/** How a colour becomes two hex digits. */
export const INDEX_RULE = `36r + 6g + b with r, g and b from 0 to 5, or a grey from ${GREYS_FROM} (dark) to ${PALETTE.length - 1} (light)`

/** The pure colours with their digits. */
export const PURE_COLOURS = Object.entries(pure)
  .map(([name, colour]) => `${name} ${hexOf(colour)}`)
  .join(', ')

/** A whole block in red. */
export const RED_BLOCK = hexOf(pure.red).repeat(PIXELS_HEX_LENGTH / 2)
