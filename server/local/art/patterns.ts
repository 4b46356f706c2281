/** Patterns: what a rule makes of a place. */

import { bitmapOf, fill } from '../../domain/picture/drawing.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import { chance, colour, disc, ink, mix, painted, plain, slope, type Colour } from './brushes.ts'

const { abs, cos, floor, hypot, log2, max, PI, sin, sqrt } = Math

const FIRE = ['#04041a', '#14206b', '#1f7fb8', '#f4f1c9', '#ff9d3c', '#a02040', '#1a0620', '#04041a'].map(colour)

/** The Mandelbrot set. */
export function mandelbrot(width: number, height: number): Bitmap {
  return painted(width, height, (x, y) => {
    const [re, im] = [-0.72 + ((x - width / 2) / height) * 2.5, ((y - height / 2 + 0.5) / height) * 2.5]
    let [a, b] = [0, 0]
    for (let n = 0; n < 90; n++) {
      ;[a, b] = [a * a - b * b + re, 2 * a * b + im]
      if (a * a + b * b > 64) return slope(FIRE, ((n + 1 - log2(log2(hypot(a, b)) / 3)) / 21) % 1)
    }
    return [0, 0, 0]
  })
}

/** Waves as on old cloth: arcs upon arcs. */
export function waves(width: number, height: number): Bitmap {
  const [radius, step] = [10, 5]
  return plain(width, height, (x, y) => {
    for (let row = Math.ceil((y + radius) / step) + 1; row >= 0; row--) {
      const cy = row * step
      const cx = (Math.round((x - (row % 2) * radius) / (2 * radius)) * 2 + (row % 2)) * radius
      const away = hypot(x - cx + 0.5, y - cy)
      if (away > radius || y > cy) continue
      const ring = floor(away / 2.5)
      return colour(['#d7ffff', '#0087af', '#d7ffff', '#005f87'][ring] ?? '#005f87')
    }
    return colour('#005f87')
  })
}

/** Arcs in tiles that lie one way or the other. */
export function ribbons(width: number, height: number): Bitmap {
  const size = 10
  return plain(width, height, (x, y) => {
    const [col, row] = [floor(x / size), floor(y / size)]
    const isTurned = chance(col * 71 + row * 131) < 0.5
    const [u, v] = [isTurned ? size - 0.5 - (x % size) - 0.5 : x % size, y % size]
    const away = Math.min(
      abs(hypot(u + 0.5, v + 0.5) - size / 2),
      abs(hypot(size - u - 0.5, size - v - 0.5) - size / 2),
    )
    if (away < 0.9) return colour('#fff3d6')
    return away < 2 ? colour('#ff875f') : colour('#5f0087')
  })
}

const XOR = ['#5f0087', '#8700d7', '#d75faf', '#ff875f', '#ffd787', '#ffffd7'].map(colour)

/** The exclusive or of column and row. */
export const quilt = (width: number, height: number): Bitmap =>
  plain(width, height, (x, y) => XOR[floor(((x ^ y) % 64) / 11)] ?? [0, 0, 0])

/** A maze with one way through, and the way. */
export function maze(width: number, height: number): Bitmap {
  const [cols, rows] = [floor(width / 4), floor(height / 4)]
  const bitmap = bitmapOf(width, height, ink('#1c1c2b'))
  const from = new Map<number, number>([[0, -1]])
  const trail = [0]
  for (let at = trail.at(-1); at !== undefined; at = trail.at(-1)) {
    const [x, y] = [at % cols, floor(at / cols)]
    const near = [
      [x + 1, y],
      [x - 1, y],
      [x, y + 1],
      [x, y - 1],
    ].flatMap(([nx = -1, ny = -1]) =>
      nx < 0 || ny < 0 || nx >= cols || ny >= rows || from.has(ny * cols + nx) ? [] : [ny * cols + nx],
    )
    const next = near[floor(chance(from.size * 37 + trail.length) * near.length)]
    if (next === undefined) trail.pop()
    else {
      from.set(next, at)
      trail.push(next)
    }
  }
  const walk = (at: number, back: number, index: number) => {
    const [x, y] = [Math.min(at % cols, back % cols), Math.min(floor(at / cols), floor(back / cols))]
    const isAcross = abs(at - back) === 1
    fill(bitmap, { x: 1 + x * 4, y: 1 + y * 4, width: isAcross ? 7 : 3, height: isAcross ? 3 : 7 }, index)
  }
  for (const [at, back] of from) if (back >= 0) walk(at, back, ink('#e4e4e4'))
  for (let at = cols * rows - 1; at > 0; at = from.get(at) ?? 0) walk(at, from.get(at) ?? 0, ink('#ff5f5f'))
  return bitmap
}

