import { expect, test } from 'bun:test'
import { fit } from '../../viewer/camera/camera.ts'
import { boxOf } from '../../viewer/camera/hover.ts'
import { begin, resize, shownBlock, step, type State } from '../../viewer/state.ts'
import { wallOf } from '../../viewer/wall/wall-model.ts'
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

test('a cursor begins where its user looks, walks block by block, and stops at the wall’s edge', () => {
  const begun = step(opened, { do: 'walk', right: 1, down: 0 })
  expect(shownBlock(begun)).toBe(at(80, 45))
  expect(shownBlock(step(begun, { do: 'walk', right: 1, down: -1 }))).toBe(at(81, 44))
  expect(shownBlock(step(begun, { do: 'walk', right: 1000, down: 1000 }))).toBe(at(159, 89))
  expect(shownBlock(step(begun, { do: 'leave' }))).toBeUndefined()
})

test('a pointer takes over from the cursor, and the cursor from the pointer', () => {
  const walked = step(opened, { do: 'walk', right: 0, down: 0 })
  const pointed = step(walked, { do: 'point', at: pointOf(opened, openBlock) })
  expect(shownBlock(pointed)).toBe(openBlock)
  expect(shownBlock(step(pointed, { do: 'walk', right: 1, down: 0 }))).toBe(openBlock)
})

test('a hand on the wall stops it, and whoever wants no motion gets none', () => {
  const near = step(opened, { do: 'zoom', factor: 10 })
  const thrown = step(near, { do: 'throw', vx: 1, vy: 0 })
  expect(step(thrown, { do: 'tick', ms: 16 }).camera.x).toBeLessThan(near.camera.x)
  expect(step(thrown, { do: 'hold' }).motion).toBeUndefined()
  expect(step({ ...near, calm: true }, { do: 'throw', vx: 1, vy: 0 }).motion).toBeUndefined()
  expect(step({ ...near, calm: true }, { do: 'fit' }).camera).toEqual(fit(view))
})

test('Escape takes one layer away at a time', () => {
  let state = step(step(opened, { do: 'choose', agent: 0 }), { do: 'lay', overlay: 'age' })
  state = step(step(state, { do: 'go', to: rainbowBlock }), { do: 'open', panel: 'find' })
  const layers = () => [state.panel, state.pinned, state.agent, state.overlay]
  const seen = [layers()]
  for (let i = 0; i < 4; i++) {
    state = step(state, { do: 'dismiss' })
    seen.push(layers())
  }
  expect(seen).toEqual([
    ['find', rainbowBlock, 0, 'age'],
    [undefined, rainbowBlock, 0, 'age'],
    [undefined, undefined, 0, 'age'],
    [undefined, undefined, undefined, 'age'],
    [undefined, undefined, undefined, 'none'],
  ])
})
