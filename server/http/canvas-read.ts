/** The canvas read, serialised once per state of the wall and row by row, so that a change costs its own row only. */

import { ASSET_SYMBOL, PRICE, PRICE_PER_PIXEL } from '../../shared/money.ts'
import { PALETTE } from '../../shared/palette.ts'
import { ALL_BLOCKS, BLOCK_SIZE, COLS, HEIGHT, ROWS, TOTAL_BLOCKS, WIDTH } from '../../shared/wall.ts'
import type { LogNumber } from '../domain/log.ts'
import { canvasAgents, canvasBlock, statsOf, type WallView } from '../domain/wall-view.ts'
import { readyAnswer, type ReadyAnswer } from './ready-answer.ts'

const ROW_BYTES = WIDTH * BLOCK_SIZE

const blocksOfRow = Array.from({ length: ROWS }, (_, row) => ALL_BLOCKS.slice(row * COLS, (row + 1) * COLS))

type Row = { readonly stamp: string; readonly text: string }

/** Answers GET /api/canvas from a view that others keep up to date. */
export function canvasReader(view: WallView, network: string): ReadyAnswer {
  // Numbers of the log say nothing about another database, which may stand behind the same address after a restart.
  const boot = crypto.randomUUID().slice(0, 8)
  const head = headOf(network)
  const rows: Row[] = []
  let shown: { readonly number: LogNumber; readonly answer: ReadyAnswer } | undefined

  const current = () => {
    const { number } = view
    if (shown?.number !== number) {
      const text = `${head}${changing(view)}"blocks":[\n${rowsOf(view, rows)}]}\n`
      shown = { number, answer: answerOf(text, `W/"${boot}-${number}"`) }
    }
    return shown.answer
  }
  return (request) => current()(request)
}

const answerOf = (text: string, etag: string) =>
  readyAnswer({
    type: 'application/json',
    bytes: () => new TextEncoder().encode(text),
    etag,
    cacheControl: 'public, max-age=2',
  })

/** The part that never changes, up to and with the comma after it. */
function headOf(network: string): string {
  const canvas = {
    width: WIDTH,
    height: HEIGHT,
    blockSize: BLOCK_SIZE,
    cols: COLS,
    rows: ROWS,
    totalBlocks: TOTAL_BLOCKS,
  }
  const pricing = { perPixel: PRICE_PER_PIXEL, perBlock: PRICE, asset: ASSET_SYMBOL, network }
  return `${JSON.stringify({ canvas, pricing, palette: PALETTE }).slice(0, -1)},\n`
}

const changing = (view: WallView) =>
  `${JSON.stringify({ stats: statsOf(view), agents: canvasAgents(view) }).slice(1, -1)},\n`

/** The claimed blocks, a line for each wall row that has any, so that a reader can draw rows as they arrive. */
function rowsOf(view: WallView, rows: Row[]): string {
  blocksOfRow.forEach((_, row) => {
    const stamp = stampOf(view, row)
    if (rows[row]?.stamp !== stamp) rows[row] = { stamp, text: rowText(view, row) }
  })
  const lines = rows.filter(({ text }) => text !== '').map(({ text }) => text)
  return lines.length === 0 ? '' : `${lines.join(',\n')}\n`
}

const rowText = (view: WallView, row: number) =>
  (blocksOfRow[row] ?? [])
    .map((block) => canvasBlock(view, block))
    .filter((block) => block !== undefined)
    .map((block) => JSON.stringify(block))
    .join(',')

/** All of a row that can change, in a form that is cheaper to make than its JSON. */
function stampOf(view: WallView, row: number): string {
  let texts = ''
  for (const block of blocksOfRow[row] ?? []) {
    const claimed = view.claimed.get(block)
    if (claimed !== undefined) texts += `${block}\n${claimed.message ?? ''}\n${claimed.link ?? ''}\n`
  }
  return `${Bun.hash(view.canvas.subarray(row * ROW_BYTES, (row + 1) * ROW_BYTES))} ${texts}`
}
