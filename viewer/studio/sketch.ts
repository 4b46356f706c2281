/** The sketch: a picture, its size in blocks and its position on the wall. Pure. */

import { AREA_BLOCKS_MAX, type Area, type AreaSize, listAreaBlocks } from '../../shared/area.ts'
import type { Dither } from '../../shared/quantise.ts'
import type { Fit } from '../../shared/resample.ts'
import { BLOCK_SIZE, type BlockIndex, COLS, type Cell, ROWS } from '../../shared/wall.ts'
import { type Camera, type Rect, type View, lookAt, toRect } from '../camera/camera.ts'
import type { Wall } from '../wall/wall-model.ts'

/** The properties of an opened picture: its name, its size in its own pixels, and its kind. */
export type OpenedPicture = {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly isPhoto: boolean // as opposed to a drawing
  readonly isClear: boolean // whether some of its pixels are transparent
}

/** How a picture is painted in blocks, with the options of `/api/pixels`. `background` is `#rrggbb`. */
export type Style = { readonly fit: Fit; readonly dither: Dither; readonly background: string }

/** The worker's options for painting the picture. */
export type PaintOptions = { readonly size: AreaSize; readonly style: Style }

/** A picture in the wall's colours: one palette index per pixel, row-major. */
export type PaintedPicture = PaintOptions & { readonly indices: Uint8Array }

/** The texts for the blocks; an order omits empty texts. */
export type Words = { readonly name: string; readonly message: string; readonly link: string }

export type Sketch = {
  readonly wall?: Wall | undefined // undefined until the first part of the wall has arrived
  readonly picture?: OpenedPicture | undefined
  readonly size: AreaSize
  readonly keepsShape: boolean // whether a change of one side keeps the proportions
  readonly style: Style
  readonly ownDither: boolean // whether the user chose the dithering; otherwise it follows the kind of picture
  readonly painted?: PaintedPicture | undefined // may be for an earlier size or style while the worker runs
  readonly at: Cell // position of the top left block
  readonly wallet?: string | undefined // full address of the owner's wallet, if entered
  readonly mine: ReadonlySet<BlockIndex> // blocks of that wallet
  readonly held: number // covered blocks that somebody is paying for
  readonly words: Words
}

// A picture whose sides are multiples of a block's side was made for the wall: if no side is longer than this many
// blocks, each pixel of the picture becomes one wall pixel.
const EXACT_MAX = 16

// Any other picture starts with sides of at most this many blocks, because each block costs money.
const LONG_SIDE = 8

/** A sketch without a picture, at a position. */
export function createSketch(at: Cell): Sketch {
  return {
    size: { w: 1, h: 1 },
    keepsShape: true,
    style: { fit: 'cover', dither: 'none', background: '#000000' },
    ownDither: false,
    at,
    mine: new Set(),
    held: 0,
    words: { name: '', message: '', link: '' },
  }
}

/** The sketch with another picture, in a suitable size and style. */
export function replacePicture(sketch: Sketch, picture: OpenedPicture): Sketch {
  const dither = sketch.ownDither ? sketch.style.dither : chooseDither(picture)
  return limitSketch({
    ...sketch,
    picture,
    painted: undefined,
    size: chooseSize(picture),
    style: dither === sketch.style.dither ? sketch.style : { ...sketch.style, dither },
  })
}

/** The sketch of a plan; the plan's picture already has the wall's colours. */
export function applyPlan(
  sketch: Sketch,
  picture: OpenedPicture,
  { area, words }: { readonly area: Area; readonly words: Words },
): Sketch {
  const { col, row, w, h } = area
  const style: Style = { ...sketch.style, fit: 'cover', dither: 'none' }
  return limitSketch({
    ...sketch,
    picture,
    painted: undefined,
    style,
    ownDither: true,
    size: { w, h },
    at: { col, row },
    words,
  })
}

/**
 * Photographs are dithered, which changes nothing if their colours are already the wall's; drawings are not dithered,
 * to keep their edges sharp.
 */
const chooseDither = (picture: OpenedPicture): Dither => (picture.isPhoto ? 'floyd-steinberg' : 'none')

const hasWholeBlocks = ({ width, height }: OpenedPicture) =>
  width % BLOCK_SIZE === 0 && height % BLOCK_SIZE === 0 && Math.max(width, height) <= EXACT_MAX * BLOCK_SIZE

