/** The position of the details on the stage, and the camera that shows a whole artwork next to them. Pure. */

import type { Box, Camera, Point, Rect, View } from './camera.ts'
import { ZOOM_MAX, projectRect, clampCamera, lookAt } from './camera.ts'

/** A card next to the artwork, a wide one on a low stage, or a sheet over the lower part of a narrow stage. */
export type LabelShape = 'card' | 'wide' | 'sheet'

// Sizes in CSS pixels: a stage of at most this width has a sheet, and any other stage of at most this height has a wide
// card.
const SHEET_STAGE_WIDTH = 600
const WIDE_STAGE_HEIGHT = 390

// Widths in CSS pixels; a wide card takes no more than half of the stage.
const CARD_WIDTH = 320
const WIDE_CARD_WIDTH = 380

/** The largest share of the stage's height that a lowered sheet takes. */
export const SHEET_SHARE = 0.52

const GAP = 12

// An artwork may be in the middle, with space on both sides, if this share of the stage's width remains for it.
const MIDDLE_SHARE = 0.4

// The shares of a space that an area may take, in the order in which they are tried. An area takes nearly all of a
// space only if the wall's edge is in the way. Each further camera that is tried is closer by the factor `NEARER`.
const SHARES = [0.8, 0.98]
const NEARER = 1.25

// Positions are compared with this tolerance, in CSS pixels.
const TOLERANCE = 0.5

/** The shape of the details on a stage. */
export function chooseLabelShape({ width, height }: View): LabelShape {
  if (width <= SHEET_STAGE_WIDTH) return 'sheet'
  return height <= WIDE_STAGE_HEIGHT ? 'wide' : 'card'
}

/** The stage while details are open: a sheet covers its lower part. */
export function computeStage(view: View): View {
  return chooseLabelShape(view) === 'sheet' ? { ...view, covered: view.height * SHEET_SHARE } : view
}

/** The width of the details, in CSS pixels. */
export function computeLabelWidth(view: View): number {
  switch (chooseLabelShape(view)) {
    case 'sheet':
      return view.width
    case 'wide':
      return Math.min(WIDE_CARD_WIDTH, view.width / 2)
    case 'card':
      return CARD_WIDTH
  }
}

/**
 * The camera that shows all of an area next to its details, at a zoom of at most `zoomMax` unless only a closer camera
 * leaves space for both.
 */
export function lookBeside(area: Rect, view: View, zoomMax: number): Camera {
  const stage = computeStage(view)
  const rooms = listSpaces(view)
  for (const share of SHARES)
    for (let zoom = zoomMax; zoom < NEARER * ZOOM_MAX; zoom *= NEARER) {
      const looks = rooms.map((room) => lookWithin(room, area, stage, zoom, share))
      const found = looks.find((camera) => fitsBesideDetails(camera, view, area))
      if (found !== undefined) return found
    }
  // No camera leaves space: the area fills the stage even when the whole wall is shown.
  return clampCamera(lookAt(area, view, zoomMax), stage)
}

/** Whether a camera shows all of an area, and leaves space for its details. */
export function fitsBesideDetails(camera: Camera, view: View, area: Rect): boolean {
  const { left, top, width, height } = projectRect(camera, view, area)
  const stage = computeStage(view)
  const isWhole =
    left >= -TOLERANCE &&
    top >= -TOLERANCE &&
    left + width <= view.width + TOLERANCE &&
    top + height <= view.height - (stage.covered ?? 0) + TOLERANCE
  if (!isWhole || chooseLabelShape(view) === 'sheet') return isWhole
  const taken = computeCardSpace(view)
  return left >= taken || view.width - left - width >= taken
}

/** The width of the stage that a card takes, including a gap on both sides, in CSS pixels. */
const computeCardSpace = (view: View) => computeLabelWidth(view) + 2 * GAP

/** The parts of the stage in which an artwork leaves space for its details, best first. */
function listSpaces(view: View): readonly Rect[] {
  const { width, height } = view
  const whole = { left: 0, top: 0, right: width, bottom: height }
  if (chooseLabelShape(view) === 'sheet') return [{ ...whole, bottom: height * (1 - SHEET_SHARE) }]
  const taken = computeCardSpace(view)
  const sides = [
    { ...whole, right: width - taken },
    { ...whole, left: taken },
  ]
  return width - 2 * taken < width * MIDDLE_SHARE ? sides : [{ ...whole, left: taken, right: width - taken }, ...sides]
}

/** The camera that shows an area in the middle of a part of the stage, using at most `share` of that part. */
function lookWithin(room: Rect, area: Rect, view: View, zoomMax: number, share: number): Camera {
  const across = (room.right - room.left) / (area.right - area.left)
  const down = (room.bottom - room.top) / (area.bottom - area.top)
  const { zoom } = clampCamera({ x: 0, y: 0, zoom: Math.min(zoomMax, share * across, share * down) }, view)
  return clampCamera(
    {
      x: (area.left + area.right) / 2 - ((room.left + room.right) / 2 - view.width / 2) / zoom,
      y: (area.top + area.bottom) / 2 - ((room.top + room.bottom) / 2 - view.height / 2) / zoom,
      zoom,
    },
    view,
  )
}

/** The top left corner of a card: next to its artwork if there is space, always wholly on the stage. */
export function placeCard(work: Box, card: { readonly width: number; readonly height: number }, view: View): Point {
  const right = work.left + work.width + GAP
  const left = work.left - GAP - card.width
  const x = right + card.width + GAP <= view.width ? right : left
  return {
    x: clampToSpace(x, view.width - card.width),
    y: clampToSpace(work.top + work.height / 2 - card.height / 2, view.height - card.height),
  }
}

/** The maximum height of a card whose top is at `y`, so that it ends above the stage's bottom edge. */
export const measureHeightBelow = (y: number, view: View): number => view.height - y - GAP

const clampToSpace = (value: number, room: number) => Math.round(Math.max(GAP, Math.min(value, room - GAP)))
