import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { BlockIndex } from '../../../../shared/wall.ts'
import {
  type Camera,
  computeBlockBox,
  clampCamera,
  fitWall,
  lookAt,
  moveIntoView,
} from '../../../../viewer/camera/camera.ts'
import { type Motion, advanceMotion, computeThrowSpeed } from '../../../../viewer/camera/motion.ts'
import { computeBounds } from '../../../../viewer/wall/artworks.ts'
import { blocks, generateCamera, generateNumber } from '../any-camera.ts'

const view = { width: 1280, height: 755 }
const cameras = generateCamera(view)
const FRAME_MS = 16
const FRAMES_MAX = 200

/** The camera after a motion has come to rest, and the number of frames that it took. */
function moveToRest(camera: Camera, motion: Motion) {
  let now: { camera: Camera; motion: Motion | undefined } = { camera, motion }
  let frames = 0
  for (; now.motion && frames < FRAMES_MAX; frames++) now = advanceMotion(now.camera, view, now.motion, FRAME_MS)
  return { camera: now.camera, frames }
}

test('a thrown wall slows down and comes to rest', () => {
  const speeds = generateNumber(-20, 20)
  fc.assert(
    fc.property(cameras, speeds, speeds, (camera, vx, vy) => {
      expect(moveToRest(camera, { kind: 'glide', vx, vy }).frames).toBeLessThan(FRAMES_MAX)
    }),
  )
})

test('a thrown wall continues in the direction of the throw', () => {
  const near = clampCamera({ x: 800, y: 450, zoom: 10 }, view)
  const after = moveToRest(near, { kind: 'glide', vx: 1, vy: -0.5 }).camera
  expect(after.x).toBeLessThan(near.x)
  expect(after.y).toBeGreaterThan(near.y)
})

test('a drag that is still moving when it ends throws the wall, and a drag that has come to rest does not', () => {
  const trail = [0, 16, 32, 48].map((time) => ({ x: 10 * time, y: -time, time }))
  expect(computeThrowSpeed(trail, 50)).toEqual({ vx: 10, vy: -1 })
  expect(computeThrowSpeed(trail, 200)).toBeUndefined()
  expect(computeThrowSpeed(trail.slice(0, 1), 5)).toBeUndefined()
})

test('a flight ends exactly at its target', () => {
  fc.assert(
    fc.property(cameras, cameras, (from, to) => {
      const end = moveToRest(from, { kind: 'flight', to })
      expect(end.frames).toBeLessThan(FRAMES_MAX)
      expect(end.camera).toEqual(clampCamera(to, view))
    }),
  )
})

test('a motion does not jump after the page was suspended', () => {
  const from = fitWall(view)
  const motion: Motion = { kind: 'flight', to: clampCamera({ x: 100, y: 100, zoom: 20 }, view) }
  expect(advanceMotion(from, view, motion, 60_000)).toEqual(advanceMotion(from, view, motion, 64))
})

test('if the camera looks at an area, the whole area is on the stage', () => {
  fc.assert(
    fc.property(blocks, blocks, (one, other) => {
      const camera = lookAt(computeBounds([one, other]), view, 12)
      for (const block of [one, other]) expectOnStage(camera, block)
    }),
  )
})

test('revealing a block moves the wall until the block is visible, and revealing it again does not move the wall', () => {
  fc.assert(
    fc.property(cameras, blocks, (camera, block) => {
      // Up to this zoom, a block takes at most half the height of the middle of the stage.
      const from = { ...camera, zoom: Math.min(camera.zoom, 30) }
      const after = moveIntoView(clampCamera(from, view), view, computeBounds([block]))
      expectOnStage(after, block)
      expect(moveIntoView(after, view, computeBounds([block]))).toEqual(after)
    }),
  )
})

function expectOnStage(camera: Camera, block: BlockIndex) {
  const box = computeBlockBox(camera, view, block)
  expect(box.left).toBeGreaterThan(-1)
  expect(box.top).toBeGreaterThan(-1)
  expect(box.left + box.width).toBeLessThan(view.width + 1)
  expect(box.top + box.height).toBeLessThan(view.height + 1)
}
