/** A wall that many agents have painted with repeated copies of the demo's pictures; it is the same wall each time. */

import { LATE, LIT, loadPicture, WORKS, type Work } from '../../../server/local/gallery.ts'
import { placeArea, listAreaBlocks, type Area } from '../../../shared/area.ts'
import type { Canvas, CanvasBlock } from '../../../shared/contract/canvas.ts'
import { PALETTE } from '../../../shared/palette.ts'
import { toBlockOrder, sliceBlockPixels, type Pixels } from '../../../shared/pixels.ts'
import { BLOCK_SIZE, CLAIM_ORDER, TOTAL_BLOCKS, getBlockAt, type BlockIndex } from '../../../shared/wall.ts'
import { createPrng, type Prng } from '../prng.ts'
import { decodePicture } from '../service/decoded.ts'
import { canvas as sample } from './sample-wall.ts'

const STARTED_AT = 1_790_000_000_000
const AGENTS = 60

const HUNG = [LIT, ...WORKS, LATE]

/** The number of blocks that the demo's pictures cover if each is painted once. */
export const SOLD_IN_DEMO = HUNG.reduce((sum, { w, h }) => sum + w * h, 0)

const pictures = new Map(await Promise.all(HUNG.map(async (work) => [work, await loadPixels(work)] as const)))

/** The pixels of an artwork of the demo, which are loaded in advance. */
function requirePicture(work: Work): Pixels {
  const pixels = pictures.get(work)
  if (pixels === undefined) throw new Error(`the artwork ${work.name} has no loaded picture`)
  return pixels
}

/** The pixels of an artwork, block by block. */
async function loadPixels(work: Work): Promise<Pixels> {
  const {
    readColour: colourAt,
    width,
    height,
  } = await decodePicture(new Response(Uint8Array.from(await loadPicture(work))))
  const rows = Uint8Array.from({ length: width * height }, (_, at) =>
    PALETTE.indexOf(colourAt(at % width, Math.floor(at / width))),
  )
  return toBlockOrder(rows, width / BLOCK_SIZE)
}

/** A wall with at least this many sold blocks, most of them in artworks of many blocks. */
export function createGalleryWall(sold: number): Canvas {
  const prng = createPrng(402)
  const blocks = new Map<BlockIndex, CanvasBlock>()
  const owned: number[] = []
  for (let hung = 0; blocks.size < sold; hung++) {
    const work = HUNG[hung % HUNG.length]
    const area = work && findPlace(work, blocks, prng)
    if (work === undefined || area === undefined) continue
    const agent = owned.length < AGENTS ? owned.length : prng.nextInt(AGENTS)
    const said = { m: work.message, ...(work.link === undefined ? {} : { l: work.link }) }
    const t = STARTED_AT + 60_000 * blocks.size
    for (const [part, block] of listAreaBlocks(area).entries()) {
      const px = sliceBlockPixels(requirePicture(work), part).toBase64()
      blocks.set(block, { i: block, a: agent, t, ...said, px })
    }
    owned[agent] = (owned[agent] ?? 0) + area.w * area.h
  }
  return {
    ...sample,
    agents: owned.map((count, at) => ({
      id: at + 1,
      name: `${HUNG[at % HUNG.length]?.name}${at < HUNG.length ? '' : ` ${Math.floor(at / HUNG.length) + 1}`}`,
      wallet: `0x${(at * 2_654_435 + 4096).toString(16).slice(-4)}…${(at * 40_503 + 4096).toString(16).slice(-4)}`,
      framework: HUNG[at % HUNG.length]?.framework ?? null,
      blocks: count,
    })),
    blocks: [...blocks.values()].toSorted((a, b) => a.i - b.i),
    stats: {
      claimed: blocks.size,
      remaining: TOTAL_BLOCKS - blocks.size,
      agents: owned.length,
      lastClaimedAt: STARTED_AT + 60_000 * blocks.size,
      lastSaleId: blocks.size,
    },
  }
}

/** An open area for an artwork: at the artwork's position in the demo, or else near the middle of the wall. */
function findPlace(work: Work, taken: ReadonlyMap<BlockIndex, unknown>, prng: Prng): Area | undefined {
  const own = getBlockAt(work.col, work.row)
  const candidates = [...(own === undefined ? [] : [own]), ...CLAIM_ORDER.slice(prng.nextInt(400))]
  for (const block of candidates) {
    const area = placeArea(block, work)
    if (area !== undefined && listAreaBlocks(area).every((part) => !taken.has(part))) return area
  }
  return undefined
}
