import { describe, expect, test } from 'bun:test'
import { drawWall } from '../../../server/client/cli/wall-drawing.ts'
import type { Canvas, CanvasBlock } from '../../../shared/contract/canvas.ts'
import { PALETTE } from '../../../shared/palette.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { parseBlockOrThrow, NOW } from '../../support/samples.ts'

/** A canvas that shows `blocks`. */
const createCanvas = (blocks: CanvasBlock[]): Canvas => ({
  canvas: { width: 1600, height: 900, blockSize: 10, cols: 160, rows: 90, totalBlocks: 14_400 },
  pricing: { perPixel: '0.01', perBlock: '1.00', asset: 'USDC', network: 'eip155:8453' },
  palette: [...PALETTE],
  stats: {
    claimed: blocks.length,
    remaining: TOTAL_BLOCKS - blocks.length,
    agents: 1,
    lastClaimedAt: NOW,
    lastSaleId: blocks.length,
  },
  agents: [{ id: 1, name: null, wallet: '0x0000…0001', framework: null, blocks: blocks.length }],
  blocks,
})

/** The xterm colour codes of a drawing, as rows of pixels. */
function parsePixelRows(drawing: string): number[][] {
  return drawing.split('\n').flatMap((line) => {
    const cells = [...line.replaceAll('\u001B', '').matchAll(/\[38;5;(\d+)m\[48;5;(\d+)m▀/g)]
    return [1, 2].map((half) => cells.map((cell) => Number(cell[half])))
  })
}

describe('the drawing in a terminal', () => {
  test('the drawing in the terminal shows the blocks around the centre in the wall’s own colours', () => {
    const picture = Uint8Array.from({ length: 100 }, (_, i) => i)
    const px = trustPixels(picture).toBase64()
    const drawing = drawWall(createCanvas([{ i: parseBlockOrThrow('79,44'), a: 0, t: NOW, px }]), 2, 2)
    const rows = parsePixelRows(drawing)
    expect(rows.map((row) => row.length)).toEqual(Array.from({ length: 20 }, () => 20))
    const shown = rows.slice(0, 10).flatMap((row) => row.slice(0, 10))
    expect(shown).toEqual(Array.from(picture, (byte) => byte + 16))
  })

  test('the drawing in the terminal distinguishes open, claimed and painted blocks', () => {
    const black = trustPixels(new Uint8Array(100)).toBase64()
    const drawing = drawWall(
      createCanvas([
        { i: parseBlockOrThrow('79,44'), a: 0, t: NOW },
        { i: parseBlockOrThrow('80,44'), a: 0, t: NOW, px: black },
      ]),
      4,
      2,
    )
    const [top = []] = parsePixelRows(drawing)
    expect([5, 15, 25, 35].map((x) => top[x])).toEqual([234, 240, 16, 234])
  })

  test('every line of the drawing ends by resetting the terminal to its own colours', () => {
    const lines = drawWall(createCanvas([]), 3, 1).split('\n')
    expect(lines).toHaveLength(5)
    expect(lines.every((line) => line.startsWith('  ') && line.endsWith('\u001B[0m'))).toBe(true)
  })
})
