import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { toLinearRgb, toOklab } from '../../../shared/oklab.ts'
import { PALETTE, PALETTE_SIZE } from '../../../shared/palette.ts'
import { findNearestColour, quantise, type Dither } from '../../../shared/quantise.ts'
import type { Light } from '../../../shared/resample.ts'

const DITHERS: readonly Dither[] = ['none', 'floyd-steinberg']

/** A picture with the palette colours at these indices. */
const createPicture = (width: number, indices: readonly number[]): Light => ({
  width,
  height: indices.length / width,
  rgb: Float32Array.from(indices.flatMap((index) => [...toLinearRgb(PALETTE[index] ?? '')])),
})

const palette = PALETTE.map((colour) => toOklab(...toLinearRgb(colour)))

/** The index of the nearest palette colour, found by comparing every colour. */
function findNearestOfAll(red: number, green: number, blue: number): number {
  const [L, a, b] = toOklab(red, green, blue)
  const distances = palette.map(([l, x, y]) => (l - L) ** 2 + (x - a) ** 2 + (y - b) ** 2)
  return distances.indexOf(Math.min(...distances))
}

test('the search for the nearest palette colour finds the nearest of all 240', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(part, part, part, (red, green, blue) => {
      expect(findNearestColour(red, green, blue)).toBe(findNearestOfAll(red, green, blue))
    }),
    { numRuns: 5000 },
  )
})

test.each(DITHERS)('a picture in palette colours stays unchanged with the dither %s', (dither) => {
  const index = fc.integer({ min: 0, max: PALETTE_SIZE - 1 })
  fc.assert(
    fc.property(fc.array(index, { minLength: 12, maxLength: 12 }), (indices) => {
      expect([...quantise(createPicture(4, indices), dither)]).toEqual(indices)
    }),
  )
  const all = Array.from(PALETTE, (_, at) => at)
  expect([...quantise(createPicture(16, all), dither)]).toEqual(all)
})

const createFlatPicture = (side: number, colour: string): Light => ({
  width: side,
  height: side,
  rgb: Float32Array.from(Array.from({ length: side * side }, () => [...toLinearRgb(colour)]).flat()),
})

test.each(['#7f7f7f', '#ff8040', '#0000a0', '#010203'])(
  'dithering a flat picture of %s keeps its mean light',
  (colour) => {
    const side = 64
    const pixels = quantise(createFlatPicture(side, colour), 'floyd-steinberg')
    expect(new Set(pixels).size).toBeGreaterThan(1)
    const sum = [...pixels].reduce(
      ([r, g, b], index) => {
        const [red, green, blue] = toLinearRgb(PALETTE[index] ?? '')
        return [r + red, g + green, b + blue] as const
      },
      [0, 0, 0] as readonly [number, number, number],
    )
    const wanted = toLinearRgb(colour)
    sum.forEach((part, at) => expect(part / side ** 2).toBeCloseTo(wanted[at] ?? Number.NaN, 2))
  },
)

test('a colour error that the palette cannot absorb does not spread to the lower half of the picture', () => {
  const over: Light = { width: 8, height: 8, rgb: new Float32Array(192).fill(40, 0, 3) }
  expect([...quantise(over, 'floyd-steinberg')].slice(32).every((index) => index === 0)).toBe(true)
})
