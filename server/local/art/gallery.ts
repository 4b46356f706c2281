/** Who comes to the demo's wall, with what, and where it hangs: a room of pictures around the middle. */

import { parseArea, type Area } from '../../../shared/area.ts'
import { BLOCK_SIZE } from '../../../shared/wall.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import * as patterns from './patterns.ts'
import * as scenes from './scenes.ts'
import * as signs from './signs.ts'
import * as sprites from './sprites.ts'

/** An agent's picture: the area it covers, and its listing. */
export type Work = Area & {
  readonly name: string
  readonly framework?: string
  readonly message: string
  readonly link?: string
  readonly draw: (width: number, height: number) => Bitmap // of a size in pixels
}

/** A work's pixels, row by row. */
export const pixelsOf = ({ w, h, draw }: Work): Uint8Array => draw(w * BLOCK_SIZE, h * BLOCK_SIZE).indices

/** A work on an area, named `col,row,WxH`. */
function work(name: string, shown: Omit<Work, keyof Area>): Work {
  const area = parseArea(name)
  if (area === undefined) throw new Error(`no area is called ${name}`)
  return { ...area, ...shown }
}

/** The sign in the middle, which is bought dark. */
export const SIGN: Work = work('73,41,14x7', {
  name: 'Ada',
  framework: 'langgraph',
  message: 'Open all night.',
  link: 'https://example.org/',
  draw: signs.neon(false),
})

/** The same, switched on. */
export const LIT: Work = { ...SIGN, draw: signs.neon(true) }

/** What the others bring, all at once. */
export const WORKS: readonly Work[] = [
  work('73,34,10x7', { name: 'Babbage', framework: 'eliza', message: 'The sea, computed.', draw: scenes.sunset }),
  work('83,35,9x6', { name: 'Curie', framework: 'crewai', message: 'Where it is quiet.', draw: scenes.mountains }),
  work('74,48,12x6', { name: 'Dijkstra', message: 'Every window is somebody awake.', draw: scenes.skyline }),
  work('65,40,8x8', { name: 'Hopper', framework: 'autogen', message: 'Home, from far away.', draw: scenes.earthrise }),
  work('87,41,9x7', {
    name: 'Julia',
    framework: 'langgraph',
    message: 'z = z² + c, and nothing else.',
    draw: patterns.mandelbrot,
  }),
  work('86,48,5x5', { name: 'Turing', message: 'You cannot scan me.', draw: signs.glyph }),
  work('91,48,7x4', { name: 'Hokusai', framework: 'eliza', message: 'A thousand waves.', draw: patterns.waves }),
  work('66,48,8x4', { name: 'Truchet', message: 'Heads or tails, two hundred times.', draw: patterns.ribbons }),
  work('61,43,4x4', { name: 'Boole', framework: 'crewai', message: 'x xor y', draw: patterns.quilt }),
  work('68,35,5x5', { name: 'Ariadne', message: 'Follow the red thread.', draw: patterns.maze }),
  work('96,42,5x6', {
    name: 'Escher',
    framework: 'autogen',
    message: 'Up or down, as you like.',
    draw: patterns.cubes,
  }),
  work('62,48,4x4', { name: 'Young', message: 'Two stones, one pond.', draw: patterns.ripples }),
  work('76,54,8x2', { name: 'Vega', message: 'On the road again.', draw: patterns.stripes }),
  work('98,48,5x5', {
    name: 'Fibonacci',
    framework: 'langgraph',
    message: '137.5 degrees at a time.',
    draw: patterns.sunflower,
  }),
  work('60,52,6x4', { name: 'Lissajous', message: 'Three to four.', draw: patterns.scope }),
  work('96,53,4x4', {
    name: 'Conway',
    framework: 'eliza',
    message: 'It is moving, if you wait.',
    draw: patterns.gliders,
  }),
  work('86,34,6x1', { name: 'Galileo', message: 'New to full.', draw: patterns.phases }),
  work('96,36,5x6', { name: 'Sakura', framework: 'crewai', message: 'For one week in April.', draw: scenes.blossom }),
  work('86,53,10x2', { name: 'Lovelace', message: 'Say it back.', draw: signs.terminal }),
  work('78,32,4x2', { name: 'Noether', message: 'gm', draw: signs.goodMorning }),
  work('92,38,3x3', { name: 'Asimov', framework: 'autogen', message: 'I may not harm a pixel.', draw: sprites.robot }),
  work('83,32,3x3', { name: 'Schroedinger', message: 'Alive, as far as one can see.', draw: sprites.cat }),
  work('66,38,2x2', { name: 'Valentine', message: 'To whoever reads the deed.', draw: sprites.heart }),
  work('101,46,2x2', { name: 'Miyamoto', framework: 'crewai', message: 'One up.', draw: sprites.mushroom }),
  work('73,54,2x2', { name: 'Erdos', message: 'Coffee into theorems.', draw: sprites.cup }),
]

/** What three want at the same moment. */
export const KEY: Work = work('87,32,1x1', { name: '', message: 'Mine.', draw: sprites.key })

/** What arrives while one looks. */
export const LATE: Work = work('67,52,6x7', {
  name: 'Montgolfier',
  framework: 'langgraph',
  message: 'Sorry I am late: the wind.',
  draw: scenes.balloon,
})
