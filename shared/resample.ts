/** Scales pictures in linear light: each new pixel is the mean of the part of the picture that it covers. */

import { LINEAR, toLinearRgb } from './oklab.ts'

/** How a picture fits into a frame with different proportions. */
export type Fit = 'cover' | 'contain' | 'fill'

/** A picture: four bytes per pixel (sRGB and opacity), row-major. */
export type Raster = { readonly width: number; readonly height: number; readonly rgba: Uint8Array | Uint8ClampedArray }

/** Linear light, three numbers per pixel, row-major. */
export type Light = { readonly width: number; readonly height: number; readonly rgb: Float32Array }

/** A range along one side of the picture, and the range that it fills along the same side of the frame. */
type Span = { readonly from: number; readonly size: number; readonly at: number; readonly length: number }

/** The weight of one picture pixel in one frame pixel. */
type Share = { readonly source: number; readonly target: number; readonly weight: number }

/** Scales `raster` to a frame of `width` x `height`; `background` (`#rrggbb`) shows through and around the picture. */
export function resample(raster: Raster, width: number, height: number, fit: Fit, background: string): Light {
  const [across, down] = computeSpans(raster, width, height, fit)
  const ground = toLinearRgb(background)
  const rgb = new Float32Array(width * height * 3)
  fillBackground(rgb, ground, { width, across, down })
  const columns = computeShares(across)
  const rows = Map.groupBy(computeShares(down), ({ source }) => source)
  const line = new Float32Array(width * 3)
  for (const [y, shares] of rows) {
    line.fill(0)
    addRow(line, raster, y, columns, ground)
    for (const { target, weight } of shares) addLine(rgb, line, target * width * 3, weight)
  }
  return { width, height, rgb }
}

function computeSpans({ width: w, height: h }: Raster, width: number, height: number, fit: Fit): readonly [Span, Span] {
  const createWholeSpan = (size: number, length: number): Span => ({ from: 0, size, at: 0, length })
  if (fit === 'fill') return [createWholeSpan(w, width), createWholeSpan(h, height)]
  const isWide = w * height > h * width
  if (fit === 'cover') {
    const createCroppedSpan = (size: number, kept: number, length: number): Span => ({
      from: (size - kept) / 2,
      size: kept,
      at: 0,
      length,
    })
    return isWide
      ? [createCroppedSpan(w, (h * width) / height, width), createWholeSpan(h, height)]
      : [createWholeSpan(w, width), createCroppedSpan(h, (w * height) / width, height)]
  }
  const createInsetSpan = (size: number, length: number, frame: number): Span => ({
    from: 0,
    size,
    at: Math.floor((frame - length) / 2),
    length,
  })
  return isWide
    ? [createWholeSpan(w, width), createInsetSpan(h, Math.max(1, Math.round((h * width) / w)), height)]
    : [createInsetSpan(w, Math.max(1, Math.round((w * height) / h)), width), createWholeSpan(h, height)]
}

/** Each picture pixel that overlaps a frame pixel, along one side; the weights for one frame pixel add up to 1. */
function computeShares({ from, size, at, length }: Span): readonly Share[] {
  const shares: Share[] = []
  const step = size / length
  for (let i = 0; i < length; i++) {
    const start = from + i * step
    const end = from + (i + 1) * step
    for (let source = Math.floor(start); source < end - 1e-9; source++) {
      const overlap = Math.min(end, source + 1) - Math.max(start, source)
      if (overlap > 1e-9) shares.push({ source, target: at + i, weight: overlap / step })
    }
  }
  return shares
}

/** Fills the frame: inside the picture, sums start at zero; around it, the background colour is final. */
function fillBackground(
  rgb: Float32Array,
  ground: readonly number[],
  { width, across, down }: { readonly width: number; readonly across: Span; readonly down: Span },
): void {
  for (let i = 0; i < rgb.length; i++) rgb[i] = ground[i % 3] ?? 0
  for (let y = down.at; y < down.at + down.length; y++) {
    const start = y * width + across.at
    rgb.fill(0, start * 3, (start + across.length) * 3)
  }
}

/** Adds row `y` of the picture, over the background, to a line of the frame's width. */
function addRow(
  line: Float32Array,
  { width, height, rgba }: Raster,
  y: number,
  columns: readonly Share[],
  [red, green, blue]: readonly [number, number, number],
): void {
  const row = Math.min(y, height - 1) * width
  for (const { source, target, weight } of columns) {
    const from = (row + Math.min(source, width - 1)) * 4
    const opacity = (rgba[from + 3] ?? 255) / 255
    const own = weight * opacity
    const rest = weight - own
    const to = target * 3
    line[to] = (line[to] ?? 0) + own * readLight(rgba, from) + rest * red
    line[to + 1] = (line[to + 1] ?? 0) + own * readLight(rgba, from + 1) + rest * green
    line[to + 2] = (line[to + 2] ?? 0) + own * readLight(rgba, from + 2) + rest * blue
  }
}

function addLine(rgb: Float32Array, line: Float32Array, start: number, weight: number): void {
  for (let i = 0; i < line.length; i++) rgb[start + i] = (rgb[start + i] ?? 0) + (line[i] ?? 0) * weight
}

const readLight = (rgba: Uint8Array | Uint8ClampedArray, at: number) => LINEAR[rgba[at] ?? 0] ?? 0
