/** Made-up pictures of any size, such as agents might paint, for a wall that looks as if many had bought of it. */

import { pick, type Prng } from '../../../bench/servers/prng.ts'
import { bitmapOf, heightOf, widthOf, write } from '../../../server/domain/picture/drawing.ts'

/** Red, green and blue of a pixel, each from 0 to 1, as screens have them. */
export type Colour = readonly [red: number, green: number, blue: number]

/** The colour at a pixel. */
export type Painting = (x: number, y: number) => Colour

/** Makes a painting of a size in pixels. */
export type PaintingMaker = (roll: Prng, width: number, height: number) => Painting

const { sin, cos, hypot, floor, abs, min, max, PI } = Math

const mix = (a: Colour, b: Colour, t: number): Colour => [
  a[0] + (b[0] - a[0]) * t,
  a[1] + (b[1] - a[1]) * t,
  a[2] + (b[2] - a[2]) * t,
]

/** A colour of a hue from 0 to 1. */
const hue = (h: number, saturation = 0.8, light = 0.95): Colour => {
  const part = (shift: number) =>
    light * (1 - saturation + saturation * min(1, max(0, abs(((((h + shift) % 1) + 1) % 1) * 6 - 3) - 1)))
  return [part(0), part(2 / 3), part(1 / 3)]
}

const COATS: readonly [readonly Colour[], ...(readonly Colour[])[]] = [
  [
    [0.06, 0.09, 0.2],
    [0.98, 0.75, 0.24],
    [0.93, 0.3, 0.27],
  ],
  [
    [0.95, 0.93, 0.85],
    [0.13, 0.2, 0.3],
    [0.9, 0.35, 0.2],
  ],
  [
    [0.1, 0.35, 0.32],
    [0.95, 0.9, 0.7],
    [0.95, 0.55, 0.35],
  ],
  [
    [0.2, 0.1, 0.3],
    [0.35, 0.85, 0.85],
    [0.95, 0.4, 0.7],
  ],
  [
    [0.02, 0.02, 0.03],
    [0.2, 0.9, 0.4],
    [0.1, 0.4, 0.2],
  ],
  [
    [0.85, 0.92, 0.97],
    [0.1, 0.4, 0.75],
    [0.98, 0.85, 0.3],
  ],
  [
    [0.75, 0.15, 0.2],
    [0.98, 0.95, 0.9],
    [0.15, 0.15, 0.2],
  ],
]

const coat = (roll: Prng) => {
  const [ground = [0, 0, 0], ink = [1, 1, 1], third = [0.5, 0.5, 0.5]]: readonly Colour[] = pick(roll, COATS)
  return { ground, ink, third }
}

/** Hills before a low sun, in water. */
export const landscape: PaintingMaker = (roll, width, height) => {
  const from = roll()
  const [sky, glow] = [hue(from, 0.55, 0.55), hue(from + 0.42 + 0.1 * roll(), 0.75, 1)]
  const [sunX, phase, steep] = [0.15 + 0.7 * roll(), 20 * roll(), 0.04 + 0.12 * roll()]
  const shore = 0.68
  const ridge = (x: number, k: number) =>
    0.42 + 0.1 * k + steep * sin(x * (5 + 2 * k) + phase * (k + 1)) + 0.03 * sin(x * (19 - 3 * k) + 2 * phase)
  const above = (x: number, y: number): Colour => {
    for (const k of [2, 1, 0]) if (y > ridge(x, k)) return mix([0.08, 0.1, 0.18], mix(sky, glow, 0.3), 0.55 - 0.24 * k)
    const sun = hypot((x - sunX) * width, (y - 0.33) * height) / height
    return sun < 0.12 ? [1, 0.97, 0.85] : mix(mix(sky, glow, y / 0.6), [1, 0.95, 0.8], max(0, 0.5 - sun))
  }
  return (px, py) => {
    const [x, y] = [px / width, py / height]
    if (y < shore) return above(x, y)
    const ripple = 0.012 * sin(py * 2.3 + 30 * x)
    return mix(above(x + ripple, max(0, 2 * shore - y)), [0.05, 0.12, 0.25], 0.35)
  }
}

