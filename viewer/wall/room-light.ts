/** The light of the wall's own colours on its surroundings. Pure. */

import { PALETTE } from '../../shared/palette.ts'
import { BLOCK_SIZE, cellOf, COLS, ROWS, WIDTH } from '../../shared/wall.ts'
import { bytesOf } from '../theme.ts'
import type { Wall } from './wall-model.ts'

// The wall as so many lamps of ten by ten blocks, in the middle of as many more all around.
const LAMP_BLOCKS = 10
const [ACROSS, DOWN] = [COLS / LAMP_BLOCKS, ROWS / LAMP_BLOCKS]
const AROUND = 4

/** The size of the picture of the light; stage.css lays its middle over the wall. */
export const LIGHT_WIDTH = ACROSS + 2 * AROUND
export const LIGHT_HEIGHT = DOWN + 2 * AROUND

// How far a lamp reaches, in lamps, and the strongest light as a share of 255.
const REACH = 1.5
const STRENGTH = 150

const colours = PALETTE.map(bytesOf)

type Light = readonly [red: number, green: number, blue: number]

/** The light as RGBA, row by row; it is dark where nothing is painted near. */
export function roomLight(wall: Pick<Wall, 'claims' | 'texture'>): Uint8ClampedArray<ArrayBuffer> {
  const lamps = lampsOf(wall)
  const rgba = new Uint8ClampedArray(LIGHT_WIDTH * LIGHT_HEIGHT * 4)
  for (let at = 0; at < LIGHT_WIDTH * LIGHT_HEIGHT; at++) {
    const [x, y] = [(at % LIGHT_WIDTH) - AROUND, Math.floor(at / LIGHT_WIDTH) - AROUND]
    const light = lightAt(lamps, x, y)
    const strongest = Math.max(...light)
    if (strongest === 0) continue
    rgba.set([...light.map((part) => 255 * Math.sqrt(part / strongest)), STRENGTH * Math.sqrt(strongest)], at * 4)
  }
  return rgba
}

function lightAt(lamps: readonly Light[], x: number, y: number): Light {
  let [red, green, blue] = [0, 0, 0]
  lamps.forEach((lamp, i) => {
    const away = Math.hypot((i % ACROSS) - x, Math.floor(i / ACROSS) - y)
    const share = Math.exp(-((away / REACH) ** 2) / 2) / (2 * Math.PI * REACH ** 2)
    red += lamp[0] * share
    green += lamp[1] * share
    blue += lamp[2] * share
  })
  return [red, green, blue]
}

/** How bright each lamp is in each part, 0 to 1: the mean of its blocks, told by the pixel in the middle of each. */
function lampsOf({ claims, texture }: Pick<Wall, 'claims' | 'texture'>): readonly Light[] {
  const lamps = Array.from({ length: ACROSS * DOWN }, (): [number, number, number] => [0, 0, 0])
  for (const block of claims.keys()) {
    const { col, row } = cellOf(block)
    const middle = (row * BLOCK_SIZE + BLOCK_SIZE / 2) * WIDTH + col * BLOCK_SIZE + BLOCK_SIZE / 2
    const colour = colours[texture[middle] ?? PALETTE.length]
    const lamp = lamps[Math.floor(row / LAMP_BLOCKS) * ACROSS + Math.floor(col / LAMP_BLOCKS)]
    // Light adds up by about the square of what screens are told.
    colour?.forEach((part, k) => lamp && (lamp[k] = (lamp[k] ?? 0) + (part / 255) ** 2 / LAMP_BLOCKS ** 2))
  }
  return lamps
}
