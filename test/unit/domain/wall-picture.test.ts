import { expect, test } from 'bun:test'
import type { Bitmap } from '../../../server/domain/picture/picture.ts'
import { drawRegion, enlarge, findSurroundings, WHOLE_WALL } from '../../../server/domain/picture/wall-picture.ts'
import { applyChange, createEmptyView } from '../../../server/domain/wall/wall-view.ts'
import { trustPixels } from '../../../shared/pixels.ts'
import { parseAreaOrThrow, BARE, parseBlockOrThrow, createPixels, createTestSale } from '../../support/samples.ts'

/** A picture in which every pixel differs from its neighbours. */
const createGradient = () => trustPixels(Uint8Array.from({ length: 100 }, (_, at) => at))

/** A wall with a painted block at 3,4 and an owned block without a picture at 5,4. */
function createView() {
  const wall = createEmptyView()
  applyChange(wall, createTestSale(1, parseBlockOrThrow('3,4'), { content: { ...BARE, pixels: createGradient() } }))
  applyChange(wall, createTestSale(2, parseBlockOrThrow('5,4')))
  return wall
}

const readRow = ({ width, indices }: Bitmap, y: number) => [...indices.subarray(y * width, (y + 1) * width)]

test('a painted block is drawn pixel by pixel', () => {
  const { width, height, indices } = drawRegion(createView(), { col: 3, row: 4, cols: 1, rows: 1 })
  expect([width, height, [...indices]]).toEqual([10, 10, [...createGradient()]])
})

test('open blocks have a grey dot in the corner, and owned blocks without a picture have a grey frame', () => {
  const picture = drawRegion(createView(), { col: 4, row: 4, cols: 2, rows: 1 })
  expect(readRow(picture, 0)).toEqual([220, ...Array(9).fill(217), ...Array(10).fill(223)])
  expect(readRow(picture, 5)).toEqual([...Array(10).fill(217), 223, ...Array(8).fill(220), 223])
  expect(readRow(picture, 9)).toEqual([...Array(10).fill(217), ...Array(10).fill(223)])
})

test('a picture of a region equals the same region of the whole picture', () => {
  const whole = drawRegion(createView(), WHOLE_WALL)
  expect([whole.width, whole.height]).toEqual([1600, 900])
  const part = drawRegion(createView(), { col: 2, row: 3, cols: 5, rows: 3 })
  for (let y = 0; y < part.height; y++) expect(readRow(part, y)).toEqual(readRow(whole, 30 + y).slice(20, 70))
})

test('a preview is drawn in place of the current content, and does not change the wall', () => {
  const wall = createView()
  const region = { col: 3, row: 4, cols: 2, rows: 1 }
  const shown = drawRegion(wall, region, { area: parseAreaOrThrow('4,4,1x1'), pixels: createPixels(9) })
  expect(readRow(shown, 0)).toEqual([...createGradient().subarray(0, 10), ...Array(10).fill(9)])
  expect(readRow(drawRegion(wall, region, { area: parseAreaOrThrow('4,4,1x1'), pixels: null }), 0).slice(10)).toEqual(
    Array(10).fill(223),
  )
  const two = trustPixels(
    Uint8Array.from({ length: 200 }, (_, at) => (at < 100 ? 1 : 2)),
    2,
  )
  const both = drawRegion(wall, region, { area: parseAreaOrThrow('3,4,2x1'), pixels: two })
  expect(readRow(both, 5)).toEqual([...Array(10).fill(1), ...Array(10).fill(2)])
  expect(readRow(drawRegion(wall, region), 0).slice(10)).toEqual([220, ...Array(9).fill(217)])
})

test('a scaled picture has a square for each pixel of the original', () => {
  const small: Bitmap = { width: 2, height: 2, indices: Uint8Array.of(1, 2, 3, 4) }
  expect(enlarge(small, 1)).toEqual(small)
  const rows = [
    createLine(1, 2),
    createLine(1, 2),
    createLine(1, 2),
    createLine(3, 4),
    createLine(3, 4),
    createLine(3, 4),
  ]
  expect(enlarge(small, 3)).toEqual({ width: 6, height: 6, indices: Uint8Array.from(rows.flat()) })
})

const createLine = (left: number, right: number) => [left, left, left, right, right, right]

test('the surroundings of an area end at the edge of the wall', () => {
  expect(findSurroundings(parseAreaOrThrow('80,45,1x1'))).toEqual({ col: 79, row: 44, cols: 3, rows: 3 })
  expect(findSurroundings(parseAreaOrThrow('80,45,4x3'))).toEqual({ col: 79, row: 44, cols: 6, rows: 5 })
  expect(findSurroundings(parseAreaOrThrow('0,0,1x1'))).toEqual({ col: 0, row: 0, cols: 2, rows: 2 })
  expect(findSurroundings(parseAreaOrThrow('159,89,1x1'))).toEqual({ col: 158, row: 88, cols: 2, rows: 2 })
})
