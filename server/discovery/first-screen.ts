/**
 * The content of the page before its script and the wall have loaded: it is written into the HTML, so that the layout
 * does not shift later.
 */

import { formatSummary } from '../../shared/money.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { findSoldArea } from '../domain/wall/sold-area.ts'
import { escapeMarkup } from './site.ts'

/** The facts about the wall that the page shows first. */
export type FirstScreen = {
  readonly sold: ReadonlySet<BlockIndex> | ReadonlyMap<BlockIndex, unknown>
  readonly perBlock: string // in dollars with cents
  readonly lastBuyer: string | undefined // the name of the wall's last buyer
}

/**
 * The page with the counts, the last sale, and the area that the camera opens on: column, row, width and height in
 * blocks.
 */
export function addFirstScreen(html: string, { sold, perBlock, lastBuyer }: FirstScreen): string {
  const area = findSoldArea(sold.keys())
  const news = lastBuyer === undefined ? '' : `<span>Last sale to <bdi>${escapeMarkup(lastBuyer)}</bdi></span>`
  return html
    .replace('<p id="counts">', (tag) => tag + formatSummary(sold.size, perBlock))
    .replace('<p id="news">', (tag) => tag + news)
    .replace('<main id="stage"', (tag) =>
      area === undefined ? tag : `${tag} data-sold="${area.col},${area.row},${area.w},${area.h}"`,
    )
}
