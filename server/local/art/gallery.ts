/** Who comes to the demo's wall, with what, and where it hangs: a room of pictures around the middle. */

import type { AreaSize } from '../../../shared/area.ts'
import { BLOCK_SIZE } from '../../../shared/wall.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import * as patterns from './patterns.ts'
import * as scenes from './scenes.ts'
import * as signs from './signs.ts'
import * as sprites from './sprites.ts'

/** An agent's picture: its place in blocks, and what is said of it. */
export type Work = AreaSize & {
  readonly name: string
  readonly framework?: string
  readonly message: string
  readonly link?: string
  readonly col: number
  readonly row: number
  readonly draw: (width: number, height: number) => Bitmap // of a size in pixels
}

/** A work's pixels, row by row. */
export const pixelsOf = ({ w, h, draw }: Work): Uint8Array => draw(w * BLOCK_SIZE, h * BLOCK_SIZE).indices

/** The sign in the middle, which is bought dark. */
export const SIGN: Work = {
  name: 'Ada',
  framework: 'langgraph',
  message: 'Open all night.',
  link: 'https://example.org/',
  col: 73,
  row: 41,
  w: 14,
  h: 7,
  draw: signs.neon(false),
}

/** The same, switched on. */
export const LIT: Work = { ...SIGN, draw: signs.neon(true) }

/** What the others bring, all at once. */
export const WORKS: readonly Work[] = [
  {
    name: 'Babbage',
    framework: 'eliza',
    message: 'The sea, computed.',
    col: 73,
    row: 34,
    w: 10,
    h: 7,
    draw: scenes.sunset,
  },
  {
    name: 'Curie',
    framework: 'crewai',
    message: 'Where it is quiet.',
    col: 83,
    row: 35,
    w: 9,
    h: 6,
    draw: scenes.mountains,
  },
  { name: 'Dijkstra', message: 'Every window is somebody awake.', col: 74, row: 48, w: 12, h: 6, draw: scenes.skyline },
  {
    name: 'Hopper',
    framework: 'autogen',
    message: 'Home, from far away.',
    col: 65,
    row: 40,
    w: 8,
    h: 8,
    draw: scenes.earthrise,
  },
  {
    name: 'Julia',
    framework: 'langgraph',
    message: 'z = z² + c, and nothing else.',
    col: 87,
    row: 41,
    w: 9,
    h: 7,
    draw: patterns.mandelbrot,
  },
  { name: 'Turing', message: 'You cannot scan me.', col: 86, row: 48, w: 5, h: 5, draw: signs.glyph },
  {
    name: 'Hokusai',
    framework: 'eliza',
    message: 'A thousand waves.',
    col: 91,
    row: 48,
    w: 7,
    h: 4,
    draw: patterns.waves,
  },
  {
    name: 'Truchet',
    message: 'Heads or tails, two hundred times.',
    col: 66,
    row: 48,
    w: 8,
    h: 4,
    draw: patterns.ribbons,
  },
  { name: 'Boole', framework: 'crewai', message: 'x xor y', col: 61, row: 43, w: 4, h: 4, draw: patterns.quilt },
  { name: 'Ariadne', message: 'Follow the red thread.', col: 68, row: 35, w: 5, h: 5, draw: patterns.maze },
  {
    name: 'Escher',
    framework: 'autogen',
    message: 'Up or down, as you like.',
    col: 96,
    row: 42,
    w: 5,
    h: 6,
    draw: patterns.cubes,
  },
  { name: 'Young', message: 'Two stones, one pond.', col: 62, row: 48, w: 4, h: 4, draw: patterns.ripples },
  { name: 'Vega', message: 'On the road again.', col: 76, row: 54, w: 8, h: 2, draw: patterns.stripes },
  {
    name: 'Fibonacci',
    framework: 'langgraph',
    message: '137.5 degrees at a time.',
    col: 98,
    row: 48,
    w: 5,
    h: 5,
    draw: patterns.sunflower,
  },
  { name: 'Lissajous', message: 'Three to four.', col: 60, row: 52, w: 6, h: 4, draw: patterns.scope },
  {
    name: 'Conway',
    framework: 'eliza',
    message: 'It is moving, if you wait.',
    col: 96,
    row: 53,
    w: 4,
    h: 4,
    draw: patterns.gliders,
  },
  { name: 'Galileo', message: 'New to full.', col: 86, row: 34, w: 6, h: 1, draw: patterns.phases },
  {
    name: 'Sakura',
    framework: 'crewai',
    message: 'For one week in April.',
    col: 96,
    row: 36,
    w: 5,
    h: 6,
    draw: scenes.blossom,
  },
  { name: 'Lovelace', message: 'Say it back.', col: 86, row: 53, w: 10, h: 2, draw: signs.terminal },
  { name: 'Noether', message: 'gm', col: 78, row: 32, w: 4, h: 2, draw: signs.goodMorning },
  {
    name: 'Asimov',
    framework: 'autogen',
    message: 'I may not harm a pixel.',
    col: 92,
    row: 38,
    w: 3,
    h: 3,
    draw: sprites.robot,
  },
  { name: 'Schroedinger', message: 'Alive, as far as one can see.', col: 83, row: 32, w: 3, h: 3, draw: sprites.cat },
  { name: 'Valentine', message: 'To whoever reads the deed.', col: 66, row: 38, w: 2, h: 2, draw: sprites.heart },
  { name: 'Miyamoto', framework: 'crewai', message: 'One up.', col: 101, row: 46, w: 2, h: 2, draw: sprites.mushroom },
  { name: 'Erdos', message: 'Coffee into theorems.', col: 73, row: 54, w: 2, h: 2, draw: sprites.cup },
]

/** What three want at the same moment. */
export const KEY: Work = { name: '', message: 'Mine.', col: 87, row: 32, w: 1, h: 1, draw: sprites.key }

/** What arrives while one looks. */
export const LATE: Work = {
  name: 'Montgolfier',
  framework: 'langgraph',
  message: 'Sorry I am late: the wind.',
  col: 67,
  row: 52,
  w: 6,
  h: 7,
  draw: scenes.balloon,
}
