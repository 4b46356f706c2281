/** Small scenes. */

import { fill } from '../../domain/picture/drawing.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import { chance, clouds, colour, disc, ink, mix, painted, slope, stamp, swell, type Colour } from './brushes.ts'

const { abs, floor, hypot, max, min, sin, sqrt } = Math

const DUSK = ['#1c1445', '#4b2173', '#a3318a', '#f2567a', '#ff8f5e', '#ffd37a'].map(colour)
const SUN = ['#fff3b0', '#ffc857', '#ff6f61'].map(colour)

/** A low sun over water, in bands, and a boat. */
export function sunset(width: number, height: number): Bitmap {
  const [shore, cx, radius] = [floor(height * 0.64), floor(width * 0.56), height * 0.3]
  const sky = (x: number, y: number): Colour => {
    const away = hypot(x - cx, y - shore + 7)
    const band = (y - shore + 24) / 24
    const isGap = y > shore - 22 && (shore - y) % 5 < 5 * band * 0.5
    if (away < radius && !isGap) return slope(SUN, (y - shore + 7 + radius) / radius)
    return mix(slope(DUSK, y / shore), colour('#ffb070'), 0.35 * Math.exp(-max(0, away - radius) / 9))
  }
  const bitmap = painted(width, height, (x, y) => {
    if (y < shore) return sky(x, y)
    const depth = (y - shore) / (height - shore)
    const ripple = 3 * depth * sin(y * 1.9 + x * 0.25) + 2 * sin(y * 5.1)
    const mirrored = sky(x + ripple, max(0, shore - 1 - (y - shore) * 1.6))
    return mix(mirrored, colour('#14123c'), 0.32 + 0.35 * depth)
  })
  const hull = ink('#12121c')
  stamp(
    bitmap,
    {
      rows: ['...o.....', '..oo.....', '.ooo.o...', 'oooo.oo..', '...o.....', 'ooooooooo', '.ooooooo.'],
      inks: { o: hull },
    },
    14,
    shore - 4,
    1,
  )
  for (const [x, y] of [
    [22, 12],
    [29, 9],
    [34, 14],
  ] as const)
    stamp(bitmap, { rows: ['o...o', '.o.o.', '..o..'], inks: { o: hull } }, x, y, 1)
  return bitmap
}

const NIGHT = ['#050818', '#0c1738', '#1d3a66', '#3f6f94'].map(colour)
const RIDGES = [
  { base: 0.5, height: 0.34, wide: 17, rock: colour('#4c6a8c'), snow: colour('#dfeaf5') },
  { base: 0.66, height: 0.26, wide: 12, rock: colour('#2a4568'), snow: colour('#a9c4dd') },
  { base: 0.8, height: 0.16, wide: 9, rock: colour('#16294a'), snow: colour('#16294a') },
] as const

/** Mountains under a crescent moon. */
export function mountains(width: number, height: number): Bitmap {
  const crest = ({ base, height: rise, wide }: (typeof RIDGES)[number], x: number, k: number) => {
    const peak = abs(((x / wide + k * 0.37) % 2) - 1)
    return height * (base - rise * peak * (0.55 + 0.45 * swell(x / wide / 2, k)) - 0.03 * swell(x / 2.5, k + 9))
  }
  const [mx, my] = [floor(width * 0.8), floor(height * 0.2)]
  const bitmap = painted(width, height, (x, y) => {
    for (const [at, ridge] of [...RIDGES.entries()].toReversed()) {
      const top = crest(ridge, x, at)
      if (y < top) continue
      const isSnow = y - top < height * ridge.height * (0.28 + 0.12 * swell(x / 2, at + 3))
      const lit = 0.25 * (crest(ridge, x + 1, at) < top ? 0 : 1)
      return mix(isSnow ? ridge.snow : ridge.rock, colour('#0a1430'), lit)
    }
    if (hypot(x - mx, y - my) < 6 && hypot(x - mx - 3, y - my + 2) > 5) return colour('#fff7d6')
    const isStar = chance(y * 997 + x * 13) > 0.988
    return isStar ? colour('#e8f0ff') : slope(NIGHT, y / height)
  })
  for (let x = -2; x < width; x += 5) {
    const tall = 5 + floor(7 * chance(x + 51))
    for (let line = 0; line < tall; line++) {
      const half = floor((line % 4) + line / 4)
      fill(bitmap, { x: x - half, y: height - tall + line, width: 2 * half + 1, height: 1 }, ink('#08111f'))
    }
  }
  return bitmap
}

