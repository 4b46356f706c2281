import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatCoord, HEIGHT, WIDTH } from '../../../../shared/wall.ts'
import {
  ZOOM_MAX,
  findBlock,
  computeBlockBox,
  clampCamera,
  fitWall,
  isFitted,
  pan,
  toScreen,
  toWall,
  zoom,
} from '../../../../viewer/camera/camera.ts'
import { requireBlockAt } from '../../../support/page/sample-wall.ts'
import { blocks, generateCamera, generateNumber } from '../any-camera.ts'

const views = fc.record({ width: fc.integer({ min: 320, max: 4000 }), height: fc.integer({ min: 200, max: 3000 }) })
const coveredViews = fc
  .tuple(views, generateNumber(0, 0.6))
  .map(([view, share]) => ({ ...view, covered: share * view.height }))
const anyCamera = fc.record({
  x: generateNumber(-2000, 4000),
  y: generateNumber(-2000, 4000),
  zoom: generateNumber(0.001, 1000),
})
// A view, a camera that the page can have in it, and any point of the wall.
const standing = fc
  .tuple(views, anyCamera, generateNumber(0, 1), generateNumber(0, 1))
  .map(([view, camera, across, down]) => ({
    view,
    camera: clampCamera(camera, view),
    wallPoint: { x: across * WIDTH, y: down * HEIGHT },
  }))

test('converting a wall point to the screen and back returns the same point', () => {
  fc.assert(
    fc.property(standing, ({ view, camera, wallPoint }) => {
      const back = toWall(camera, view, toScreen(camera, view, wallPoint))
      expect(back.x).toBeCloseTo(wallPoint.x, 6)
      expect(back.y).toBeCloseTo(wallPoint.y, 6)
    }),
  )
})

test('zooming in keeps the wall point under the cursor in place', () => {
  fc.assert(
    fc.property(standing, generateNumber(1, 20), ({ view, camera, wallPoint }, factor) => {
      const cursor = toScreen(camera, view, wallPoint)
      const after = toScreen(zoom(camera, view, factor, cursor), view, wallPoint)
      expect(after.x).toBeCloseTo(cursor.x, 5)
      expect(after.y).toBeCloseTo(cursor.y, 5)
    }),
  )
})

test('zooming in and out again at one point returns to the same view', () => {
  fc.assert(
    fc.property(standing, generateNumber(1, 20), ({ view, camera, wallPoint }, factor) => {
      const cursor = toScreen(camera, view, wallPoint)
      const near = zoom(camera, view, factor, cursor)
      const back = zoom(near, view, camera.zoom / near.zoom, cursor)
      expect(back.x).toBeCloseTo(camera.x, 5)
      expect(back.y).toBeCloseTo(camera.y, 5)
      expect(back.zoom).toBeCloseTo(camera.zoom, 9)
    }),
  )
})

test('zooming out completely from any view shows the whole wall in the middle of the stage', () => {
  fc.assert(
    fc.property(standing, ({ view, camera, wallPoint }) => {
      const out = zoom(camera, view, 1e-6, toScreen(camera, view, wallPoint))
      expect(out).toEqual(fitWall(view))
      expect(isFitted(out, view)).toBe(true)
    }),
  )
})

test('however far the wall is moved, it still covers the area that it covers when shown whole', () => {
  const distances = generateNumber(-1e5, 1e5)
  fc.assert(
    fc.property(standing, distances, distances, ({ view, camera }, dx, dy) => {
      const moved = pan(camera, view, dx, dy)
      const whole = fitWall(view)
      for (const corner of [
        { x: 0, y: 0, sign: 1 },
        { x: WIDTH, y: HEIGHT, sign: -1 },
      ]) {
        const now = toScreen(moved, view, corner)
        const least = toScreen(whole, view, corner)
        expect((least.x - now.x) * corner.sign).toBeGreaterThan(-1e-6)
        expect((least.y - now.y) * corner.sign).toBeGreaterThan(-1e-6)
      }
      expect(moved.zoom).toBe(camera.zoom)
    }),
  )
})

test('a clamped camera is within the zoom limits, and clamping it again changes nothing', () => {
  fc.assert(
    fc.property(fc.oneof(views, coveredViews), anyCamera, (view, camera) => {
      const once = clampCamera(camera, view)
      expect(once.zoom).toBeGreaterThanOrEqual(fitWall(view).zoom)
      expect(once.zoom).toBeLessThanOrEqual(ZOOM_MAX)
      expect(clampCamera(once, view)).toEqual(once)
    }),
  )
})

test('a drag moves the wall by the same distance as the pointer', () => {
  const near = zoom(fitWall(STAGE), STAGE, 10, { x: 640, y: 400 })
  const before = toScreen(near, STAGE, { x: 800, y: 450 })
  const after = toScreen(pan(near, STAGE, 30, -20), STAGE, { x: 800, y: 450 })
  expect(after.x - before.x).toBeCloseTo(30, 6)
  expect(after.y - before.y).toBeCloseTo(-20, 6)
})

const STAGE = { width: 1280, height: 800 }

test('a point inside the box of a block is on that block', () => {
  const inside = generateNumber(0.01, 0.99)
  fc.assert(
    fc.property(generateCamera(STAGE), blocks, inside, inside, (camera, block, across, down) => {
      const box = computeBlockBox(camera, STAGE, block)
      const point = { x: box.left + box.width * across, y: box.top + box.height * down }
      expect(findBlock(camera, STAGE, point)).toBe(block)
    }),
  )
})

test('a point outside the wall is on no block', () => {
  const camera = fitWall(STAGE)
  const corner = computeBlockBox(camera, STAGE, requireBlockAt(0, 0))
  const opposite = computeBlockBox(camera, STAGE, requireBlockAt(159, 89))
  expect(findBlock(camera, STAGE, { x: corner.left - 1, y: 400 })).toBeUndefined()
  expect(findBlock(camera, STAGE, { x: 640, y: corner.top - 1 })).toBeUndefined()
  expect(findBlock(camera, STAGE, { x: opposite.left + opposite.width + 1, y: 400 })).toBeUndefined()
  expect(findBlock(camera, STAGE, { x: 640, y: opposite.top + opposite.height + 1 })).toBeUndefined()
})

test('if the whole wall is shown, the middle of the stage is on block 80,45', () => {
  const block = findBlock(fitWall(STAGE), STAGE, { x: 641, y: 401 })
  expect(block === undefined ? undefined : formatCoord(block)).toBe('80,45')
})
