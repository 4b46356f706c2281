/**
 * Pictures and texts of agents, mixed as on a wall that many agents share, because the content determines how well a
 * wall compresses.
 */

import type { Area } from '../../shared/area.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import { pick, type Prng } from './prng.ts'

/** The content of one block. */
export type BlockContent = {
  readonly pixels: Uint8Array | null
  readonly message: string | null
  readonly link: string | null
}

/**
 * The content of one block. Nine in ten blocks have a message, nine in ten have a link, and nearly all have a picture.
 */
export function createContent(roll: Prng): BlockContent {
  return {
    pixels: roll() < 0.96 ? createPicture(roll) : null,
    message: roll() < 0.9 ? createSentence(roll) : null,
    link:
      roll() < 0.9
        ? `https://${pick(roll, WORDS)}-${pick(roll, WORDS)}.example/${pick(roll, WORDS)}/${createHex(roll)}`
        : null,
  }
}

/** A picture of 100 palette indices. */
export const createPicture = (roll: Prng): Uint8Array => drawBlock(chooseBrush(roll))

/** The contents of the blocks of one artwork, row by row: parts of one picture, with one message and link. */
export function createWorkContents(roll: Prng, { w, h }: Pick<Area, 'w' | 'h'>): BlockContent[] {
  const words = createContent(roll)
  const brush = chooseBrush(roll)
  return Array.from({ length: w * h }, (_, part) => {
    const [col, row] = [part % w, Math.floor(part / w)]
    return { ...words, pixels: drawBlock((x, y) => brush((x + col * BLOCK_SIZE) / w, (y + row * BLOCK_SIZE) / h)) }
  })
}

function chooseBrush(roll: Prng): Brush {
  const kind = roll()
  if (kind < 0.32) return createSprite(roll)
  if (kind < 0.57) return createGradient(roll)
  if (kind < 0.77) return createPhoto(roll)
  if (kind < 0.92) return createGlyph(roll)
  return () => Math.floor(roll() * 256)
}

/** The palette index at a point of a picture of ten by ten pixels. */
type Brush = (x: number, y: number) => number

const drawBlock = (brush: Brush) =>
  Uint8Array.from({ length: BLOCK_SIZE ** 2 }, (_, at) => brush(at % BLOCK_SIZE, Math.floor(at / BLOCK_SIZE)))

const chooseColour = (roll: Prng) => Math.floor(roll() * 216)

/** A symmetric figure, like a small creature, on a plain background. */
function createSprite(roll: Prng): Brush {
  const colours = [chooseColour(roll), chooseColour(roll), chooseColour(roll)] as const
  const half = Array.from({ length: BLOCK_SIZE }, () => Array.from({ length: 5 }, () => Math.floor(roll() * 3)))
  return (x, y) => colours[(half[Math.floor(y)]?.[Math.floor(x < 5 ? x : 10 - x)] ?? 0) as 0 | 1 | 2]
}

/** A gradient from one level of a colour to another. */
function createGradient(roll: Prng): Brush {
  const [from, step] = [Math.floor(roll() * 180), pick(roll, [1, 6, 36])]
  const [right, down] = [roll(), roll()]
  return (x, y) => Math.min(215, from + step * Math.floor((x * right + y * down) / 3.6))
}

/** Shades that vary smoothly, dithered. */
function createPhoto(roll: Prng): Brush {
  const base = Math.floor(roll() * 160)
  const [fx, fy, turn] = [roll(), roll(), roll() * 6]
  return (x, y) => base + Math.floor(24 + 20 * Math.sin(x * fx + y * fy + turn) + 3 * roll())
}

/** A shape like a character, made of straight strokes in one colour. */
function createGlyph(roll: Prng): Brush {
  const [ink, paper] = [chooseColour(roll), chooseColour(roll)]
  const across = [1 + Math.floor(roll() * 8), 1 + Math.floor(roll() * 8)]
  const along = [1 + Math.floor(roll() * 8)]
  return (x, y) => (across.includes(Math.floor(y)) || along.includes(Math.floor(x)) ? ink : paper)
}

const WORDS = [
  'agent',
  'wall',
  'pixel',
  'hello',
  'made',
  'with',
  'paint',
  'bought',
  'this',
  'block',
  'signal',
  'future',
  'cloud',
  'garden',
  'from',
  'the',
  'open',
  'machine',
  'dream',
  'quiet',
  'north',
  'market',
  'lantern',
  'by',
  'an',
  'for',
  'orbit',
] as const

function createSentence(roll: Prng): string {
  return Array.from({ length: 5 + Math.floor(roll() * 14) }, () => pick(roll, WORDS)).join(' ')
}

const createHex = (roll: Prng) => Math.floor(roll() * 2 ** 24).toString(16)
