/** Loads the wall when the page opens. */

import { ASSET_SYMBOL, USUAL_PRICE } from '../../shared/money.ts'
import type { BlockIndex } from '../../shared/wall.ts'
import { wallWithoutBlocks, withClaims, withPictures, type CanvasHead, type Wall } from '../wall/wall-model.ts'
import type { CanvasReader, Reading } from './read-canvas.ts'

// Pictures arrive faster than they need to be drawn.
const DRAW_MS = 80

// What is known of a wall of which only pictures have arrived.
const emptyHead = (perBlock: string): CanvasHead => ({
  pricing: { perPixel: '', perBlock, asset: ASSET_SYMBOL, network: '' },
  stats: { claimed: 0, remaining: 0, agents: 0, lastClaimedAt: null, lastSaleId: 0 },
  agents: [],
})

/** Reads the whole wall and shows its pictures as they arrive; rejects when it cannot be read. Its blocks cost `price`. */
export async function loadCanvas(
  read: CanvasReader,
  show: (wall: Wall) => void,
  price = USUAL_PRICE,
): Promise<Reading> {
  let part = wallWithoutBlocks(emptyHead(price))
  let waiting: BlockIndex[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let shownAt = performance.now()
  const showPart = () => {
    timer = undefined
    shownAt = performance.now()
    show({ ...part, changed: waiting })
    waiting = []
  }
  try {
    const reading = await read((first, bytes) => {
      part = withPictures(part, first, bytes)
      waiting.push(...(part.changed ?? []))
      if (waiting.length > 0) timer ??= setTimeout(showPart, shownAt + DRAW_MS - performance.now())
    })
    const { blocks } = reading
    const whole = withClaims({ ...wallWithoutBlocks(blocks), texture: part.texture }, blocks.blocks)
    // What has been drawn already need not be drawn again.
    show({ ...whole, changed: [...waiting, ...(whole.changed ?? [])], complete: true })
    return reading
  } finally {
    clearTimeout(timer)
  }
}
