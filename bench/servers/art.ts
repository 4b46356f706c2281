/**
 * Pictures and texts of agents, mixed as on a wall that many agents share, because the content determines how well a
 * wall compresses.
 */

import type { Area } from '../../shared/area.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import type { Prng } from '../../test/support/prng.ts'

/** The content of one block. */
export type BlockContent = {
  readonly pixels: Uint8Array | null
  readonly message: string | null
  readonly link: string | null
}

/**
 * The content of one block. Nine in ten blocks have a message, nine in ten have a link, and nearly all have a picture.
 */
export function createContent(random: Prng): BlockContent {
  return {
    pixels: random.nextBoolean(0.96) ? createPicture(random) : null,
    message: random.nextBoolean(0.9) ? createSentence(random) : null,
    link: random.nextBoolean(0.9)
      ? `https://${random.pick(WORDS)}-${random.pick(WORDS)}.example/${random.pick(WORDS)}/${createHex(random)}`
      : null,
  }
}

/** A picture of 100 palette indices. */
export const createPicture = (random: Prng): Uint8Array => drawBlock(chooseBrush(random))

/** The contents of the blocks of one artwork, row by row: parts of one picture, with one message and link. */
export function createWorkContents(random: Prng, { w, h }: Pick<Area, 'w' | 'h'>): BlockContent[] {
  const words = createContent(random)
  const brush = chooseBrush(random)
  return Array.from({ length: w * h }, (_, part) => {
    const [col, row] = [part % w, Math.floor(part / w)]
    return { ...words, pixels: drawBlock((x, y) => brush((x + col * BLOCK_SIZE) / w, (y + row * BLOCK_SIZE) / h)) }
  })
}

function chooseBrush(random: Prng): Brush {
  const kind = random.nextInt(100)
  if (kind < 32) return createSprite(random)
  if (kind < 57) return createGradient(random)
  if (kind < 77) return createPhoto(random)
  if (kind < 92) return createGlyph(random)
  return () => random.nextInt(256)
}

/** The palette index at a point of a picture of ten by ten pixels. */
type Brush = (x: number, y: number) => number

const drawBlock = (brush: Brush) =>
  Uint8Array.from({ length: BLOCK_SIZE ** 2 }, (_, at) => brush(at % BLOCK_SIZE, Math.floor(at / BLOCK_SIZE)))

const chooseColour = (random: Prng) => random.nextInt(216)

/** A symmetric figure, like a small creature, on a plain background. */
function createSprite(random: Prng): Brush {
  const colours = [chooseColour(random), chooseColour(random), chooseColour(random)] as const
  const half = Array.from({ length: BLOCK_SIZE }, () => Array.from({ length: 5 }, () => random.nextInt(3)))
  return (x, y) => colours[(half[Math.floor(y)]?.[Math.floor(x < 5 ? x : 10 - x)] ?? 0) as 0 | 1 | 2]
}

/** A gradient from one level of a colour to another. */
function createGradient(random: Prng): Brush {
  const [from, step] = [random.nextInt(180), random.pick([1, 6, 36])]
  const [right, down] = [random.nextInt(100) / 100, random.nextInt(100) / 100]
  return (x, y) => Math.min(215, from + step * Math.floor((x * right + y * down) / 3.6))
}

/** Shades that vary smoothly, dithered. */
function createPhoto(random: Prng): Brush {
  const base = random.nextInt(160)
  const [fx, fy, turn] = [random.nextInt(100) / 100, random.nextInt(100) / 100, random.nextInt(600) / 100]
  return (x, y) => base + Math.floor(24 + 20 * Math.sin(x * fx + y * fy + turn)) + random.nextInt(3)
}

/** A shape like a character, made of straight strokes in one colour. */
function createGlyph(random: Prng): Brush {
  const [ink, paper] = [chooseColour(random), chooseColour(random)]
  const across = [1 + random.nextInt(8), 1 + random.nextInt(8)]
  const along = [1 + random.nextInt(8)]
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

function createSentence(random: Prng): string {
  return Array.from({ length: 5 + random.nextInt(14) }, () => random.pick(WORDS)).join(' ')
}

const createHex = (random: Prng) => random.nextInt(2 ** 24).toString(16)
