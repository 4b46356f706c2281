/** Pictures as a decoder other than ours reads them. */

import { readPlainPng } from '../../../server/adapters/pictures/png.ts'

/** A PNG's size, and the colour at each of its pixels as `#rrggbb`. */
export type Decoded = {
  readonly width: number
  readonly height: number
  readColour(x: number, y: number): string
  /** Every colour in the picture. */
  listColours(): ReadonlySet<string>
}

/** Decodes the body of a response. */
export async function decodePicture(response: Response): Promise<Decoded> {
  const file = new Uint8Array(await response.arrayBuffer())
  const { width, height, rgba } = readPlainPng(await new Bun.Image(file).png({ compressionLevel: 0 }).bytes())
  const pixels = new DataView(rgba.buffer, rgba.byteOffset)
  const toHexColour = (rgb: number) => `#${rgb.toString(16).padStart(6, '0')}`
  const readPixel = (pixel: number) => pixels.getUint32(pixel * 4) >>> 8
  return {
    width,
    height,
    readColour: (x, y) => toHexColour(readPixel(y * width + x)),
    listColours: () =>
      new Set([...new Set(Array.from({ length: width * height }, (_, pixel) => readPixel(pixel)))].map(toHexColour)),
  }
}
