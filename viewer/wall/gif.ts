/** Writes animated GIFs (GIF89a) from palette indices, so that no colour is lost. */

const BYTES = 256
const CODE_BITS_MIN = 8
const CODE_BITS_MAX = 12
const CLEAR = 1 << CODE_BITS_MIN
const END = CLEAR + 1
const CODES_MAX = 1 << CODE_BITS_MAX
const BLOCK_MAX = 255

/** The index of a transparent pixel; no colour may have it. */
export const CLEAR_PIXEL = 255

/** A part of the picture that is drawn over the frames before it. */
export type GifFrame = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly indices: Uint8Array // row by row
  readonly hundredths: number // hundredths of a second until the next frame
}

const encodeU16 = (value: number) => [value & 255, value >> 8]
const encodeAscii = (text: string) => [...text].map((character) => character.charCodeAt(0))

/** The beginning of a file that plays in a loop; `colours` has 256 colours of three bytes each. */
export function encodeHeader(width: number, height: number, colours: Uint8Array): Uint8Array<ArrayBuffer> {
  const screen = [...encodeU16(width), ...encodeU16(height), 0xf7, 0, 0]
  const forever = [0x21, 0xff, 11, ...encodeAscii('NETSCAPE2.0'), 3, 1, 0, 0, 0]
  return Uint8Array.from([...encodeAscii('GIF89a'), ...screen, ...colours, ...forever])
}

/** The bytes of a frame. */
export function encodeFrame({ left, top, width, height, indices, hundredths }: GifFrame): Uint8Array<ArrayBuffer> {
  const control = [0x21, 0xf9, 4, 0b101, ...encodeU16(hundredths), CLEAR_PIXEL, 0]
  const head = [
    ...control,
    0x2c,
    ...encodeU16(left),
    ...encodeU16(top),
    ...encodeU16(width),
    ...encodeU16(height),
    0,
    CODE_BITS_MIN,
  ]
  const codes = compressLzw(indices)
  const blocks = Math.ceil(codes.length / BLOCK_MAX)
  const bytes = new Uint8Array(head.length + codes.length + blocks + 1)
  bytes.set(head)
  let to = head.length
  for (let at = 0; at < codes.length; at += BLOCK_MAX) {
    const block = codes.subarray(at, at + BLOCK_MAX)
    bytes[to] = block.length
    bytes.set(block, to + 1)
    to += block.length + 1
  }
  return bytes
}

/** The byte that ends the GIF file. */
export const GIF_END: Uint8Array<ArrayBuffer> = Uint8Array.of(0x3b)

// The code of each known string followed by one more byte; 0 if that longer string has no code yet.
const longer = new Uint16Array(CODES_MAX * BYTES)

/** Compresses indices with GIF's variant of LZW (Lempel, Ziv, Welch). */
function compressLzw(indices: Uint8Array): Uint8Array {
  const bits = createBitWriter(indices.length)
  let codeBits = CODE_BITS_MIN + 1
  let next = END + 1
  longer.fill(0)
  bits.write(CLEAR, codeBits)
  let known = indices[0] ?? CLEAR_PIXEL
  for (let at = 1; at < indices.length; at++) {
    const byte = indices[at] ?? CLEAR_PIXEL
    const place = known * BYTES + byte
    const code = longer[place] ?? 0
    if (code > 0) {
      known = code
      continue
    }
    bits.write(known, codeBits)
    known = byte
    if (next === CODES_MAX) {
      bits.write(CLEAR, codeBits)
      longer.fill(0)
      codeBits = CODE_BITS_MIN + 1
      next = END + 1
      continue
    }
    longer[place] = next
    if (next === 1 << codeBits) codeBits++
    next++
  }
  bits.write(known, codeBits)
  bits.write(END, codeBits)
  return bits.end()
}

/** Writes codes bit by bit, lowest bit first. No code is longer than two bytes, so two bytes per pixel are enough. */
function createBitWriter(pixels: number) {
  const bytes = new Uint8Array(2 * pixels + 16)
  let length = 0
  let waiting = 0
  let count = 0
  return {
    write(code: number, bits: number) {
      waiting |= code << count
      for (count += bits; count >= 8; count -= 8) {
        bytes[length++] = waiting & 255
        waiting >>>= 8
      }
    },
    end() {
      if (count > 0) bytes[length++] = waiting & 255
      return bytes.subarray(0, length)
    },
  }
}