/** A part of the edge of a Julia set. */
export const julia: PaintingMaker = (roll, width, height) => {
  const turn = 2 * PI * roll()
  const [re, im] = [0.7885 * cos(turn), 0.7885 * sin(turn)]
  const first = roll()
  return (px, py) => {
    let [a, b] = [((px - width / 2) / height) * 2.6, ((py - height / 2) / height) * 2.6]
    for (let n = 0; n < 60; n++) {
      ;[a, b] = [a * a - b * b + re, 2 * a * b + im]
      if (a * a + b * b > 16) return hue(first + n / 40, 0.75, min(1, 0.15 + n / 22))
    }
    return [0.03, 0.02, 0.06]
  }
}

/** Slow waves of colour. */
export const plasma: PaintingMaker = (roll, width, height) => {
  const [first, fx, fy, around] = [roll(), 2 + 5 * roll(), 2 + 5 * roll(), 3 + 6 * roll()]
  return (px, py) => {
    const [x, y] = [px / height, py / height]
    const wave = sin(fx * x + 3) + sin(fy * y) + sin(around * hypot(x - 0.5 * (width / height), y - 0.4))
    return hue(first + wave / 7, 0.62, 0.86 + 0.14 * sin(3 * wave))
  }
}

/** A planet before stars. */
export const planet: PaintingMaker = (roll, width, height) => {
  const [first, bands, cx, cy] = [roll(), 8 + 12 * roll(), 0.35 + 0.3 * roll(), 0.4 + 0.2 * roll()]
  const radius = 0.34 * min(width, height)
  const stars = new Set(Array.from({ length: floor((width * height) / 60) }, () => floor(roll() * width * height)))
  return (px, py) => {
    const [x, y] = [(px - cx * width) / radius, (py - cy * height) / radius]
    const inside = 1 - x * x - y * y
    const ring = abs(hypot(x * 0.62, y * 2.6 + x * 0.9) - 1.12)
    if (ring < 0.13 && (inside < 0 || y + 0.35 * x > 0)) return mix([0.85, 0.75, 0.6], [0.3, 0.25, 0.3], ring / 0.16)
    if (inside < 0) return stars.has(py * width + px) ? [0.9, 0.92, 1] : [0.02, 0.03, 0.08]
    const lit = max(0.05, -0.5 * x - 0.45 * y + 0.75 * Math.sqrt(inside))
    return mix(
      [0.02, 0.02, 0.05],
      mix(hue(first, 0.6), hue(first + 0.12, 0.5, 0.8), 0.5 + 0.5 * sin(bands * (y + 0.2 * x))),
      lit,
    )
  }
}

/** Small creatures, each half a mirror of the other, in rows. */
export const creatures: PaintingMaker = (roll) => {
  const { ground, ink, third } = coat(roll)
  const kinds = Array.from({ length: 5 }, () => Array.from({ length: 8 }, () => floor(roll() * 16)))
  return (px, py) => {
    const [x, y] = [px % 10, py % 10]
    if (x < 1 || x > 8 || y < 1 || y > 8) return ground
    const kind = kinds[(floor(px / 10) * 3 + floor(py / 10) * 2) % kinds.length]
    const column = x < 5 ? x - 1 : 8 - x
    return (((kind?.[y - 1] ?? 0) >> column) & 1) === 1 ? (floor(py / 10) % 2 ? third : ink) : ground
  }
}

/** A maze of slanted strokes. */
export const maze: PaintingMaker = (roll) => {
  const { ground, ink } = coat(roll)
  const size = pick(roll, [5, 10])
  const seed = floor(roll() * 1000) + 7
  return (px, py) => {
    const cell = (floor(px / size) * 73_856_093) ^ (floor(py / size) * 19_349_663) ^ seed
    const [x, y] = [px % size, py % size]
    const leans = (Math.imul(cell, 0x9e37_79b1) >>> 15) & 1
    return abs(leans === 1 ? x - y : size - 1 - x - y) <= size / 8 ? ink : ground
  }
}

