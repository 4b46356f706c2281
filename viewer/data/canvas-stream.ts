/**
 * Reads a canvas read while it arrives. The service ends each wall row of blocks with a newline, which JSON allows
 * between values and not inside strings; a line that starts like a block is therefore a whole row of them.
 */

import type { Canvas, CanvasBlock } from '../../shared/contract/canvas.ts'
import type { CanvasHead } from '../wall/wall-model.ts'

const ROW_START = '{"i":'
const BLOCKS_START = '"blocks":['

export type CanvasLines = {
  /** Takes more of the text; answers the blocks of the rows it completes. */
  push(text: string): CanvasBlock[]
  /** What comes before the blocks, once it is there. */
  head(): CanvasHead | undefined
  /** The whole read; throws when the text was cut short. */
  end(): Canvas
}

/** Begins to read one answer. */
export function canvasLines(): CanvasLines {
  const blocks: CanvasBlock[] = []
  let around = '' // the text without its rows
  let line = '' // what has come since the last newline
  let head: CanvasHead | undefined

  const take = (whole: string): CanvasBlock[] => {
    if (!whole.startsWith(ROW_START)) {
      around += whole
      return []
    }
    const row: CanvasBlock[] = JSON.parse(`[${whole.endsWith(',') ? whole.slice(0, -1) : whole}]`)
    for (const block of row) blocks.push(block)
    return row
  }

  return {
    push(text) {
      const lines = (line + text).split('\n')
      line = lines.pop() ?? ''
      return lines.flatMap(take)
    },
    head() {
      if (head === undefined && around.endsWith(BLOCKS_START)) head = JSON.parse(`${around}]}`)
      return head
    },
    end() {
      take(line)
      line = ''
      const rest: Canvas = JSON.parse(around)
      return { ...rest, blocks: [...blocks, ...rest.blocks] }
    },
  }
}
