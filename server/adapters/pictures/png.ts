/** PNG files (RFC 2083, ISO 15948): writes the wall's pictures, and reads PNGs that this runtime writes. */

import { promisify } from 'node:util'
import { crc32, deflate, inflateSync } from 'node:zlib'
import { PALETTE } from '../../../shared/palette.ts'
import type { Raster } from '../../../shared/resample.ts'
import type { Bitmap } from '../../domain/picture/picture.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const HEADER_BYTES = 13
const BIT_DEPTH = 8
const INDEXED = 3
const RGBA = 6

// Length, type and checksum of a chunk.
const CHUNK_FRAME_BYTES = 12

const paletteChunk = createChunk('PLTE', Buffer.from(PALETTE.map((colour) => colour.slice(1)).join(''), 'hex'))
const endChunk = createChunk('IEND', new Uint8Array())

const compress = promisify(deflate)

/** Writes palette indices as an indexed PNG with our 240 colours. */
export async function encodePng({ width, height, indices }: Bitmap): Promise<Uint8Array<ArrayBuffer>> {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([BIT_DEPTH, INDEXED], 8)
  // The difference between two palette indices means nothing, so no row is filtered.
  const rows = new Uint8Array((width + 1) * height)
  for (let y = 0; y < height; y++) rows.set(indices.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  const data = createChunk('IDAT', await compress(rows))
  return Uint8Array.from(Buffer.concat([SIGNATURE, createChunk('IHDR', header), paletteChunk, data, endChunk]))
}

/** Reads an unfiltered PNG with four bytes per pixel, which the runtime writes without compression. */
export function readPlainPng(file: Uint8Array): Raster {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const parts: Uint8Array[] = []
  let header: Buffer = Buffer.alloc(HEADER_BYTES)
  for (let at = SIGNATURE.length; at < view.length;) {
    const start = at + CHUNK_FRAME_BYTES - 4
    const end = start + view.readUInt32BE(at)
    const name = view.toString('latin1', at + 4, start)
    if (name === 'IHDR') header = view.subarray(start, end)
    if (name === 'IDAT') parts.push(view.subarray(start, end))
    at = end + 4
  }
  if (header[8] !== BIT_DEPTH || header[9] !== RGBA) throw new Error('the runtime wrote a PNG that is not 8-bit RGBA')
  const width = header.readUInt32BE(0)
  const [only] = parts
  const data = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
  return removeFilters(inflateSync(data), width, header.readUInt32BE(4))
}

/** Removes the filter byte at the start of each row, in place, so that large pictures need no second copy. */
function removeFilters(rows: Uint8Array<ArrayBuffer>, width: number, height: number): Raster {
  const rowBytes = width * 4
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1)
    if (rows[start] !== 0) throw new Error('the runtime wrote a PNG with a filtered row')
    rows.copyWithin(y * rowBytes, start + 1, start + 1 + rowBytes)
  }
  return { width, height, rgba: rows.subarray(0, rowBytes * height) }
}

function createChunk(name: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(CHUNK_FRAME_BYTES + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(name, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