/** Dots that grow from one side to the other. */
export const dots: PaintingMaker = (roll, width, height) => {
  const { ground, ink } = coat(roll)
  const lean = roll() * PI
  return (px, py) => {
    const along = (px / width - 0.5) * cos(lean) + (py / height - 0.5) * sin(lean) + 0.5
    return hypot((px % 10) - 4.5, (py % 10) - 4.5) < 1 + 4.6 * along ? ink : ground
  }
}

/** Rays from a corner of a disc. */
export const rays: PaintingMaker = (roll, width, height) => {
  const { ground, ink, third } = coat(roll)
  const [cx, cy, count] = [roll() * width, height * (0.5 + 0.6 * roll()), 10 + floor(roll() * 10)]
  return (px, py) => {
    const away = hypot(px - cx, py - cy)
    if (away < min(width, height) * 0.3) return third
    return floor(((Math.atan2(py - cy, px - cx) + PI) / PI) * count) % 2 ? ink : ground
  }
}

/** The rows of a one-dimensional automaton, one below the other. */
export const automaton: PaintingMaker = (roll, width, height) => {
  const { ground, ink } = coat(roll)
  const rule = pick(roll, [30, 90, 110, 73])
  const rows = [Uint8Array.from({ length: width }, () => (roll() < 0.1 ? 1 : 0))]
  for (let y = 1; y < height; y++) {
    const above = rows[y - 1]
    const at = (x: number) => above?.[(x + width) % width] ?? 0
    rows.push(Uint8Array.from({ length: width }, (_, x) => (rule >> (4 * at(x - 1) + 2 * at(x) + at(x + 1))) & 1))
  }
  return (px, py) => (rows[py]?.[px] === 1 ? ink : ground)
}

const LETTER_ROWS = heightOf(1)

/** Where the ink of a text is, in the letters of the cards. */
function glyphsOf(text: string): { readonly width: number; at(x: number, y: number): boolean } {
  const bitmap = bitmapOf(widthOf(text, 1), LETTER_ROWS, 0)
  write(bitmap, text, { x: 0, y: 0, scale: 1, colour: 1 })
  const isOn = (x: number, y: number) => x >= 0 && x < bitmap.width && y >= 0 && y < LETTER_ROWS
  return { width: bitmap.width, at: (x, y) => isOn(x, y) && bitmap.indices[y * bitmap.width + x] === 1 }
}

/** Words on a coloured ground, as large as there is room for. */
export const banner =
  (text: string): PaintingMaker =>
  (roll, width, height) => {
    const { ground, ink, third } = coat(roll)
    const words = glyphsOf(text)
    const scale = max(1, floor(min((width - 4) / words.width, (height - 4) / LETTER_ROWS)))
    const [left, top] = [floor((width - words.width * scale) / 2), floor((height - LETTER_ROWS * scale) / 2)]
    const isInk = (px: number, py: number) => words.at(floor((px - left) / scale), floor((py - top) / scale))
    return (px, py) => (isInk(px, py) ? ink : isInk(px - 1, py - 1) ? third : ground)
  }

/** The course of a price. */
export const chart: PaintingMaker = (roll, width, height) => {
  const { ground, ink, third } = coat(roll)
  let price = height / 2
  const course = Array.from({ length: width }, () => (price = min(height - 3, max(2, price + (roll() - 0.49) * 5))))
  return (px, py) => {
    const here = course[px] ?? 0
    if (abs(py - here) < 1.2) return ink
    return py > here ? mix(ground, third, 0.35) : py % 10 === 0 ? mix(ground, ink, 0.2) : ground
  }
}

/** One flat colour after another. */
export const slope: PaintingMaker = (roll, width, height) => {
  const [first, step] = [roll(), 0.1 + 0.2 * roll()]
  const [from, to] = [hue(first), hue(first + step, 0.7, 0.6)]
  return (px, py) => mix(from, to, (px / width + py / height) / 2)
}
