/**
 * A plan as a link, to open it in another browser: the painted picture, its position and its texts, compressed in a URL
 * fragment, which browsers never send to a server. The content of a link is untrusted.
 */

import { type Area, AREA_BLOCKS_MAX, formatArea, parseArea } from '../../shared/area.ts'
import { PALETTE, PALETTE_SIZE } from '../../shared/palette.ts'
import { PIXELS_PER_BLOCK } from '../../shared/pixels.ts'
import { BLOCK_SIZE } from '../../shared/wall.ts'
import { parseColour } from '../theme.ts'
import type { Words } from './sketch.ts'

export type Plan = {
  readonly area: Area
  readonly words: Words
  readonly indices: Uint8Array // a palette index per pixel, row-major
}

/** The maximum length of a plan's fragment, because many programs cut off longer links. */
export const LINK_MAX = 16_000

const START = '#plan='
const FORMAT = 'deflate-raw'

// The first line of a plan is JSON, and the pixels follow.
const LINE_END = 10
const LINE_BYTES_MAX = 4000
const BYTES_MAX = LINE_BYTES_MAX + AREA_BLOCKS_MAX * PIXELS_PER_BLOCK

/** Whether a fragment looks like a plan. */
export const isPlan = (fragment: string): boolean => fragment.startsWith(START)

/** The fragment of a plan; `undefined` if the fragment would be too long. */
export async function writePlan({ area, words, indices }: Plan): Promise<string | undefined> {
  const line = new TextEncoder().encode(`${JSON.stringify([formatArea(area), words])}\n`)
  const bytes = Uint8Array.from([...line, ...indices])
  const packed = await new Response(streamThrough(bytes, new CompressionStream(FORMAT))).bytes()
  const fragment = START + packed.toBase64({ alphabet: 'base64url', omitPadding: true })
  return fragment.length > LINK_MAX ? undefined : fragment
}

/** The plan in a fragment; `undefined` if the fragment has no valid plan. */
export async function readPlan(fragment: string): Promise<Plan | undefined> {
  try {
    if (fragment.length > LINK_MAX) return undefined
    const packed = Uint8Array.fromBase64(fragment.slice(START.length), { alphabet: 'base64url' })
    const bytes = await readUpTo(BYTES_MAX, streamThrough(packed, new DecompressionStream(FORMAT)))
    const end = bytes.indexOf(LINE_END)
    const [name, said]: [unknown, Partial<Words> | undefined] = JSON.parse(
      new TextDecoder().decode(bytes.subarray(0, end)),
    )
    const area = parseArea(String(name))
    const indices = bytes.slice(end + 1)
    const isWhole = indices.length === (area?.w ?? 0) * (area?.h ?? 0) * PIXELS_PER_BLOCK
    if (area === undefined || !isWhole || indices.some((index) => index >= PALETTE_SIZE)) return undefined
    const readWord = (key: keyof Words) => String(said?.[key] ?? '')
    return { area, words: { name: readWord('name'), message: readWord('message'), link: readWord('link') }, indices }
  } catch {
    return undefined
  }
}

/** The picture of a plan, as a file. */
export async function createPictureFile({ area, indices }: Plan): Promise<File> {
  const rgba = new Uint8ClampedArray(indices.length * 4)
  for (const [at, index] of indices.entries()) rgba.set([...parseColour(PALETTE[index] ?? ''), 255], at * 4)
  const canvas = new OffscreenCanvas(area.w * BLOCK_SIZE, area.h * BLOCK_SIZE)
  canvas.getContext('2d')?.putImageData(new ImageData(rgba, canvas.width), 0, 0)
  return new File([await canvas.convertToBlob()], 'plan.png', { type: 'image/png' })
}

const streamThrough = (bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream) =>
  new Blob([bytes]).stream().pipeThrough(transform)

/** All bytes of a stream; throws if there are more than `max`. */
async function readUpTo(max: number, stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const found = new Uint8Array(max)
  let length = 0
  const reader = stream.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    found.set(part.value, length)
    length += part.value.length
  }
  return found.subarray(0, length)
}
