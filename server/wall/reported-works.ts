/** The artworks that readers reported, as the operator sees them, and the operator's decision. */

import { getBlockAt, getCell, formatCoord, type BlockIndex } from '../../shared/wall.ts'
import type { Address } from '../domain/purchase/payment.ts'
import { findArtwork } from '../domain/wall/artworks.ts'
import { readBlock, UNPAINTED } from '../domain/wall/canvas.ts'
import { CONTENT_PARTS } from '../domain/wall/moderation.ts'
import type { OpenReport } from '../domain/wall/reports.ts'
import type { WallView } from '../domain/wall/wall-view.ts'
import type { Reports } from '../operator-ports.ts'
import { moderateBlocks, type ModerateDeps } from './moderate-blocks.ts'

type ReportedDeps = ModerateDeps & { readonly view: WallView; readonly reports: Pick<Reports, 'listOpen' | 'close'> }

/**
 * A reported artwork. `around` lists the sold blocks near the block of the first report, each with its pixels in
 * base64, or `null` if it has no picture.
 */
export type ReportedWork = {
  readonly place: string // a block of the artwork
  readonly owner: Address | null
  readonly blocks: number
  readonly message: string | null
  readonly link: string | null
  readonly reports: readonly Pick<OpenReport, 'at' | 'reason' | 'note'>[]
  readonly around: readonly (readonly [block: number, pixels: string | null])[]
}

/** The size of the drawn surroundings, in blocks. */
export const DRAWN = { across: 7, down: 5 } as const

/** Returns how many artworks wait for the operator, and at most `limit` of these artworks, most reported first. */
export async function listReportedWorks(
  { view, reports }: Pick<ReportedDeps, 'view' | 'reports'>,
  limit: number,
): Promise<{ readonly waiting: number; readonly works: readonly ReportedWork[] }> {
  // Artworks may have grown since they were reported.
  const byWork = Map.groupBy(await reports.listOpen(), ({ block, work }) => findArtwork(view, block)?.blocks[0] ?? work)
  const all = [...byWork.values()].toSorted((one, other) => other.length - one.length)
  const works = all.slice(0, limit).flatMap((open) => {
    const [first] = open
    if (first === undefined) return []
    const work = findArtwork(view, first.block)
    return {
      place: formatCoord(first.block),
      owner: work?.agent.wallet ?? null,
      blocks: work?.blocks.length ?? 1,
      message: work?.message ?? null,
      link: work?.link ?? null,
      reports: open.map(({ at, reason, note }) => ({ at, reason, note })),
      around: listAround(view, first.block),
    }
  })
  return { waiting: all.length, works }
}

function listAround({ canvas, claimed }: WallView, middle: BlockIndex): ReportedWork['around'] {
  const { col, row } = getCell(middle)
  const blocks = Array.from({ length: DRAWN.across * DRAWN.down }, (_, at) =>
    getBlockAt(
      col - Math.floor(DRAWN.across / 2) + (at % DRAWN.across),
      row - Math.floor(DRAWN.down / 2) + Math.floor(at / DRAWN.across),
    ),
  )
  return blocks.flatMap((block) => {
    if (block === undefined || !claimed.has(block)) return []
    const pixels = readBlock(canvas, block)
    return [[block, pixels[0] === UNPAINTED ? null : Buffer.from(pixels).toString('base64')] as const]
  })
}

/**
 * Hides the artwork that a block is part of, or leaves it visible, and closes its reports. Returns how many blocks and
 * reports there were, or `undefined` for an open block.
 */
export async function closeReports(
  deps: ReportedDeps,
  block: BlockIndex,
  { outcome, who, why }: Parameters<Reports['close']>[1],
): Promise<{ readonly blocks: number; readonly reports: number } | undefined> {
  const blocks = findArtwork(deps.view, block)?.blocks
  if (blocks === undefined) return undefined
  const name = `work at ${formatCoord(block)}`
  const withheld = { parts: CONTENT_PARTS, names: [] }
  if (outcome === 'hidden') await moderateBlocks(deps, { name, blocks }, 'hide', withheld, { who, why })
  return { blocks: blocks.length, reports: await deps.reports.close(blocks, { outcome, who, why }, deps.clock.now()) }
}
