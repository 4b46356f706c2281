/** Where the label stands on the stage, and which camera shows a work whole beside it. Pure. */

import type { Box, Camera, Point, Rect, View } from './camera.ts'
import { ZOOM_MAX, boxAround, clamp, lookAt } from './camera.ts'

/** A card beside the work, a wide one on a low stage, or a sheet over the lower part of a narrow stage. */
export type LabelShape = 'card' | 'wide' | 'sheet'

// In CSS pixels. A stage up to this wide has a sheet; one up to this high has a wide card.
const SHEET_STAGE_WIDTH = 600
const WIDE_STAGE_HEIGHT = 390

// Widths in CSS pixels; of a stage, a wide card takes no more than half.
const CARD_WIDTH = 320
const WIDE_CARD_WIDTH = 380

/** The share of the stage's height that a lowered sheet takes at most. */
export const SHEET_SHARE = 0.52

const GAP = 12

// A card leaves room on both sides of a work where this share of the stage's width is left between them.
const MIDDLE_SHARE = 0.4

// What an area takes of its room at most: nearly all of it only where the wall's edge is in the way. Looks that are tried are so much nearer.
const SHARES = [0.8, 0.98]
const NEARER = 1.25

// Positions are compared with this tolerance, in CSS pixels.
const TOLERANCE = 0.5

/** The label's shape on a stage. */
export function labelShape({ width, height }: View): LabelShape {
  if (width <= SHEET_STAGE_WIDTH) return 'sheet'
  return height <= WIDE_STAGE_HEIGHT ? 'wide' : 'card'
}

/** The stage while a label is open: a sheet covers its lower part. */
export function stageWithLabel(view: View): View {
  return labelShape(view) === 'sheet' ? { ...view, covered: view.height * SHEET_SHARE } : view
}

/** The width of a label, in CSS pixels. */
export function labelWidth(view: View): number {
  switch (labelShape(view)) {
    case 'sheet':
      return view.width
    case 'wide':
      return Math.min(WIDE_CARD_WIDTH, view.width / 2)
    case 'card':
      return CARD_WIDTH
  }
}

/** The camera that shows all of an area beside its label, no nearer than `zoomMax` unless only a nearer one leaves room for both. */
export function lookBeside(area: Rect, view: View, zoomMax: number): Camera {
  const stage = stageWithLabel(view)
  const rooms = roomsFor(view)
  for (const share of SHARES)
    for (let zoom = zoomMax; zoom < NEARER * ZOOM_MAX; zoom *= NEARER) {
      const looks = rooms.map((room) => lookInto(room, area, stage, zoom, share))
      const found = looks.find((camera) => isBeside(camera, view, area))
      if (found !== undefined) return found
    }
  // It fills the stage even when the wall is shown whole.
  return clamp(lookAt(area, view, zoomMax), stage)
}

/** Whether a camera shows all of an area, and leaves room for its label beside it. */
export function isBeside(camera: Camera, view: View, area: Rect): boolean {
  const { left, top, width, height } = boxAround(camera, view, area)
  const stage = stageWithLabel(view)
  const isWhole =
    left >= -TOLERANCE &&
    top >= -TOLERANCE &&
    left + width <= view.width + TOLERANCE &&
    top + height <= view.height - (stage.covered ?? 0) + TOLERANCE
  if (!isWhole || labelShape(view) === 'sheet') return isWhole
  const taken = cardSpace(view)
  return left >= taken || view.width - left - width >= taken
}

/** What a card takes of the stage's width, with a gap on both sides. */
const cardSpace = (view: View) => labelWidth(view) + 2 * GAP

/** Where on the stage a work can stand beside its label, the best first. */
function roomsFor(view: View): readonly Rect[] {
  const { width, height } = view
  const whole = { left: 0, top: 0, right: width, bottom: height }
  if (labelShape(view) === 'sheet') return [{ ...whole, bottom: height * (1 - SHEET_SHARE) }]
  const taken = cardSpace(view)
  const sides = [
    { ...whole, right: width - taken },
    { ...whole, left: taken },
  ]
  return width - 2 * taken < width * MIDDLE_SHARE ? sides : [{ ...whole, left: taken, right: width - taken }, ...sides]
}

/** The camera that shows an area in the middle of a room of the stage, of which it takes at most `share`. */
function lookInto(room: Rect, area: Rect, view: View, zoomMax: number, share: number): Camera {
  const across = (room.right - room.left) / (area.right - area.left)
  const down = (room.bottom - room.top) / (area.bottom - area.top)
  const { zoom } = clamp({ x: 0, y: 0, zoom: Math.min(zoomMax, share * across, share * down) }, view)
  return clamp(
    {
      x: (area.left + area.right) / 2 - ((room.left + room.right) / 2 - view.width / 2) / zoom,
      y: (area.top + area.bottom) / 2 - ((room.top + room.bottom) / 2 - view.height / 2) / zoom,
      zoom,
    },
    view,
  )
}

/** The top left corner of a card: beside its work where there is room, always wholly on the stage. */
export function placeCard(work: Box, card: { readonly width: number; readonly height: number }, view: View): Point {
  const right = work.left + work.width + GAP
  const left = work.left - GAP - card.width
  const x = right + card.width + GAP <= view.width ? right : left
  return {
    x: within(x, view.width - card.width),
    y: within(work.top + work.height / 2 - card.height / 2, view.height - card.height),
  }
}

/** How high a card whose top is at `y` may be: it ends above the stage's edge. */
export const heightBelow = (y: number, view: View): number => view.height - y - GAP

const within = (value: number, room: number) => Math.round(Math.max(GAP, Math.min(value, room - GAP)))
