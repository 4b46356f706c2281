/** The light that the wall's colours cast on its surroundings. Pure. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, getCell, COLS, ROWS, WIDTH } from '../../shared/wall.ts'
import { parseColour } from '../theme.ts'
import type { Wall } from './wall-model.ts'

// Each group of ten by ten blocks of the wall is one lamp. The lamps are in the middle of a larger grid.
const LAMP_BLOCKS = 10
const [ACROSS, DOWN] = [COLS / LAMP_BLOCKS, ROWS / LAMP_BLOCKS]
const AROUND = 4

/** The size of the picture of the light; stage.css positions its middle over the wall. */
export const LIGHT_WIDTH = ACROSS + 2 * AROUND
export const LIGHT_HEIGHT = DOWN + 2 * AROUND

// The reach of a lamp, in cells of the grid, and the maximum opacity of the light, out of 255.
const REACH = 1.5
const STRENGTH = 150

const colours = PALETTE.map(parseColour)

type Light = readonly [red: number, green: number, blue: number]

/** The light as RGBA, row by row; transparent wherever nothing nearby is painted. */
export function computeRoomLight(wall: Pick<Wall, 'claims' | 'texture'>): Uint8ClampedArray<ArrayBuffer> {
  const light = spreadLight(spreadLight(measureLamps(wall), ACROSS, DOWN), DOWN, LIGHT_WIDTH)
  const rgba = new Uint8ClampedArray(LIGHT_WIDTH * LIGHT_HEIGHT * 4)
  light.forEach((parts, at) => {
    const strongest = Math.max(...parts)
    if (strongest === 0) return
    rgba.set([...parts.map((part) => 255 * Math.sqrt(part / strongest)), STRENGTH * Math.sqrt(strongest)], at * 4)
  })
  return rgba
}

// The share of a lamp's light that arrives at a distance along one axis. A Gaussian in two dimensions is the product of
// two in one dimension.
const computeShare = (away: number) => Math.exp(-((away / REACH) ** 2) / 2) / (Math.sqrt(2 * Math.PI) * REACH)

/** Spreads light along the rows of a grid and beyond their ends; returns the grid with rows and columns exchanged. */
function spreadLight(light: readonly Light[], width: number, height: number): Light[] {
  const places = Array.from({ length: width + 2 * AROUND }, (_, x) => x - AROUND)
  return places.flatMap((x) =>
    Array.from({ length: height }, (_, y) => {
      const sum: [number, number, number] = [0, 0, 0]
      for (let from = 0; from < width; from++) {
        const share = computeShare(from - x)
        light[y * width + from]?.forEach((part, k) => (sum[k] = (sum[k] ?? 0) + part * share))
      }
      return sum
    }),
  )
}

/** The brightness of each lamp in each channel, 0 to 1: the mean of its blocks, each sampled at its middle pixel. */
function measureLamps({ claims, texture }: Pick<Wall, 'claims' | 'texture'>): readonly Light[] {
  const lamps = Array.from({ length: ACROSS * DOWN }, (): [number, number, number] => [0, 0, 0])
  for (const block of claims.keys()) {
    const { col, row } = getCell(block)
    const middle = (row * BLOCK_SIZE + BLOCK_SIZE / 2) * WIDTH + col * BLOCK_SIZE + BLOCK_SIZE / 2
    const colour = colours[texture[middle] ?? PALETTE.length]
    const lamp = lamps[Math.floor(row / LAMP_BLOCKS) * ACROSS + Math.floor(col / LAMP_BLOCKS)]
    // Linear light is about the square of the screen value.
    colour?.forEach((part, k) => lamp && (lamp[k] = (lamp[k] ?? 0) + (part / 255) ** 2 / LAMP_BLOCKS ** 2))
  }
  return lamps
}