function chooseSize(picture: OpenedPicture): AreaSize {
  const [w, h] = [picture.width / BLOCK_SIZE, picture.height / BLOCK_SIZE]
  if (hasWholeBlocks(picture)) return { w, h }
  const long = Math.min(LONG_SIDE, Math.ceil(Math.max(w, h)))
  return w >= h
    ? { w: long, h: Math.max(1, Math.round((long * h) / w)) }
    : { w: Math.max(1, Math.round((long * w) / h)), h: long }
}

/** The sketch with another width in blocks; the height follows if the proportions are kept. */
export function setWidth(sketch: Sketch, w: number): Sketch {
  const { picture, keepsShape, size } = sketch
  const h = picture && keepsShape ? Math.round((w * picture.height) / picture.width) : size.h
  return limitSketch({ ...sketch, size: { w, h } })
}

/** The sketch with another height in blocks; the width follows if the proportions are kept. */
export function setHeight(sketch: Sketch, h: number): Sketch {
  const { picture, keepsShape, size } = sketch
  const w = picture && keepsShape ? Math.round((h * picture.width) / picture.height) : size.w
  return limitSketch({ ...sketch, size: { w, h } })
}

/** The sketch at another position, or as near to it as the wall allows. */
export const moveSketch = (sketch: Sketch, at: Cell): Sketch => limitSketch({ ...sketch, at })

/**
 * Limits the size and position to the wall, and the size to the maximum of one order. Resets `held`, which is unknown
 * for the new position.
 */
function limitSketch(sketch: Sketch): Sketch {
  const size = limitSize(sketch.size)
  const at = { col: clampInteger(sketch.at.col, 0, COLS - size.w), row: clampInteger(sketch.at.row, 0, ROWS - size.h) }
  // Returns the same size object if the size is unchanged, so that a picture that is only moved is not painted again.
  const isSame = size.w === sketch.size.w && size.h === sketch.size.h
  return { ...sketch, size: isSame ? sketch.size : size, at, held: 0 }
}

/** The size, reduced in proportion if it exceeds the maximum of an area. */
function limitSize({ w, h }: AreaSize): AreaSize {
  const share = Math.min(1, Math.sqrt(AREA_BLOCKS_MAX / (w * h)))
  return { w: clampInteger(w * share, 1, COLS), h: clampInteger(h * share, 1, ROWS) }
}

const clampInteger = (value: number, low: number, high: number) => Math.min(Math.max(Math.trunc(value), low), high)

/** The covered blocks, row by row. */
export const listCoveredBlocks = (sketch: Pick<Sketch, 'at' | 'size'>): BlockIndex[] => listAreaBlocks(getArea(sketch))

/** The covered area of the wall, in blocks. */
export const getArea = ({ at, size }: Pick<Sketch, 'at' | 'size'>): Area => ({ ...at, ...size })

/** The covered area of the wall, in pixels. */
export const measureCoveredArea = (sketch: Pick<Sketch, 'at' | 'size'>): Rect => toRect(getArea(sketch))

// The largest zoom on a picture, in CSS pixels per wall pixel.
const LOOK_ZOOM = 8

// The margin of the wall around a picture: half of the picture's longer side, but at least this many blocks.
const AROUND_BLOCKS = 3

/** The camera that shows the picture and some of the wall around it. */
export function lookAtSketch(sketch: Pick<Sketch, 'at' | 'size'>, view: View): Camera {
  const { left, top, right, bottom } = measureCoveredArea(sketch)
  const around = Math.max(AROUND_BLOCKS, Math.max(sketch.size.w, sketch.size.h) / 2) * BLOCK_SIZE
  return lookAt(
    { left: left - around, top: top - around, right: right + around, bottom: bottom + around },
    view,
    LOOK_ZOOM,
  )
}

/** The painted picture if it is for the current size and style; `undefined` while it is being painted. */
export function findFinishedPicture({ painted, size, style }: Sketch): PaintedPicture | undefined {
  return painted?.size === size && painted.style === style ? painted : undefined
}

export type Studio = {
  getSketch(): Sketch
  /** Replaces the sketch and updates the preview and every component. */
  setSketch(next: Sketch): void
  /** Moves the camera to the picture. */
  lookAtPicture(): void
}

/** A part of the page that follows the sketch. */
export type Component = { update(next: Sketch, before: Sketch): void }
