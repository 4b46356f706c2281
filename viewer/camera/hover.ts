/** Which block is under a point, and where blocks appear on the stage. */

import { BLOCK_SIZE, blockAt, cellOf, type BlockIndex } from '../../shared/wall.ts'
import { toScreen, toWall, type Rect, type Camera, type Point, type View } from './camera.ts'

/** A rectangle on the stage, in CSS pixels. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number }

/** The block under a screen point; `undefined` off the wall. */
export function blockUnder(camera: Camera, view: View, at: Point): BlockIndex | undefined {
  const point = toWall(camera, view, at)
  return blockAt(Math.floor(point.x / BLOCK_SIZE), Math.floor(point.y / BLOCK_SIZE))
}

/** Where a block appears on the stage. */
export function boxOf(camera: Camera, view: View, block: BlockIndex): Box {
  const { col, row } = cellOf(block)
  const corner = toScreen(camera, view, { x: col * BLOCK_SIZE, y: row * BLOCK_SIZE })
  const size = BLOCK_SIZE * camera.zoom
  return { left: corner.x, top: corner.y, width: size, height: size }
}

/** Where an area of the wall appears on the stage. */
export function boxAround(camera: Camera, view: View, { left, top, right, bottom }: Rect): Box {
  const corner = toScreen(camera, view, { x: left, y: top })
  return { left: corner.x, top: corner.y, width: (right - left) * camera.zoom, height: (bottom - top) * camera.zoom }
}
