/**
 * Bodies made of separately compressed parts, so that a change requires compressing only the parts it touches. The gzip
 * body is one member (RFC 1952), because browsers silently drop all members but the first. Each part in it is raw
 * deflate data that ends in a full flush. The zstd body has one frame (RFC 8878) for each part, because every decoder
 * accepts several frames.
 */

import { promisify } from 'node:util'
import { brotliCompress, constants, crc32, createDeflateRaw } from 'node:zlib'
import pLimit from 'p-limit'

/** A part of a body, plain and in each encoding that is made in parts. */
export type Segment = { readonly plain: Uint8Array; readonly deflated: Uint8Array; readonly zstd: Uint8Array }

// Level 3 of zstd is as fast as gzip -1 and compresses as well as gzip -6.
const ZSTD_LEVEL = 3
const DEFLATE_LEVEL = 6

// Half of the parts of a small wall are empty: rows without a sold block, and groups without an agent.
const EMPTY: Segment = { plain: new Uint8Array(), deflated: new Uint8Array(), zstd: new Uint8Array() }

/** Compresses a part, in the runtime's compression threads. */
export async function createSegment(plain: Uint8Array): Promise<Segment> {
  if (plain.length === 0) return EMPTY
  const [deflated, zstd] = await Promise.all([
    runInTurn(() => deflate(plain)),
    Bun.zstdCompress(plain, { level: ZSTD_LEVEL }),
  ])
  return { plain, deflated, zstd }
}

// Higher levels take four times as long for 4 % fewer bytes.
const BROTLI_LEVEL = 5

/** The highest level of Brotli, for bodies that never change. */
export const BROTLI_LEVEL_MAX = constants.BROTLI_MAX_QUALITY

const compressBrotli = promisify(brotliCompress)

/**
 * Returns a function that returns the body in Brotli, or nothing until it is ready. Brotli must compress the body as a
 * whole; this happens in a thread, after the first call.
 */
export function createBrotliBody(plain: Pieces, level: number = BROTLI_LEVEL): () => Blob | undefined {
  let body: Blob | undefined
  let making: Promise<void> | undefined
  const make = async () => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: level }
    body = joinPieces([await compressBrotli(await joinPieces(plain).bytes(), { params })])
  }
  return () => {
    // If compression fails, the other encodings are still available.
    making ??= make().catch(() => {})
    return body
  }
}

// After a full flush, no part depends on another, so one stream compresses all parts. Creating a stream for each part
// took 40 ms of the main thread's time for each publication of a busy wall.
const stream = createDeflateRaw({ level: DEFLATE_LEVEL })
const runInTurn = pLimit(1)

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

/** The uncompressed body. */
export const joinPlain = (segments: readonly Segment[]): Pieces => segments.map(({ plain }) => plain)

/** The body compressed with zstd. */
export const joinZstd = (segments: readonly Segment[]): Pieces => segments.map(({ zstd }) => zstd)

// The gzip header: magic number, deflate, no flags, no time, no hint, unknown system.
const GZIP_HEAD = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

// An empty final block, because each part ends in a block that is not marked final.
const DEFLATE_END = Uint8Array.of(3, 0)

/** The body compressed with gzip. */
export function joinGzip(segments: readonly Segment[]): Pieces {
  const { crc, length } = combineChecksums(joinPlain(segments))
  const tail = new DataView(new ArrayBuffer(8))
  tail.setUint32(0, crc, true)
  tail.setUint32(4, length, true)
  return [GZIP_HEAD, ...segments.map(({ deflated }) => deflated), DEFLATE_END, new Uint8Array(tail.buffer)]
}

/** The CRC-32 and the length in bytes of a whole body. */
export const combineChecksums = (pieces: Pieces): { readonly crc: number; readonly length: number } => ({
  crc: pieces.reduce((crc, piece) => crc32(piece, crc), 0),
  length: pieces.reduce((length, piece) => length + piece.length, 0),
})

/** Concatenates pieces into memory that all responses share, so that the pieces are copied only once. */
export const joinPieces = (pieces: Pieces): Blob => new Blob([...pieces] as Uint8Array<ArrayBuffer>[]) // the cast is safe because no piece is in shared memory
