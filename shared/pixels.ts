/** A block's picture: 100 palette indices, row-major, one byte each; hex in requests, base64 in responses. */

import { PALETTE_SIZE } from './palette.ts'
import { BLOCK_SIZE } from './wall.ts'

export const PIXELS_PER_BLOCK = BLOCK_SIZE * BLOCK_SIZE
export const PIXELS_HEX_LENGTH = PIXELS_PER_BLOCK * 2

/** 100 bytes, each an index into the palette. For an area, there are 100 bytes per block, one block after another. */
export type Pixels = Uint8Array & { readonly Pixels: unique symbol }

/** Why text is not a picture, in words for its sender. */
export type PixelsProblem = { readonly problem: string }

const hexPattern = new RegExp(`^[0-9a-fA-F]{${PIXELS_HEX_LENGTH}}$`)

// The first hex digit of an index is at most `e`.
const pixelsPattern = new RegExp(`^(?:[0-9a-eA-E][0-9a-fA-F]){${PIXELS_PER_BLOCK}}$`)

/** Whether `text` is a picture of a block in hex. */
export const isPixelsHex = (text: string): boolean => pixelsPattern.test(text)

/** Parses 200 hex characters, or returns what is wrong with them. */
export function parsePixels(text: string): Pixels | PixelsProblem {
  if (isPixelsHex(text)) return parseHexPixels(text)
  if (!hexPattern.test(text))
    return { problem: `must be exactly ${PIXELS_HEX_LENGTH} hex characters, two for each of 100 pixels` }
  const bytes = Uint8Array.fromHex(text)
  const at = bytes.findIndex((byte) => byte >= PALETTE_SIZE)
  return { problem: `pixel ${at} is ${bytes[at]}; the palette ends at ${PALETTE_SIZE - 1}` }
}

/** Parses text that is known to be a picture of a block in hex. */
export const parseHexPixels = (text: string): Pixels => trustPixels(Uint8Array.fromHex(text))

/** Brands bytes that were validated before, such as those of a stored row. Throws if there are not 100 per block. */
export function trustPixels(bytes: Uint8Array, blocks = 1): Pixels {
  if (bytes.length !== blocks * PIXELS_PER_BLOCK)
    throw new RangeError(`${blocks} blocks have ${blocks * PIXELS_PER_BLOCK} pixels, not ${bytes.length}`)
  return bytes as Pixels
}

/** Reorders the pixels of an area that is `w` blocks wide, from row by row to block by block. */
export function toBlockOrder(rows: Uint8Array, w: number): Pixels {
  const bytes = new Uint8Array(rows.length)
  for (const [inRows, inBlocks] of listStrips(rows.length, w))
    bytes.set(rows.subarray(inRows, inRows + BLOCK_SIZE), inBlocks)
  return trustPixels(bytes, bytes.length / PIXELS_PER_BLOCK)
}

/** Reorders the pixels of an area that is `w` blocks wide, from block by block to row by row. */
export function toRowOrder(blocks: Pixels, w: number): Uint8Array {
  const bytes = new Uint8Array(blocks.length)
  for (const [inRows, inBlocks] of listStrips(blocks.length, w))
    bytes.set(blocks.subarray(inBlocks, inBlocks + BLOCK_SIZE), inRows)
  return bytes
}

/** Yields, for each line of pixels of each block, its offset in row-by-row order and in block-by-block order. */
function* listStrips(length: number, w: number): Generator<readonly [number, number]> {
  for (let i = 0; i * BLOCK_SIZE < length; i++) {
    const [x, y] = [i % w, Math.floor(i / w)]
    const block = Math.floor(y / BLOCK_SIZE) * w + x
    yield [i * BLOCK_SIZE, block * PIXELS_PER_BLOCK + (y % BLOCK_SIZE) * BLOCK_SIZE]
  }
}

/** The pixels of one block of an area. `block` is its position among the area's blocks, row by row. */
export const sliceBlockPixels = (pixels: Pixels, block: number): Pixels =>
  trustPixels(pixels.subarray(block * PIXELS_PER_BLOCK, (block + 1) * PIXELS_PER_BLOCK))