const EVENING = ['#0d0b2b', '#2b1457', '#6a2176', '#c2417c', '#f58a6b'].map(colour)

/** A town at night, and its light in the river. */
export function skyline(width: number, height: number): Bitmap {
  const river = floor(height * 0.82)
  const town = (x: number, y: number): Colour => {
    for (const layer of [1, 0]) {
      const wide = 9 + 2 * layer
      const [house, inside] = [floor((x + layer * 5) / wide), (x + layer * 5) % wide]
      const roof = river - (0.12 + (layer === 0 ? 0.5 : 0.34) * chance(house * 31 + layer * 7)) * height
      const isMast = inside === floor(wide / 2) && y > roof - 6 && chance(house + 77) > 0.55
      if (y < roof && !isMast) continue
      const [wall, lamp] = layer === 0 ? ['#5f3a87', '#ffc36f'] : ['#1a0f38', '#ffe08a']
      const isWindow = y > roof + 1 && inside % 3 === 1 && floor(y) % 3 === 1 && inside < wide - 1
      const isLit = isWindow && chance(house * 131 + floor(inside / 3) * 17 + floor(y / 3) * 3 + layer) > 0.55
      return isLit ? mix(colour(lamp), colour('#ff875f'), 0.4 * chance(floor(y) + house)) : colour(wall)
    }
    const isStar = y < height * 0.4 && chance(floor(y) * 499 + x) > 0.992
    return isStar ? colour('#fff4dc') : slope(EVENING, y / river / 0.8)
  }
  return painted(width, height, (x, y) => {
    if (y < river) return town(x, y)
    const mirrored = town(min(width - 1, max(0, x + floor(1.5 * sin(y * 2.1)))), river - 1 - (y - river) * 2.4)
    return mix(mirrored, colour('#160d33'), 0.45)
  })
}

/** The Earth above the Moon. */
export function earthrise(width: number, height: number): Bitmap {
  const [cx, cy, radius] = [width * 0.52, height * 0.4, width * 0.27]
  const ground = (x: number) => height * (0.8 - 0.06 * sin(x / 17) - 0.05 * swell(x / 9))
  const craters = Array.from(
    { length: 12 },
    (_, i) => [chance(i + 5) * width, height * (0.84 + 0.16 * chance(i + 50)), 2 + 4 * chance(i + 90)] as const,
  )
  return painted(width, height, (x, y) => {
    if (y > ground(x)) {
      const grain = 0.2 * clouds(x / 3, y / 2, 4)
      for (const [ax, ay, size] of craters) {
        const away = hypot(x - ax, (y - ay) * 1.9) / size
        if (away < 1) return mix(colour('#4e4e4e'), colour('#8a8a8a'), away * away * (y > ay ? 1 : 0.3))
        if (away < 1.25 && y > ay) return colour('#d0d0d0')
      }
      return mix(colour('#a8a8a8'), colour('#585858'), (y - ground(x)) / (height * 0.3) + grain)
    }
    const [u, v] = [(x - cx) / radius, (y - cy) / radius]
    const inside = 1 - u * u - v * v
    if (inside < 0) {
      const haze = Math.exp((1 - hypot(u, v)) * 9) * 0.5
      return chance(y * 631 + x) > 0.985 ? colour('#ffffff') : mix(colour('#000005'), colour('#5fafff'), haze)
    }
    const deep = sqrt(inside)
    const [along, up] = [(u / (deep + 0.8)) * 3, v * 2.6]
    const isLand = clouds(along + 3, up + 5, 2) + 0.4 * clouds(along * 3, up * 3, 3) > 0.86
    const cloud = clouds(along * 1.5 + up, up * 3.2, 8) + 0.3 * clouds(along * 6, up * 6, 9)
    const surface = isLand
      ? mix(colour('#2f8f4e'), colour('#b08d57'), clouds(along * 2, up * 2, 6))
      : mix(colour('#0b3fa0'), colour('#3f8fe8'), deep)
    const light = max(0.06, -0.55 * u - 0.35 * v + 0.75 * deep)
    return mix([0, 0, 0.01], mix(surface, [1, 1, 1], cloud > 0.82 ? 0.9 : 0), light * 1.15)
  })
}

