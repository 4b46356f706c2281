/** Which block is under a point, where blocks appear on the stage, and where a card goes. */

import { BLOCK_SIZE, blockAt, cellOf, type BlockIndex } from '../../shared/wall.ts'
import { toScreen, toWall, type Rect, type Camera, type Point, type View } from './camera.ts'

/** A rectangle on the stage, in CSS pixels. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number }

const CARD_GAP = 12

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

/** Top left corner of a card: beside its box where there is room, always wholly on the stage. */
export function placeCard(block: Box, card: { width: number; height: number }, view: View): Point {
  const right = block.left + block.width + CARD_GAP
  const left = block.left - CARD_GAP - card.width
  const x = right + card.width + CARD_GAP <= view.width ? right : left
  return {
    x: within(x, view.width - card.width),
    y: within(block.top + block.height / 2 - card.height / 2, view.height - card.height),
  }
}

const within = (value: number, room: number) => Math.round(Math.max(CARD_GAP, Math.min(value, room - CARD_GAP)))
