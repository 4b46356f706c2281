/** The wall as one byte per pixel, row-major: palette indices, and three values of our own for blocks without a picture. */

import { PALETTE_SIZE } from '../../shared/palette.ts'
import { BLOCK_SIZE, HEIGHT, WIDTH, cellOf, type BlockIndex } from '../../shared/wall.ts'

/** Ground of a block nobody owns. */
export const OPEN = PALETTE_SIZE
/** Ground of a block that is owned and has no picture yet. */
export const BARE = PALETTE_SIZE + 1
/** The frame around such a block. */
export const BARE_FRAME = PALETTE_SIZE + 2

/** Bytes of a block's picture. */
export const BLOCK_BYTES = BLOCK_SIZE * BLOCK_SIZE

/** `WIDTH * HEIGHT` bytes. */
export type Atlas = Uint8Array<ArrayBuffer>

const last = BLOCK_SIZE - 1

const bareBlock = tile((x, y) => (x === 0 || y === 0 || x === last || y === last ? BARE_FRAME : BARE))

const openBlock = tile(() => OPEN)

/** A wall of which nothing is owned. */
export function blankAtlas(): Atlas {
  return new Uint8Array(WIDTH * HEIGHT).fill(OPEN)
}

/** Draws an owned block's picture, or the frame of a block without one. */
export function paintBlock(atlas: Atlas, block: BlockIndex, px: string | undefined) {
  place(atlas, block, px === undefined ? bareBlock : decodePicture(px))
}

/** Clears a block, as before it was sold. */
export function clearBlock(atlas: Atlas, block: BlockIndex) {
  place(atlas, block, openBlock)
}

/** A block's 100 palette indices. Older browsers lack `Uint8Array.fromBase64`, hence the longer way. */
export function decodePicture(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** The 100 bytes the atlas holds for a block, row by row. */
export function pictureAt(atlas: Atlas, block: BlockIndex): Uint8Array {
  const start = offsetOf(block)
  return tile((x, y) => atlas[start + y * WIDTH + x] ?? OPEN)
}

/** Whether nothing is painted at a block. */
export const isOpenAt = (atlas: Atlas, block: BlockIndex): boolean => atlas[offsetOf(block)] === OPEN

/** Copies a block from one atlas to another; answers whether that changed anything. */
export function copyBlock(from: Atlas, to: Atlas, block: BlockIndex): boolean {
  const start = offsetOf(block)
  let isOther = false
  for (let y = 0; y < BLOCK_SIZE; y++)
    for (let at = start + y * WIDTH, end = at + BLOCK_SIZE; at < end; at++) {
      const byte = from[at] ?? OPEN
      isOther ||= byte !== to[at]
      to[at] = byte
    }
  return isOther
}

/** Draws the picture at an offset of some bytes at a block. */
export function paintBytes(atlas: Atlas, block: BlockIndex, bytes: Uint8Array, at: number) {
  const start = offsetOf(block)
  // Byte by byte, because a view of each line costs more than its ten bytes.
  for (let y = 0; y < BLOCK_SIZE; y++)
    for (let x = 0; x < BLOCK_SIZE; x++) atlas[start + y * WIDTH + x] = bytes[at + y * BLOCK_SIZE + x] ?? OPEN
}

const place = (atlas: Atlas, block: BlockIndex, picture: Uint8Array) => paintBytes(atlas, block, picture, 0)

function offsetOf(block: BlockIndex) {
  const { col, row } = cellOf(block)
  return (row * WIDTH + col) * BLOCK_SIZE
}

function tile(byteAt: (x: number, y: number) => number): Uint8Array {
  return Uint8Array.from({ length: BLOCK_SIZE * BLOCK_SIZE }, (_, i) =>
    byteAt(i % BLOCK_SIZE, Math.floor(i / BLOCK_SIZE)),
  )
}
