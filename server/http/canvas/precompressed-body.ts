/**
 * Bodies made of parts that are compressed on their own, so that a change costs its part only. The gzip body is one
 * member (RFC 1952) of raw deflate parts that each end in a full flush, because browsers silently drop all but the first
 * of several members; the zstd body is a frame (RFC 8878) for each part, which every decoder takes.
 */

import { constants, crc32, createDeflateRaw } from 'node:zlib'
import pLimit from 'p-limit'

/** A part of a body, and what its sum adds to that of the body. */
export type Summed = {
  readonly plain: Uint8Array
  readonly crc: number
  readonly power: number // x to the power of its length in bits: what the sum of all before it is multiplied by
}

/** A part of a body, in every form it is sent in. */
export type Segment = Summed & { readonly deflated: Uint8Array; readonly zstd: Uint8Array }

// As fast as gzip -1 and as small as gzip -6.
const ZSTD_LEVEL = 3
const DEFLATE_LEVEL = 6

/** Sums a part up. */
export const summed = (plain: Uint8Array): Summed => ({
  plain,
  crc: crc32(plain),
  power: powerOfX(8 * plain.length),
})

/** Compresses a part, in the threads that the runtime has for it. */
export async function segmentOf(part: Summed): Promise<Segment> {
  const [deflated, zstd] = await Promise.all([
    inTurn(() => deflate(part.plain)),
    Bun.zstdCompress(part.plain, { level: ZSTD_LEVEL }),
  ])
  return { ...part, deflated, zstd }
}

// After a full flush nothing of one part is needed for the next, so one stream takes them all: making one for each part took
// 40 ms of the main thread whenever a busy wall was published.
const stream = createDeflateRaw({ level: DEFLATE_LEVEL })
const inTurn = pLimit(1)

function deflate(plain: Uint8Array): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  const collect = (piece: Buffer) => pieces.push(piece)
  return new Promise((resolve, reject) => {
    stream.once('error', reject).on('data', collect)
    stream.write(plain)
    stream.flush(constants.Z_FULL_FLUSH, () => {
      stream.off('error', reject).off('data', collect)
      resolve(Buffer.concat(pieces))
    })
  })
}

export type Pieces = readonly Uint8Array[]

/** The body as it is. */
export const plainBody = (parts: readonly Summed[]): Pieces => parts.map(({ plain }) => plain)

/** The body in zstd. */
export const zstdBody = (segments: readonly Segment[]): Pieces => segments.map(({ zstd }) => zstd)

// Magic, deflate, no flags, no time, no hint, unknown system.
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

// An empty last block, for the parts all end in one that is not the last.
const DEFLATE_END = Uint8Array.of(3, 0)

/** The body in gzip. */
export function gzipBody(segments: readonly Segment[]): Pieces {
  const { crc, length } = sumOf(segments)
  const tail = new DataView(new ArrayBuffer(8))
  tail.setUint32(0, crc, true)
  tail.setUint32(4, length, true)
  return [GZIP_HEAD, ...segments.map(({ deflated }) => deflated), DEFLATE_END, new Uint8Array(tail.buffer)]
}

/** The CRC-32 and the length in bytes of a whole body, from its parts' own. */
export function sumOf(parts: readonly Summed[]): { readonly crc: number; readonly length: number } {
  let [crc, length] = [0, 0]
  for (const part of parts) {
    crc = shiftedBy(crc, part.power, part.crc)
    length += part.plain.length
  }
  return { crc, length }
}

/** Puts pieces in a row, in memory that the answers made of it share: they are copied once. */
export const joined = (pieces: Pieces): Blob => new Blob([...pieces] as Uint8Array<ArrayBuffer>[]) // none is in shared memory

// CRC-32 is a remainder of polynomials over GF(2) (the reversed IEEE 802.3 polynomial here), so the sum of two parts in a
// row is the first one's times x to the power of the second one's bits, plus the second one's.
const POLYNOMIAL = 0xed_b8_83_20
const ONE = 0x80_00_00_00
const X = 0x40_00_00_00

/** The CRC-32 of two parts in a row, from each one's own and the second one's length in bytes. */
export const combineCrc = (first: number, second: number, secondLength: number): number =>
  shiftedBy(first, powerOfX(8 * secondLength), second)

const shiftedBy = (first: number, power: number, second: number) => (times(power, first) ^ second) >>> 0

// x to the power of 2^n, for n from 0 to 34: enough for bodies of 2 GiB.
const squares = Array.from({ length: 34 }).reduce<number[]>(
  (powers) => {
    const last = powers.at(-1) ?? X
    powers.push(times(last, last))
    return powers
  },
  [X],
)

function powerOfX(bits: number): number {
  let power = ONE
  for (let n = 0, rest = bits; rest > 0; n++, rest = Math.floor(rest / 2))
    if (rest % 2 === 1) power = times(squares[n] ?? ONE, power)
  return power
}

function times(a: number, b: number): number {
  let product = 0
  let shifted = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}