const SKY = ['#4aa3e0', '#8fd0f5', '#e6f6ff'].map(colour)
const STRIPES = ['#e8433f', '#ffd166', '#f7f3e3', '#2a9d8f', '#264653'].map(colour)

/** A balloon in a clear sky. */
export function balloon(width: number, height: number): Bitmap {
  const [cx, cy, rx, ry] = [width / 2 - 0.5, height * 0.37, width * 0.38, height * 0.3]
  const bitmap = painted(width, height, (x, y) => {
    const v = (y - cy) / ry
    const taper = v > 0 ? 1 - 0.42 * v * v : 1
    const u = (x - cx) / (rx * taper)
    const half = sqrt(max(0, 1 - (v > 0 ? (v / 1.22) ** 2 : v * v)))
    if (half > 0 && abs(u) < half && v < 1.2) {
      const turn = floor((Math.asin(max(-1, min(1, u / half))) / Math.PI + 0.5) * 9)
      const cloth = v > 0.1 && v < 0.3 ? (STRIPES[2] ?? [1, 1, 1]) : (STRIPES[turn % 5] ?? [1, 1, 1])
      return mix(cloth, mix(cloth, [0, 0, 0.05], 0.55), 0.5 + u * 0.5)
    }
    const puff = clouds(x / 11, y / 5, 12) + 0.45 * clouds(x / 4, y / 3, 13)
    return mix(slope(SKY, y / height), [1, 1, 1], y > height * 0.45 ? (puff - 0.78) * 3 : 0)
  })
  const [rope, basket] = [ink('#5f3a1c'), ink('#875f00')]
  const [left, top] = [floor(cx) - 4, floor(cy + ry * 1.2)]
  for (let line = 0; line < 7; line++)
    for (const x of [left + floor(line / 3), left + 8 - floor(line / 3)])
      fill(bitmap, { x, y: top + line, width: 1, height: 1 }, rope)
  fill(bitmap, { x: left + 1, y: top + 7, width: 7, height: 6 }, basket)
  fill(bitmap, { x: left + 1, y: top + 7, width: 7, height: 1 }, rope)
  return bitmap
}

type Branch = { readonly x: number; readonly y: number; readonly turn: number; readonly long: number }

/** A tree in blossom. */
export function blossom(width: number, height: number): Bitmap {
  const bitmap = painted(width, height, (x, y) =>
    mix(colour('#fbe9d7'), colour('#f3c9c4'), y / height + 0.1 * clouds(x / 9, y / 9, 5)),
  )
  const [bark, petals] = [ink('#5f3a3a'), ['#ff87af', '#ff5f87', '#ffd7d7'].map(ink)]
  const tips: Branch[] = []
  const grow = (branch: Branch, depth: number) => {
    const { x, y, turn, long } = branch
    const [toX, toY] = [x + Math.cos(turn) * long, y + sin(turn) * long]
    for (let step = 0; step <= long * 2; step++)
      disc(bitmap, x + ((toX - x) * step) / (long * 2), y + ((toY - y) * step) / (long * 2), depth * 0.42, bark)
    if (depth <= 2) tips.push({ ...branch, x: toX, y: toY })
    if (depth === 0) return
    const spread = 0.35 + 0.25 * chance(depth * 17 + floor(x * 3))
    for (const side of [-1, 1])
      grow(
        { x: toX, y: toY, turn: turn + side * spread, long: long * (0.72 + 0.12 * chance(floor(toX * 5) + side)) },
        depth - 1,
      )
  }
  grow({ x: width / 2, y: height - 1, turn: -Math.PI / 2, long: height * 0.25 }, 6)
  for (const [at, { x, y }] of tips.entries())
    disc(
      bitmap,
      x + 3 * chance(at) - 1.5,
      y + 3 * chance(at + 400) - 1.5,
      0.8 + 1.3 * chance(at + 800),
      petals[at % 3] ?? 0,
    )
  fill(bitmap, { x: 0, y: height - 2, width, height: 2 }, ink('#87875f'))
  return bitmap
}
