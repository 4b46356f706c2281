import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { blankCanvas, placeBlock, readBlock, UNPAINTED } from '../../../server/domain/wall/canvas.ts'
import { trustPixels, type Pixels } from '../../../shared/pixels.ts'
import { ALL_BLOCKS, cellOf, type BlockIndex } from '../../../shared/wall.ts'
import { blockOf } from '../../support/samples.ts'

const unpainted = new Uint8Array(100).fill(UNPAINTED)

describe('the canvas', () => {
  test('holds a block row by row, where it lies on the wall', () => {
    const canvas = blankCanvas()
    placeBlock(canvas, blockOf('159,89'), trustPixels(Uint8Array.from({ length: 100 }, (_, i) => i)))
    expect(canvas[890 * 1600 + 1590]).toBe(0)
    expect(canvas[890 * 1600 + 1599]).toBe(9)
    expect(canvas[891 * 1600 + 1590]).toBe(10)
    expect(canvas[899 * 1600 + 1599]).toBe(99)
    expect(canvas.filter((byte) => byte !== UNPAINTED)).toHaveLength(100)
  })

  test('shows the last picture of every block, pixel by pixel', () => {
    const blocks = fc.constantFrom(...ALL_BLOCKS)
    const pictures = fc.option(fc.uint8Array({ minLength: 100, maxLength: 100, max: 239 }).map(trustPixels))
    fc.assert(
      fc.property(fc.array(fc.tuple(blocks, pictures), { maxLength: 30 }), (strokes) => {
        const canvas = blankCanvas()
        const last = new Map<BlockIndex, Pixels | null>()
        for (const [block, pixels] of strokes) {
          placeBlock(canvas, block, pixels)
          last.set(block, pixels)
        }
        let painted = 0
        for (const [block, pixels] of last) {
          expect(readBlock(canvas, block)).toEqual(new Uint8Array(pixels ?? unpainted))
          const { col, row } = cellOf(block)
          expect(canvas[(row * 10 + 3) * 1600 + col * 10 + 4]).toBe(pixels?.[34] ?? UNPAINTED)
          painted += pixels === null ? 0 : 100
        }
        expect(canvas.reduce((count, byte) => count + (byte === UNPAINTED ? 0 : 1), 0)).toBe(painted)
      }),
      { numRuns: 20 },
    )
  })
})
