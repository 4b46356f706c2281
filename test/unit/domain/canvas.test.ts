import { expect, test } from 'bun:test'
import { createBlankCanvas, placeBlock, UNPAINTED } from '../../../server/domain/wall/canvas.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { parseBlockOrThrow } from '../../support/samples.ts'

test('the canvas stores a block row by row at its position on the wall', () => {
  const canvas = createBlankCanvas()
  placeBlock(canvas, parseBlockOrThrow('159,89'), trustPixels(Uint8Array.from({ length: 100 }, (_, i) => i)))
  expect(canvas[890 * 1600 + 1590]).toBe(0)
  expect(canvas[890 * 1600 + 1599]).toBe(9)
  expect(canvas[891 * 1600 + 1590]).toBe(10)
  expect(canvas[899 * 1600 + 1599]).toBe(99)
  expect(canvas.filter((byte) => byte !== UNPAINTED)).toHaveLength(100)
})
