/** A block's picture: 100 palette indices, row-major, one byte each; hex in requests, base64 in answers. */

import { PALETTE_SIZE } from './palette.ts'
import { BLOCK_SIZE } from './wall.ts'

export const PIXELS_PER_BLOCK = BLOCK_SIZE * BLOCK_SIZE
export const PIXELS_HEX_LENGTH = PIXELS_PER_BLOCK * 2

/** 100 bytes, each an index into the palette. */
export type Pixels = Uint8Array & { readonly Pixels: unique symbol }

/** Why a text is no picture: what to mend, for the sender. */
export type PixelsProblem = { readonly problem: string }

const hexPattern = new RegExp(`^[0-9a-fA-F]{${PIXELS_HEX_LENGTH}}$`)

/** Reads 200 hex characters, or says what is wrong with them. */
export function parsePixels(text: string): Pixels | PixelsProblem {
  if (!hexPattern.test(text))
    return { problem: `must be exactly ${PIXELS_HEX_LENGTH} hex characters, two for each of 100 pixels` }
  const bytes = Uint8Array.fromHex(text)
  const at = bytes.findIndex((byte) => byte >= PALETTE_SIZE)
  if (at >= 0) return { problem: `pixel ${at} is ${bytes[at]}; the palette ends at ${PALETTE_SIZE - 1}` }
  return bytes as Pixels
}

/** Takes back bytes that passed `parsePixels` once, such as a stored row's. */
export function trustPixels(bytes: Uint8Array): Pixels {
  if (bytes.length !== PIXELS_PER_BLOCK)
    throw new RangeError(`a block has ${PIXELS_PER_BLOCK} pixels, not ${bytes.length}`)
  return bytes as Pixels
}

export const pixelsToHex = (pixels: Pixels): string => pixels.toHex()

export const pixelsToBase64 = (pixels: Pixels): string => pixels.toBase64()

/** Reads what `pixelsToBase64` wrote. */
export const pixelsFromBase64 = (text: string): Pixels => trustPixels(Uint8Array.fromBase64(text))
