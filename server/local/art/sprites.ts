/** Small figures, a character a pixel. */

import { bitmapOf } from '../../domain/picture/drawing.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'
import { ink, stamp } from './brushes.ts'

/** A sprite on a ground of one colour, as large as it fits. */
const figure =
  (ground: string, colours: Readonly<Record<string, string>>, rows: readonly string[]) =>
  (width: number, height: number): Bitmap => {
    const across = Math.max(...rows.map(({ length }) => length))
    const scale = Math.floor(Math.min(width / across, height / rows.length))
    const bitmap = bitmapOf(width, height, ink(ground))
    const inks = Object.fromEntries(Object.entries(colours).map(([name, text]) => [name, ink(text)]))
    const [x, y] = [Math.floor((width - across * scale) / 2), Math.floor((height - rows.length * scale) / 2)]
    stamp(bitmap, { rows, inks }, x, y, scale)
    return bitmap
  }

export const robot = figure(
  '#005f87',
  { g: '#afafaf', d: '#767676', w: '#ffffff', k: '#1c1c1c', r: '#ff5f5f', c: '#5fffff' },
  [
    '.....rr.......',
    '......d.......',
    '..gggggggggg..',
    '.gggggggggggg.',
    '.ggccwggccwgg.',
    '.ggccwggccwgg.',
    '.ggccwggccwgg.',
    '.gggggggggggg.',
    '.gkwkwkwkwkgg.',
    '..gggggggggg..',
    '....dd..dd....',
    '..dddddddddd..',
    '.dd.gggggg.dd.',
    '.dd.grrggg.dd.',
  ],
)

export const cat = figure('#ffd7af', { o: '#303030', p: '#ff87af', e: '#87ff5f', k: '#000000', w: '#ffffff' }, [
  '...............',
  '..oo.......oo..',
  '..opo.....opo..',
  '..oppo...oppo..',
  '..ooooooooooo..',
  '.ooooooooooooo.',
  '.ooeeoooooeeoo.',
  '.ookeoooooekoo.',
  '.oooooopoooooo.',
  'w.ooowopowooo.w',
  '.wooowwowwooow.',
  'w.ooooowooooo.w',
  '...oooooooooo..',
  '....ooooooo....',
  '...............',
])

export const heart = figure('#5f0026', { r: '#ff005f', d: '#af005f', w: '#ffd7d7' }, [
  '..........',
  '..rr..rr..',
  '.rwwrrrrd.',
  '.rwrrrrrd.',
  '.rrrrrrrd.',
  '..rrrrrd..',
  '...rrrd...',
  '....rd....',
  '..........',
  '..........',
])

export const mushroom = figure('#87d7ff', { r: '#d70000', w: '#ffffff', s: '#ffd7af', k: '#303030', g: '#5faf00' }, [
  '...rrrr...',
  '..rwwrrr..',
  '.rrwwrrww.',
  '.rrrrrrww.',
  'rwwrrrrrrr',
  'rwwrrwwrrr',
  '..sskssk..',
  '..ssssss..',
  '...ssss...',
  'gggggggggg',
])

export const cup = figure('#875f3a', { w: '#ffffff', c: '#3a1c12', s: '#d7af87', l: '#d7d7d7' }, [
  '...s..s...',
  '..s..s....',
  '...s..s...',
  '.wwwwwww..',
  '.wcccccwww',
  '.wwwwwww.w',
  '.wwwwwwwww',
  '.wwwwwwl..',
  '..wwwll...',
  'llllllllll',
])

export const key = figure('#005f5f', { y: '#ffd700', d: '#af8700' }, [
  '..........',
  '..yyy.....',
  '.yd.dy....',
  '.y...y....',
  '.yd.dyyyyy',
  '..yyyd.y.y',
  '.......d.d',
  '..........',
  '..........',
  '..........',
])
