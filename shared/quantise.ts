/**
 * Converts pictures to the palette: each pixel gets the nearest colour in OKLab. This module uses nothing from the
 * server, so that a page can run it too.
 */

import { toLinearRgb, toOklab } from './oklab.ts'
import { PALETTE, PALETTE_SIZE } from './palette.ts'
import type { Light } from './resample.ts'

/** Whether a pixel's colour error is passed on to its neighbours. */
export type Dither = 'none' | 'floyd-steinberg'

// The colours are Float32, like a picture's pixels, so that a pixel in a palette colour leaves no rounding error.
const light = Float32Array.from(PALETTE.flatMap((colour) => [...toLinearRgb(colour)]))

/** The palette sorted by lightness, so that a search can start at a similar lightness and stop early. */
const byLightness = PALETTE.map((_, index) => {
  const [L, a, b] = toOklab(getLight(index, 0), getLight(index, 1), getLight(index, 2))
  return { index, L, a, b }
}).toSorted((one, other) => one.L - other.L)

const indices = Uint8Array.from(byLightness, ({ index }) => index)
const lightness = Float64Array.from(byLightness, ({ L }) => L)
const greenRed = Float64Array.from(byLightness, ({ a }) => a)
const blueYellow = Float64Array.from(byLightness, ({ b }) => b)

/** For each 256th of lightness, the position in `byLightness` of the first colour that is at least as light. */
const beginnings = Uint8Array.from({ length: 257 }, (_, step) =>
  Math.min(PALETTE_SIZE - 1, byLightness.filter(({ L }) => L < step / 256).length),
)

/**
 * The palette index nearest to a colour in linear light, each part from 0 to 1. The search starts at a colour of
 * similar lightness and goes in both directions, until the difference in lightness alone exceeds the distance of the
 * best match.
 */
export function findNearestColour(red: number, green: number, blue: number): number {
  const [L, a, b] = toOklab(red, green, blue)
  const begin = beginnings[Math.min(256, Math.max(0, Math.floor(L * 256)))] ?? 0
  let best = begin
  let least = measureDistance(begin, L, a, b)
  for (let i = begin + 1; i < PALETTE_SIZE && ((lightness[i] ?? 0) - L) ** 2 <= least; i++) {
    const far = measureDistance(i, L, a, b)
    if (isNearer(far, i, least, best)) [least, best] = [far, i]
  }
  for (let i = begin - 1; i >= 0 && ((lightness[i] ?? 0) - L) ** 2 <= least; i--) {
    const far = measureDistance(i, L, a, b)
    if (isNearer(far, i, least, best)) [least, best] = [far, i]
  }
  return indices[best] ?? 0
}

/** Palette indices of a picture, row-major. */
export function quantise(picture: Light, dither: Dither): Uint8Array<ArrayBuffer> {
  return dither === 'none' ? quantiseWithoutDither(picture) : ditherByDiffusion(picture)
}

function quantiseWithoutDither({ rgb }: Light): Uint8Array<ArrayBuffer> {
  const pixels = new Uint8Array(rgb.length / 3)
  for (let i = 0; i < pixels.length; i++) {
    pixels[i] = findNearestColour(
      readClampedChannel(rgb, i * 3),
      readClampedChannel(rgb, i * 3 + 1),
      readClampedChannel(rgb, i * 3 + 2),
    )
  }
  return pixels
}

/** Floyd–Steinberg error diffusion; the direction alternates from line to line. */
function ditherByDiffusion({ width, height, rgb }: Light): Uint8Array<ArrayBuffer> {
  const left = rgb.slice()
  const pixels = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const way = y % 2 === 0 ? 1 : -1
    for (let step = 0; step < width; step++) {
      const x = way === 1 ? step : width - 1 - step
      const at = y * width + x
      const index = findNearestColour(
        readClampedChannel(left, at * 3),
        readClampedChannel(left, at * 3 + 1),
        readClampedChannel(left, at * 3 + 2),
      )
      pixels[at] = index
      const hasAhead = step < width - 1
      for (let channel = 0; channel < 3; channel++) {
        const error = readClampedChannel(left, at * 3 + channel) - getLight(index, channel)
        if (hasAhead) addError(left, (at + way) * 3 + channel, (error * 7) / 16)
        if (y === height - 1) continue
        const below = at + width
        if (step > 0) addError(left, (below - way) * 3 + channel, (error * 3) / 16)
        addError(left, below * 3 + channel, (error * 5) / 16)
        if (hasAhead) addError(left, (below + way) * 3 + channel, error / 16)
      }
    }
  }
  return pixels
}

function addError(left: Float32Array, at: number, error: number): void {
  left[at] = (left[at] ?? 0) + error
}

/**
 * One channel of a pixel, clamped to 0 to 1. Without clamping, an error that no colour can absorb would spread across
 * the picture.
 */
const readClampedChannel = (rgb: Float32Array, at: number) => Math.min(1, Math.max(0, rgb[at] ?? 0))

function getLight(index: number, channel: number): number {
  return light[index * 3 + channel] ?? 0
}

function measureDistance(i: number, L: number, a: number, b: number): number {
  return ((lightness[i] ?? 0) - L) ** 2 + ((greenRed[i] ?? 0) - a) ** 2 + ((blueYellow[i] ?? 0) - b) ** 2
}

/** Of two equally distant colours, the one with the lower index wins, in either direction of the search. */
function isNearer(far: number, i: number, least: number, best: number): boolean {
  return far < least || (far === least && (indices[i] ?? 0) < (indices[best] ?? 0))
}
