import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ALL_BLOCKS, TOTAL_BLOCKS, coordOf } from '../../../shared/wall.ts'
import { blockUnder, boxOf, clamp, fit } from '../../../viewer/camera/camera.ts'
import { at } from '../../support/page/sample-wall.ts'

const view = { width: 1280, height: 800 }
const cameras = fc
  .record({
    x: fc.double({ min: 0, max: 1600, noNaN: true }),
    y: fc.double({ min: 0, max: 900, noNaN: true }),
    zoom: fc.double({ min: 0.5, max: 48, noNaN: true }),
  })
  .map((camera) => clamp(camera, view))
const blocks = fc.integer({ min: 0, max: TOTAL_BLOCKS - 1 }).map((i) => ALL_BLOCKS[i] ?? at(0, 0))

test('the block under a point inside a block’s box is that block', () => {
  const inside = fc.double({ min: 0.01, max: 0.99, noNaN: true })
  fc.assert(
    fc.property(cameras, blocks, inside, inside, (camera, block, across, down) => {
      const box = boxOf(camera, view, block)
      const point = { x: box.left + box.width * across, y: box.top + box.height * down }
      expect(blockUnder(camera, view, point)).toBe(block)
    }),
  )
})

test('there is no block beside the wall', () => {
  const camera = fit(view)
  const corner = boxOf(camera, view, at(0, 0))
  const opposite = boxOf(camera, view, at(159, 89))
  expect(blockUnder(camera, view, { x: corner.left - 1, y: 400 })).toBeUndefined()
  expect(blockUnder(camera, view, { x: 640, y: corner.top - 1 })).toBeUndefined()
  expect(blockUnder(camera, view, { x: opposite.left + opposite.width + 1, y: 400 })).toBeUndefined()
  expect(blockUnder(camera, view, { x: 640, y: opposite.top + opposite.height + 1 })).toBeUndefined()
})

test('the middle of the stage shows a block of the wall’s middle', () => {
  const block = blockUnder(fit(view), view, { x: 641, y: 401 })
  expect(block === undefined ? undefined : coordOf(block)).toBe('80,45')
})
