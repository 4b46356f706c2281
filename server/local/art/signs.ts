/** Pictures made of letters, and of what looks like them. */

import { heightOf, widthOf, write } from '../../domain/picture/bitmap-font.ts'
import { bitmapOf, fill, frame } from '../../domain/picture/drawing.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import { chance, colour, ink, mix, painted, plain, type Colour } from './brushes.ts'

const centred = (width: number, text: string, scale: number) => Math.floor((width - widthOf(text, scale)) / 2)

/** How far each pixel is from the letters, at most `most`. */
function awayFrom(
  text: string,
  scale: number,
  width: number,
  height: number,
  most: number,
): (x: number, y: number) => number {
  const mask = bitmapOf(width, height, 0)
  write(mask, text, {
    x: centred(width, text, scale),
    y: Math.floor((height - heightOf(scale)) / 2) - 4,
    scale,
    colour: 1,
  })
  const isInk = (x: number, y: number) => x >= 0 && x < width && mask.indices[y * width + x] === 1
  return (x, y) => {
    let least = most
    for (let dy = -most; dy <= most; dy++)
      for (let dx = -most; dx <= most; dx++) if (isInk(x + dx, y + dy)) least = Math.min(least, Math.hypot(dx, dy))
    return least
  }
}

const BRICK = colour('#241a2c')
const MORTAR = colour('#171020')

function brick(x: number, y: number): Colour {
  const row = Math.floor(y / 6)
  const isJoint = y % 6 === 5 || (x + (row % 2) * 7) % 14 === 13
  return isJoint ? MORTAR : mix(BRICK, MORTAR, 0.6 * chance(row * 97 + Math.floor((x + (row % 2) * 7) / 14)))
}

const NEON = { tube: colour('#ff2f92'), core: colour('#ffe3f1'), glow: colour('#c4187a') }
const CYAN = ink('#5fffff')

/** A neon sign on a wall of bricks, dark or lit. */
export const neon =
  (isLit: boolean) =>
  (width: number, height: number): Bitmap => {
    const away = awayFrom('402', 7, width, height, 11)
    const off = colour('#4a3a52')
    const bitmap = painted(width, height, (x, y) => {
      const far = away(x, y)
      const ground = brick(x, y)
      if (!isLit) return far === 0 ? off : ground
      if (far === 0)
        return away(x - 2, y - 2) + away(x + 2, y + 2) + away(x - 2, y + 2) + away(x + 2, y - 2) === 0
          ? NEON.core
          : NEON.tube
      return mix(ground, NEON.glow, 0.75 * Math.exp(-far / 4.5))
    })
    const line = 'PAYMENT REQUIRED'
    const y = height - heightOf(1) - 5
    write(bitmap, line, { x: centred(width, line, 1), y, scale: 1, colour: isLit ? CYAN : ink('#4a4a5a') })
    return bitmap
  }

/** A terminal that has just said hello. */
export function terminal(width: number, height: number): Bitmap {
  const [ground, green] = [ink('#0a120c'), ink('#5fff87')]
  const bitmap = plain(width, height, (_, y) => colour(y % 2 === 0 ? '#0a120c' : '#121212'))
  frame(bitmap, { x: 1, y: 1, width: width - 2, height: height - 2 }, 1, ink('#303030'))
  write(bitmap, 'HELLO', { x: 20, y: 3, scale: 2, colour: green })
  for (const [at, size] of [0, 1, 2, 3, 2, 1, 0].entries())
    fill(bitmap, { x: 6 + size * 2, y: 3 + at * 2, width: 2, height: 2 }, green)
  fill(bitmap, { x: 82, y: 3, width: 10, height: 14 }, green)
  fill(bitmap, { x: 84, y: 5, width: 6, height: 10 }, ground)
  return bitmap
}

const DAWN = ['#ff875f', '#ffaf5f', '#ffd787', '#ffffd7'].map(colour)

/** What one says in the morning. */
export function goodMorning(width: number, height: number): Bitmap {
  const bitmap = painted(width, height, (_, y) => mix(DAWN[0] ?? [1, 1, 1], DAWN[2] ?? [1, 1, 1], y / height))
  write(bitmap, 'GM', { x: centred(width, 'GM', 2) + 1, y: 4, scale: 2, colour: ink('#af5f5f') })
  write(bitmap, 'GM', { x: centred(width, 'GM', 2), y: 3, scale: 2, colour: ink('#ffffff') })
  return bitmap
}

/** What looks like a code for cameras, and is none. */
export function glyph(width: number, height: number): Bitmap {
  const side = Math.min(width, height) / 2
  const isFinder = (x: number, y: number) => Math.max(Math.abs(x - 3), Math.abs(y - 3))
  const [paper, dark, accent] = [colour('#ffffff'), colour('#12121c'), colour('#005fff')]
  return plain(width, height, (px, py) => {
    const [x, y] = [Math.floor(px / 2) - 2, Math.floor(py / 2) - 2]
    const last = side - 5
    if (x < 0 || y < 0 || x > last || y > last) return paper
    for (const [cx, cy] of [
      [0, 0],
      [last - 6, 0],
      [0, last - 6],
    ] as const) {
      const ring = isFinder(x - cx, y - cy)
      if (ring === 4) return paper
      if (ring <= 3) return ring === 2 ? paper : ring <= 1 ? accent : dark
    }
    return chance(y * 57 + x * 3 + 402) < 0.48 ? dark : paper
  })
}
