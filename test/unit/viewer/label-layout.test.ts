import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { BLOCK_SIZE, COLS, ROWS } from '../../../shared/wall.ts'
import { type Rect, type View, ZOOM_MAX, projectRect } from '../../../viewer/camera/camera.ts'
import {
  SHEET_SHARE,
  fitsBesideDetails,
  chooseLabelShape,
  computeLabelWidth,
  lookBeside,
  placeCard,
} from '../../../viewer/camera/label-layout.ts'

// Stages of phones, upright and on their side, of tablets and of desktops.
const views = fc.oneof(
  fc.record({ width: fc.integer({ min: 320, max: 600 }), height: fc.integer({ min: 300, max: 900 }) }),
  fc.record({ width: fc.integer({ min: 601, max: 1000 }), height: fc.integer({ min: 230, max: 1200 }) }),
  fc.record({ width: fc.integer({ min: 1001, max: 3840 }), height: fc.integer({ min: 400, max: 2100 }) }),
)

/** The bounds of an artwork of up to 40 by 30 blocks, anywhere on the wall. */
const works = fc
  .record({
    col: fc.integer({ min: 0, max: COLS - 1 }),
    row: fc.integer({ min: 0, max: ROWS - 1 }),
    cols: fc.integer({ min: 1, max: 40 }),
    rows: fc.integer({ min: 1, max: 30 }),
  })
  .map(({ col, row, cols, rows }): Rect => ({
    left: col * BLOCK_SIZE,
    top: row * BLOCK_SIZE,
    right: Math.min(col + cols, COLS) * BLOCK_SIZE,
    bottom: Math.min(row + rows, ROWS) * BLOCK_SIZE,
  }))

/**
 * The position and size of the details of an artwork: a lowered sheet, or a card of this height, but no higher than the
 * stage allows.
 */
function placeLabel(work: ReturnType<typeof projectRect>, view: View, height: number) {
  if (chooseLabelShape(view) === 'sheet')
    return { x: 0, y: view.height * (1 - SHEET_SHARE), width: view.width, height: view.height * SHEET_SHARE }
  const size = { width: computeLabelWidth(view), height: Math.min(height, view.height - 24) }
  return { ...placeCard(work, size, view), ...size }
}

test('an opened artwork is entirely on the stage, next to its details', () => {
  const zooms = fc.double({ min: 0.1, max: ZOOM_MAX, noNaN: true })
  fc.assert(
    fc.property(views, works, zooms, fc.integer({ min: 100, max: 900 }), (view, work, zoom, height) => {
      const camera = lookBeside(work, view, zoom)
      const box = projectRect(camera, view, work)
      const label = placeLabel(box, view, height)
      expect(box.left).toBeGreaterThan(-1)
      expect(box.top).toBeGreaterThan(-1)
      expect(box.left + box.width).toBeLessThan(view.width + 1)
      expect(box.top + box.height).toBeLessThan(view.height + 1)
      const isApart =
        label.x + label.width <= box.left + 1 ||
        label.x >= box.left + box.width - 1 ||
        label.y >= box.top + box.height - 1
      expect(isApart).toBe(true)
      expect(fitsBesideDetails(camera, view, work)).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test('the details are always entirely on the stage', () => {
  const boxes = fc.record({
    left: fc.double({ min: -2000, max: 4000, noNaN: true }),
    top: fc.double({ min: -2000, max: 4000, noNaN: true }),
    width: fc.double({ min: 1, max: 4000, noNaN: true }),
    height: fc.double({ min: 1, max: 4000, noNaN: true }),
  })
  fc.assert(
    fc.property(views, boxes, fc.integer({ min: 50, max: 900 }), (view, work, height) => {
      const { x, y, ...size } = placeLabel(work, view, height)
      expect(x).toBeGreaterThanOrEqual(0)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(x + size.width).toBeLessThanOrEqual(view.width)
      expect(y + size.height).toBeLessThanOrEqual(view.height)
    }),
  )
})
