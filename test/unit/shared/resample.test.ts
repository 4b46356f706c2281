import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { LINEAR, toLinearRgb } from '../../../shared/oklab.ts'
import { resample, type Fit, type Light, type Raster } from '../../../shared/resample.ts'

const createRaster = (width: number, height: number, pixelAt: (x: number, y: number) => readonly number[]): Raster => ({
  width,
  height,
  rgba: Uint8Array.from(
    Array.from({ length: width * height }, (_, i) => [...pixelAt(i % width, Math.floor(i / width))]).flat(),
  ),
})

const WHITE = [255, 255, 255, 255]
const BLACK = [0, 0, 0, 255]
const CLEAR = [255, 255, 255, 0]

/** The red part of each pixel, rounded to three decimals, row by row. */
const listReds = ({ rgb, width }: Light) =>
  Array.from({ length: rgb.length / 3 / width }, (_, y) =>
    Array.from({ length: width }, (_each, x) => Math.round((rgb[(y * width + x) * 3] ?? 0) * 1000) / 1000),
  )

test('a picture of the right size stays unchanged, bit for bit', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 36, maxLength: 36 }),
      fc.constantFrom<Fit>('cover', 'contain', 'fill'),
      (bytes, fit) => {
        const rgba = bytes.map((byte, at) => (at % 4 === 3 ? 255 : byte))
        const { rgb } = resample({ width: 3, height: 3, rgba }, 3, 3, fit, '#000000')
        expect([...rgb]).toEqual([...rgba].filter((_, at) => at % 4 !== 3).map((byte) => LINEAR[byte] ?? 0))
      },
    ),
  )
})

test('scaling a picture down averages the light of its pixels, not their bytes', () => {
  const checks = createRaster(4, 4, (x, y) => ((x + y) % 2 === 0 ? WHITE : BLACK))
  expect(listReds(resample(checks, 2, 2, 'cover', '#000000'))).toEqual([
    [0.5, 0.5],
    [0.5, 0.5],
  ])
})

test('a source pixel on the border between two target pixels contributes its share to both', () => {
  const half = createRaster(3, 1, (x) => (x === 0 ? WHITE : BLACK))
  expect(listReds(resample(half, 2, 1, 'fill', '#000000'))).toEqual([[0.667, 0]])
})

test('scaling a picture up keeps its hard edges', () => {
  const two = createRaster(2, 1, (x) => (x === 0 ? WHITE : BLACK))
  expect(listReds(resample(two, 4, 2, 'fill', '#000000'))).toEqual([
    [1, 1, 0, 0],
    [1, 1, 0, 0],
  ])
})

test('with the fit cover, the same amount is cut off at both ends of a picture', () => {
  const bars = createRaster(4, 1, (x) => (x === 0 || x === 3 ? WHITE : BLACK))
  expect(listReds(resample(bars, 2, 1, 'cover', '#000000'))).toEqual([[0, 0]])
  const tall = createRaster(1, 4, (_, y) => (y === 0 || y === 3 ? WHITE : BLACK))
  expect(listReds(resample(tall, 1, 2, 'cover', '#000000'))).toEqual([[0], [0]])
})

test('with the fit contain, the whole picture is shown, with the background around it', () => {
  const wide = createRaster(4, 2, () => BLACK)
  expect(listReds(resample(wide, 4, 4, 'contain', '#ffffff'))).toEqual([
    [1, 1, 1, 1],
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [1, 1, 1, 1],
  ])
  const tall = createRaster(1, 4, () => BLACK)
  expect(listReds(resample(tall, 4, 4, 'contain', '#ffffff'))).toEqual(Array.from({ length: 4 }, () => [1, 0, 1, 1]))
})

test('with the fit contain, even a very thin picture is shown as at least one row of pixels', () => {
  const line = createRaster(100, 1, () => WHITE)
  expect(listReds(resample(line, 3, 3, 'contain', '#000000'))[1]).toEqual([1, 1, 1])
})

test('transparent parts of a picture are mixed with the background as linear light', () => {
  expect(
    resample(
      createRaster(1, 1, () => CLEAR),
      1,
      1,
      'cover',
      '#5faf00',
    ).rgb,
  ).toEqual(Float32Array.from(toLinearRgb('#5faf00')))
  const half = createRaster(1, 1, () => [255, 255, 255, 51])
  expect(listReds(resample(half, 1, 1, 'cover', '#000000'))).toEqual([[0.2]])
})

test('a white picture stays white when it is resampled, whatever the sizes', () => {
  const side = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(
      side,
      side,
      side,
      side,
      fc.constantFrom<Fit>('cover', 'contain', 'fill'),
      (w, h, width, height, fit) => {
        const { rgb } = resample(
          createRaster(w, h, () => WHITE),
          width,
          height,
          fit,
          '#ffffff',
        )
        expect(rgb).toHaveLength(width * height * 3)
        for (const part of rgb) expect(Math.abs(part - 1)).toBeLessThan(1e-5)
      },
    ),
  )
})