/** Cubes in a stack, seen from a corner. */
export function cubes(width: number, height: number): Bitmap {
  const tints = [
    ['#ffd75f', '#d78700', '#875f00'],
    ['#5fd7d7', '#008787', '#005f5f'],
    ['#ff87af', '#d75f87', '#87005f'],
  ]
  return plain(width, height, (x, y) => {
    // Three rhombs make a cube of 12 pixels; each pixel belongs to the face whose edges lie around it.
    const row = floor(y / 9)
    const u = x + (row % 2) * 6
    const [cell, inX, inY] = [floor(u / 12), u % 12, y % 9]
    const roof = abs(inX - 5.5) / 2
    const isTop = inY < 6 - roof && inY >= roof
    const isAbove = inY < roof
    const [col, line] = isAbove ? [floor((u + 6) / 12) + (row % 2 === 0 ? 0 : -1), row - 1] : [cell, row]
    const tint = tints[floor(chance(col * 13 + line * 57) * 3)] ?? []
    const side = isAbove ? (inX < 6 ? 2 : 1) : isTop ? 0 : inX < 6 ? 1 : 2
    return colour(tint[side] ?? '#000000')
  })
}

/** Two stones thrown into a pond. */
export function ripples(width: number, height: number): Bitmap {
  return painted(width, height, (x, y) => {
    const wave =
      sin(hypot(x - width * 0.3, y - height * 0.35) * 1.1) + sin(hypot(x - width * 0.75, y - height * 0.7) * 1.1)
    return mix(colour('#012a3a'), mix(colour('#1fa3a8'), colour('#eafff5'), wave - 0.6), wave / 2 + 0.5)
  })
}

const SEVENTIES = ['#5f2a12', '#b0421c', '#e8802c', '#f5c04a', '#f6e7c1'].map(colour)

/** Stripes that go round a corner, as on a van. */
export function stripes(width: number, height: number): Bitmap {
  return plain(width, height, (x, y) => {
    const away = x < width * 0.6 ? height - 1 - y : hypot(x - width * 0.6, height - 1 - y)
    return SEVENTIES[floor(away / 4)] ?? colour('#00005f')
  })
}

const hueAt = (h: number): Colour => {
  const part = (shift: number) => max(0, Math.min(1, abs(((h + shift) % 1) * 6 - 3) - 1))
  return [part(1), part(2 / 3), part(1 / 3)]
}

/** Seeds as a sunflower sets them. */
export function sunflower(width: number, height: number): Bitmap {
  const bitmap = bitmapOf(width, height, ink('#87d7ff'))
  disc(bitmap, width / 2, height / 2, width * 0.4, ink('#5f0000'))
  for (let n = 260; n > 0; n--) {
    const [away, turn] = [1.52 * sqrt(n), n * PI * (3 - sqrt(5))]
    const petal = mix(hueAt(0.04 + 0.11 * (n / 260)), [1, 1, 1], 0.05)
    disc(
      bitmap,
      width / 2 + away * cos(turn),
      height / 2 + away * sin(turn),
      0.5 + n / 260,
      indexOf(n > 150 ? petal : mix(petal, [0.1, 0.03, 0], 0.75)),
    )
  }
  return bitmap
}

const indexOf = (at: Colour) => plain(1, 1, () => at).indices[0] ?? 0

/** A trace on a screen. */
export function scope(width: number, height: number): Bitmap {
  const bitmap = plain(width, height, (x, y) => colour(x % 10 === 5 || y % 10 === 5 ? '#005f00' : '#080808'))
  for (let step = 0; step < 3000; step++) {
    const t = (step / 3000) * 2 * PI
    const [x, y] = [width / 2 + (width / 2 - 5) * sin(3 * t + 0.6), height / 2 + (height / 2 - 5) * sin(4 * t)]
    fill(bitmap, { x: floor(x), y: floor(y), width: 1, height: 1 }, ink(step % 1000 < 900 ? '#5fff87' : '#d7ffd7'))
  }
  return bitmap
}

const GLIDER = ['.o.', '..o', 'ooo']

/** Gliders on their way, each with the trail of where it was. */
export function gliders(width: number, height: number): Bitmap {
  const bitmap = plain(width, height, (x, y) => colour(x % 4 === 3 || y % 4 === 3 ? '#e4e4e4' : '#ffffff'))
  for (const [at, tint] of ['#d7d7ff', '#87afff', '#005fff', '#00005f'].entries())
    for (const [line, row] of GLIDER.entries())
      for (const [column, cell] of [...row].entries())
        if (cell === 'o')
          fill(bitmap, { x: (at * 2 + column) * 4, y: (at * 2 + line) * 4, width: 3, height: 3 }, ink(tint))
  return bitmap
}

/** The moon, from new to full and back. */
export function phases(width: number, height: number): Bitmap {
  const count = floor(width / height)
  const [dark, light] = [colour('#1c1c2b'), colour('#ffffd7')]
  return plain(width, height, (px, y) => {
    const at = floor(px / height)
    const [u, v] = [(px % height) - height / 2 + 0.5, y - height / 2 + 0.5]
    if (hypot(u, v) > height * 0.41) return colour('#08080f')
    const edge = cos((PI * (at + 0.5)) / count) * sqrt(max(0, (height * 0.41) ** 2 - v * v))
    return u > edge ? light : dark
  })
}
