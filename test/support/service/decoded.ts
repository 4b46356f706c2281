/** Pictures as another decoder than ours reads them. */

import { readPlainPng } from '../../../server/adapters/pictures/png.ts'

/** A PNG's size, and the colour at each of its pixels as `#rrggbb`. */
export type Decoded = {
  readonly width: number
  readonly height: number
  colourAt(x: number, y: number): string
}

/** Decodes the body of an answer. */
export async function decoded(response: Response): Promise<Decoded> {
  const file = new Uint8Array(await response.arrayBuffer())
  const { width, height, rgba } = readPlainPng(await new Bun.Image(file).png({ compressionLevel: 0 }).bytes())
  const colourAt = (x: number, y: number) => {
    const at = (y * width + x) * 4
    return `#${Buffer.from(rgba.slice(at, at + 3)).toString('hex')}`
  }
  return { width, height, colourAt }
}
