/** What is being prepared: a picture, its size in blocks and its place on the wall. Pure. */

import type { Dither } from '../../shared/quantise.ts'
import type { Fit } from '../../shared/resample.ts'
import { BLOCK_SIZE, COLS, ROWS, blockAt, type BlockIndex, type Cell } from '../../shared/wall.ts'
import type { Area } from '../camera/camera.ts'
import type { Wall } from '../wall/wall-model.ts'

/** The picture as its maker drew it, in its own pixels. */
export type Opened = {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly isPhoto: boolean // rather than drawn
}

/** In blocks. */
export type Size = { readonly w: number; readonly h: number }

/** How a picture is brought down to blocks, as `/api/pixels` takes it. `background` is `#rrggbb`. */
export type Style = { readonly fit: Fit; readonly dither: Dither; readonly background: string }

/** What the worker is asked to paint. */
export type Wish = { readonly size: Size; readonly style: Style }

/** A picture in the wall's colours: one palette index a pixel, row-major. */
export type Painted = Wish & { readonly indices: Uint8Array }

/** What is to stand with the blocks; an empty text is left out. */
export type Words = { readonly name: string; readonly message: string; readonly link: string }

export type Sketch = {
  readonly wall: Wall | undefined // until the canvas read has begun to arrive
  readonly picture: Opened | undefined
  readonly size: Size
  readonly keepsShape: boolean // whether one side follows the other
  readonly style: Style
  readonly ownDither: boolean // whether its maker chose it, and not the look of the picture
  readonly painted: Painted | undefined // of an earlier size or style while the worker is at it
  readonly at: Cell // of the top left block
  readonly wallet: string | undefined // its full address
  readonly mine: ReadonlySet<BlockIndex> // blocks of that wallet
  readonly held: ReadonlySet<BlockIndex> // blocks that somebody is paying for
  readonly words: Words
}

// A picture whose sides are whole blocks was made for the wall and keeps its pixels up to this many blocks a side.
const EXACT_MAX = 16

// Any other picture begins no longer than this: each block costs a dollar.
const LONG_SIDE = 8

/** A sketch of nothing yet, at a place. */
export function begin(at: Cell): Sketch {
  return {
    wall: undefined,
    picture: undefined,
    size: { w: 1, h: 1 },
    keepsShape: true,
    style: { fit: 'cover', dither: 'none', background: '#000000' },
    ownDither: false,
    painted: undefined,
    at,
    wallet: undefined,
    mine: new Set(),
    held: new Set(),
    words: { name: '', message: '', link: '' },
  }
}

/** The sketch with another picture, in the size and the colours that suit it. */
export function withPicture(sketch: Sketch, picture: Opened): Sketch {
  const dither = sketch.ownDither ? sketch.style.dither : ditherFor(picture)
  return fitted({
    ...sketch,
    picture,
    painted: undefined,
    size: sizeFor(picture),
    style: dither === sketch.style.dither ? sketch.style : { ...sketch.style, dither },
  })
}

/** Photographs are dithered; what is drawn, and what was made for the wall, keeps its edges. */
const ditherFor = (picture: Opened): Dither => (picture.isPhoto && !isExact(picture) ? 'floyd-steinberg' : 'none')

const isExact = ({ width, height }: Opened) =>
  width % BLOCK_SIZE === 0 && height % BLOCK_SIZE === 0 && Math.max(width, height) <= EXACT_MAX * BLOCK_SIZE

function sizeFor(picture: Opened): Size {
  const [w, h] = [picture.width / BLOCK_SIZE, picture.height / BLOCK_SIZE]
  if (isExact(picture)) return { w, h }
  const long = Math.min(LONG_SIDE, Math.ceil(Math.max(w, h)))
  return w >= h
    ? { w: long, h: Math.max(1, Math.round((long * h) / w)) }
    : { w: Math.max(1, Math.round((long * w) / h)), h: long }
}

/** The sketch with another width in blocks; the height follows when the shape is kept. */
export function withWidth(sketch: Sketch, w: number): Sketch {
  const { picture, keepsShape, size } = sketch
  const h = picture && keepsShape ? Math.round((w * picture.height) / picture.width) : size.h
  return fitted({ ...sketch, size: { w, h } })
}

/** The sketch with another height in blocks; the width follows when the shape is kept. */
export function withHeight(sketch: Sketch, h: number): Sketch {
  const { picture, keepsShape, size } = sketch
  const w = picture && keepsShape ? Math.round((h * picture.width) / picture.height) : size.w
  return fitted({ ...sketch, size: { w, h } })
}

/** The sketch elsewhere, as near as the wall allows. */
export const movedTo = (sketch: Sketch, at: Cell): Sketch => fitted({ ...sketch, at })

/** Keeps size and place on the wall. */
function fitted(sketch: Sketch): Sketch {
  const w = within(sketch.size.w, 1, COLS)
  const h = within(sketch.size.h, 1, ROWS)
  const at = { col: within(sketch.at.col, 0, COLS - w), row: within(sketch.at.row, 0, ROWS - h) }
  return { ...sketch, size: { w, h }, at }
}

const within = (value: number, low: number, high: number) => Math.min(Math.max(Math.trunc(value), low), high)

/** The blocks it covers, row by row. */
export function covered({ at, size: { w, h } }: Pick<Sketch, 'at' | 'size'>): BlockIndex[] {
  return Array.from({ length: w * h }, (_, i) => blockAt(at.col + (i % w), at.row + Math.floor(i / w))).filter(
    (block) => block !== undefined,
  )
}

/** Where on the wall it lies. */
export function areaCovered({ at, size }: Pick<Sketch, 'at' | 'size'>): Area {
  const [left, top] = [at.col * BLOCK_SIZE, at.row * BLOCK_SIZE]
  return { left, top, right: left + size.w * BLOCK_SIZE, bottom: top + size.h * BLOCK_SIZE }
}

/** The picture as it is to be; `undefined` while it is being painted anew. */
export function finished({ painted, size, style }: Sketch): Painted | undefined {
  return painted?.size === size && painted.style === style ? painted : undefined
}

/** The 100 palette indices that a block is to show; `undefined` off the picture or while it is being painted. */
export function pixelsFor(sketch: Sketch, { col, row }: Cell): Uint8Array | undefined {
  const { size, at } = sketch
  const [dx, dy] = [col - at.col, row - at.row]
  const painted = finished(sketch)
  if (painted === undefined) return undefined
  if (dx < 0 || dy < 0 || dx >= size.w || dy >= size.h) return undefined
  const pixels = new Uint8Array(BLOCK_SIZE * BLOCK_SIZE)
  for (let y = 0; y < BLOCK_SIZE; y++) {
    const from = (dy * BLOCK_SIZE + y) * size.w * BLOCK_SIZE + dx * BLOCK_SIZE
    pixels.set(painted.indices.subarray(from, from + BLOCK_SIZE), y * BLOCK_SIZE)
  }
  return pixels
}
