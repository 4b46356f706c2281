/** Builds picture files byte by byte, both valid and invalid ones. */

import { crc32, deflateSync } from 'node:zlib'

/** PNG's colour types. */
export const GREY = 0
export const RGB = 2
export const INDEXED = 3
export const RGBA = 6

/**
 * A PNG with eight bits per sample; each row of `data` begins with its filter byte. `extra` chunks come before the
 * data.
 */
export function buildPng(
  width: number,
  height: number,
  kind: number,
  data: Uint8Array,
  extra: ReadonlyArray<readonly [name: string, data: Uint8Array]> = [],
): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, kind], 8)
  return Uint8Array.from(
    Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      encodeChunk('IHDR', header),
      ...extra.map(([name, bytes]) => encodeChunk(name, bytes)),
      encodeChunk('IDAT', deflateSync(data)),
      encodeChunk('IEND', new Uint8Array()),
    ]),
  )
}

/** A PNG of one colour, `#rrggbb`. */
export function createFlatPng(width: number, height: number, colour: string): Uint8Array<ArrayBuffer> {
  const row = Buffer.from(`00${colour.slice(1).repeat(width)}`, 'hex')
  return buildPng(width, height, RGB, Buffer.concat(Array.from({ length: height }, () => row)))
}

/** A progressive JPEG whose last scan is repeated `more` times. */
export async function createJpegOfScans(width: number, height: number, more: number): Promise<Uint8Array<ArrayBuffer>> {
  const plain = await new Bun.Image(createFlatPng(width, height, '#5f87af')).jpeg({ progressive: true }).bytes()
  const file = Buffer.from(plain)
  const end = file.length - 2
  const scan = file.subarray(file.lastIndexOf(Buffer.from([0xff, 0xda])), end)
  return Uint8Array.from(
    Buffer.concat([file.subarray(0, end), ...Array.from({ length: more }, () => scan), file.subarray(end)]),
  )
}

function encodeChunk(name: string, data: Uint8Array): Buffer {
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.write(name, 4, 'latin1')
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(Buffer.concat([frame.subarray(4), data])), 0)
  return Buffer.concat([frame, data, sum])
}
