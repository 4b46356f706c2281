/** What the demo's agents draw with: shades, discs, small sprites and a little chance that is the same each time. */

import { linearRgb } from '../../../shared/oklab.ts'
import { nearest, quantise, type Dither } from '../../../shared/quantise.ts'
import { fill } from '../../domain/picture/drawing.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'

/** Red, green and blue in linear light, each from 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number]

/** The colour at a pixel. */
export type Painting = (x: number, y: number) => Colour

/** A colour by its `#rrggbb`. */
export const colour = (text: string): Colour => linearRgb(text)

/** The palette's index nearest to `#rrggbb`. */
export const ink = (text: string): number => nearest(...linearRgb(text))

/** So much of the way from one colour to another; beyond the ends are the ends. */
export function mix(from: Colour, to: Colour, part: number): Colour {
  const t = Math.min(1, Math.max(0, part))
  const at = (axis: 0 | 1 | 2) => from[axis] + (to[axis] - from[axis]) * t
  return [at(0), at(1), at(2)]
}

/** A slope over colours at equal distances: 0 is the first, 1 the last. */
export function slope(colours: readonly Colour[], part: number): Colour {
  const at = Math.min(1, Math.max(0, part)) * (colours.length - 1)
  const [from, to] = [colours[Math.floor(at)], colours[Math.ceil(at)]]
  return from === undefined || to === undefined ? [0, 0, 0] : mix(from, to, at % 1)
}

/** A painting brought to the palette. Dithered it keeps its slopes; without, its edges. */
export function painted(width: number, height: number, at: Painting, dither: Dither = 'floyd-steinberg'): Bitmap {
  const rgb = new Float32Array(width * height * 3)
  for (let i = 0; i < width * height; i++) rgb.set(at(i % width, Math.floor(i / width)), i * 3)
  return { width, height, indices: quantise({ width, height, rgb }, dither) }
}

/** A painting without slopes. */
export const plain = (width: number, height: number, at: Painting): Bitmap => painted(width, height, at, 'none')

/** Fills a disc; what lies outside the bitmap is left out. */
export function disc(bitmap: Bitmap, x: number, y: number, radius: number, index: number): void {
  for (let line = Math.floor(y - radius); line <= y + radius; line++) {
    const half = Math.sqrt(Math.max(0, radius ** 2 - (line - y) ** 2))
    const left = Math.ceil(x - half)
    fill(bitmap, { x: left, y: line, width: Math.floor(x + half) - left + 1, height: 1 }, index)
  }
}

/** Characters as pixels: each names a palette index in `inks`, and one that names none lets the ground through. */
export type Sprite = { readonly rows: readonly string[]; readonly inks: Readonly<Record<string, number>> }

/** Puts a sprite on a bitmap, each of its pixels `scale` wide and high. */
export function stamp(bitmap: Bitmap, { rows, inks }: Sprite, x: number, y: number, scale: number): void {
  for (const [line, row] of rows.entries())
    for (const [column, name] of [...row].entries()) {
      const index = inks[name]
      const box = { x: x + column * scale, y: y + line * scale, width: scale, height: scale }
      if (index !== undefined) fill(bitmap, box, index)
    }
}

/** A number from 0 to 1 that looks like chance, and is the same for the same number. */
export function chance(of: number): number {
  let bits = Math.imul(of ^ 0x9e37_79b9, 0x85eb_ca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

/** The same between whole numbers, smoothly: hills, clouds and coasts. */
export function swell(x: number, of = 0): number {
  const [left, t] = [Math.floor(x), x - Math.floor(x)]
  const ease = t * t * (3 - 2 * t)
  const [from, to] = [chance(left + of * 7919), chance(left + 1 + of * 7919)]
  return from + (to - from) * ease
}

/** The same over a plane. */
export function clouds(x: number, y: number, of = 0): number {
  const [top, t] = [Math.floor(y), y - Math.floor(y)]
  const ease = t * t * (3 - 2 * t)
  const [from, to] = [swell(x, of + top * 31), swell(x, of + (top + 1) * 31)]
  return from + (to - from) * ease
}
