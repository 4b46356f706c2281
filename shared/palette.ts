/**
 * The 240 colours a pixel can have: xterm's codes 16 to 255 in order, so index = code - 16. The palette must never
 * change, because stored bytes are indices into it.
 */

const CUBE_LEVELS = [0, 95, 135, 175, 215, 255]
const GREY_COUNT = 24

const toHex = (level: number) => level.toString(16).padStart(2, '0')

const toRgb = (red: number, green: number, blue: number) => `#${toHex(red)}${toHex(green)}${toHex(blue)}`

// Index 36r + 6g + b for a cube of six levels, then greys 8, 18, ... 238.
const cube = CUBE_LEVELS.flatMap((r) => CUBE_LEVELS.flatMap((g) => CUBE_LEVELS.map((b) => toRgb(r, g, b))))
const greys = Array.from({ length: GREY_COUNT }, (_, k) => 8 + 10 * k).map((level) => toRgb(level, level, level))

/** The colours as lower-case `#rrggbb`, indexed by a pixel's byte. */
export const PALETTE: readonly string[] = [...cube, ...greys]

/** A palette index plus this is the colour's xterm code. */
export const XTERM_OFFSET = 16

/** The number of colours; bytes from this value on are not colours. */
export const PALETTE_SIZE = PALETTE.length
