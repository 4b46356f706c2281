/** The mark of the wall, four by four, as SVG and as an icon for those who only know .ico. */

const EDGE = 4

const GROUND = '#14181d'

// Column, row, width, height and colour of each patch.
const patches = [
  [1, 0, 1, 1, '#ff5f5f'],
  [2, 1, 2, 1, '#ffd75f'],
  [0, 2, 1, 1, '#5fd7ff'],
  [1, 2, 2, 2, '#87ff87'],
] as const

export const faviconSvg = (): string => {
  const rects = patches.map(
    ([x, y, w, h, fill]) => `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${EDGE} ${EDGE}" shape-rendering="crispEdges"><rect width="${EDGE}" height="${EDGE}" fill="${GROUND}"/>${rects.join('')}</svg>`
}

// 32 pixels, eight to a cell.
const SIZE = 32
const CELL = SIZE / EDGE
const DIRECTORY_BYTES = 6 + 16
const HEADER_BYTES = 40
const PIXEL_BYTES = SIZE * SIZE * 4
const MASK_BYTES = (SIZE * SIZE) / 8

/** /favicon.ico: one 32-bit bitmap. */
export function faviconIco(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(DIRECTORY_BYTES + HEADER_BYTES + PIXEL_BYTES + MASK_BYTES)
  const view = new DataView(bytes.buffer)
  // ICONDIR with one ICONDIRENTRY.
  view.setUint16(2, 1, true)
  view.setUint16(4, 1, true)
  bytes.set([SIZE, SIZE], 6)
  view.setUint16(10, 1, true)
  view.setUint16(12, 32, true)
  view.setUint32(14, bytes.length - DIRECTORY_BYTES, true)
  view.setUint32(18, DIRECTORY_BYTES, true)
  // BITMAPINFOHEADER; the height counts the mask, which stays all opaque.
  view.setUint32(22, HEADER_BYTES, true)
  view.setInt32(26, SIZE, true)
  view.setInt32(30, SIZE * 2, true)
  view.setUint16(34, 1, true)
  view.setUint16(36, 32, true)
  for (let at = 0; at < SIZE * SIZE; at += 1) {
    // Rows go upwards in a bitmap.
    const row = SIZE - 1 - Math.floor(at / SIZE)
    const colour = Number.parseInt(colourAt(Math.floor((at % SIZE) / CELL), Math.floor(row / CELL)).slice(1), 16)
    view.setUint32(DIRECTORY_BYTES + HEADER_BYTES + at * 4, 0xff00_0000 + colour, true)
  }
  return bytes
}

const colourAt = (col: number, row: number): string =>
  patches.find(([x, y, w, h]) => col >= x && col < x + w && row >= y && row < y + h)?.[4] ?? GROUND
