/**
 * The wall as one byte per pixel, row-major: palette indices, and three values of our own for open blocks and owned
 * blocks without a picture.
 */

import { PALETTE_SIZE } from '../../shared/palette.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { BLOCK_SIZE, type BlockIndex, HEIGHT, WIDTH, getCell } from '../../shared/wall.ts'
import type { Rect } from '../camera/camera.ts'

/** The background of an open block. */
export const OPEN = PALETTE_SIZE
/** The background of an owned block without a picture. */
export const NO_PICTURE = PALETTE_SIZE + 1
/** The frame of an owned block without a picture. */
export const NO_PICTURE_FRAME = PALETTE_SIZE + 2

/** `WIDTH * HEIGHT` bytes. */
export type IndexTexture = Uint8Array<ArrayBuffer>

const last = BLOCK_SIZE - 1

const blockWithoutPicture = createTile((x, y) =>
  x === 0 || y === 0 || x === last || y === last ? NO_PICTURE_FRAME : NO_PICTURE,
)

const openBlock = createTile(() => OPEN)

/** The texture of a wall on which no block is sold. */
export function createTexture(): IndexTexture {
  return new Uint8Array(WIDTH * HEIGHT).fill(OPEN)
}

/** Draws an owned block: its picture, or a frame if it has none. */
export function paintBlock(texture: IndexTexture, block: BlockIndex, px: string | undefined) {
  paintBytes(texture, block, px === undefined ? blockWithoutPicture : Uint8Array.fromBase64(px))
}

/** Clears a block, which then looks as it did before it was sold. */
export function clearBlock(texture: IndexTexture, block: BlockIndex) {
  paintBytes(texture, block, openBlock)
}

/** The 100 bytes of a block in the texture, row by row. */
export function readPicture(texture: IndexTexture, block: BlockIndex): Uint8Array {
  const start = computeOffset(block)
  return createTile((x, y) => texture[start + y * WIDTH + x] ?? OPEN)
}

/** Whether a block looks open in the texture. */
export const isOpenAt = (texture: IndexTexture, block: BlockIndex): boolean => texture[computeOffset(block)] === OPEN

/** Draws a block from the picture that starts at offset `at` of `bytes`. */
export function paintBytes(texture: IndexTexture, block: BlockIndex, bytes: Uint8Array, at = 0) {
  const start = computeOffset(block)
  // Copies byte by byte, because creating a view of each line costs more than copying its ten bytes.
  for (let y = 0; y < BLOCK_SIZE; y++)
    for (let x = 0; x < BLOCK_SIZE; x++) texture[start + y * WIDTH + x] = bytes[at + y * BLOCK_SIZE + x] ?? OPEN
}

function computeOffset(block: BlockIndex) {
  const { col, row } = getCell(block)
  return (row * WIDTH + col) * BLOCK_SIZE
}

function createTile(byteAt: (x: number, y: number) => number): Uint8Array {
  return Uint8Array.from({ length: PIXELS_PER_BLOCK }, (_, i) => byteAt(i % BLOCK_SIZE, Math.floor(i / BLOCK_SIZE)))
}

/** An area of the texture as an image, without scaling; `colours` is the result of `createColourTable`. */
export function createImage(texture: IndexTexture, { left, top, right, bottom }: Rect, colours: Uint8Array): ImageData {
  const [width, height] = [right - left, bottom - top]
  const colourOf = new Uint32Array(colours.buffer)
  const rgba = new Uint32Array(width * height)
  for (let y = 0; y < height; y++) {
    const row = (top + y) * WIDTH + left
    for (let x = 0; x < width; x++) rgba[y * width + x] = colourOf[texture[row + x] ?? 0] ?? 0
  }
  return new ImageData(new Uint8ClampedArray(rgba.buffer), width, height)
}
