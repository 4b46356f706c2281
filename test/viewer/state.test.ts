import { expect, test } from 'bun:test'
import { fit } from '../../viewer/camera.ts'
import { boxOf } from '../../viewer/hover.ts'
import { wallOf } from '../../viewer/plot.ts'
import { begin, resize, shownBlock, step, type State } from '../../viewer/state.ts'
import { at, canvas, openBlock, rainbowBlock } from './sample-wall.ts'

const view = { width: 1280, height: 755 }
const opened: State = { ...begin(view), wall: wallOf(canvas) }

const pointOf = (state: State, block: typeof openBlock) => {
  const box = boxOf(state.camera, state.view, block)
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 }
}

test('before the wall has arrived no block is shown', () => {
  const state = step(begin(view), { do: 'point', at: { x: 640, y: 380 } })
  expect(shownBlock(state)).toBeUndefined()
})

test('the first block of the wall is shown like any other', () => {
  expect(shownBlock(step(opened, { do: 'point', at: pointOf(opened, at(0, 0)) }))).toBe(at(0, 0))
})

test('the pointed block is the one under the pointer after the wall has moved, too', () => {
  const near = step(step(opened, { do: 'point', at: pointOf(opened, rainbowBlock) }), { do: 'zoom', factor: 10 })
  const blockPx = 10 * near.camera.zoom
  const left = step(near, { do: 'pan', dx: blockPx, dy: 0 })
  expect(shownBlock(left)).toBe(at(79, 45))
})

test('a tap pins a block over the pointed one; the same tap again, or none on the wall, lets it go', () => {
  const pinned = step(opened, { do: 'tap', at: pointOf(opened, rainbowBlock) })
  const elsewhere = step(pinned, { do: 'point', at: pointOf(opened, openBlock) })
  expect(shownBlock(elsewhere)).toBe(rainbowBlock)
  expect(shownBlock(step(elsewhere, { do: 'tap', at: pointOf(opened, rainbowBlock) }))).toBe(openBlock)
  expect(shownBlock(step(elsewhere, { do: 'tap', at: { x: 1, y: 1 } }))).toBe(openBlock)
  expect(shownBlock(step(elsewhere, { do: 'dismiss' }))).toBeUndefined()
})

test('a wall shown whole stays whole in a window of another size, and a closer look stays where it is', () => {
  const small = { width: 360, height: 690 }
  expect(resize(opened, small).camera).toEqual(fit(small))
  const near = step(opened, { do: 'zoom', factor: 10, at: pointOf(opened, rainbowBlock) })
  expect(resize(near, { width: 1000, height: 700 }).camera).toEqual(near.camera)
})
