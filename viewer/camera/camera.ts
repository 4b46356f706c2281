/** The camera: which part of the wall the stage shows. Pure. Screen points are CSS pixels from the stage's top left. */

import type { Area } from '../../shared/area.ts'
import { BLOCK_SIZE, type BlockIndex, HEIGHT, WIDTH, getBlockAt, getCell } from '../../shared/wall.ts'

/** The maximum zoom, in CSS pixels per wall pixel: a block then spans 480 CSS pixels. */
export const ZOOM_MAX = 48

// The share of the stage that a wall shown whole takes; the rest is its margin.
const FIT_SHARE = 0.96

// The share of the stage that `lookAt` and `moveIntoView` use for an area.
const AREA_SHARE = 0.8

export type Point = { readonly x: number; readonly y: number }

/** The stage's size in CSS pixels. */
export type View = {
  readonly width: number
  readonly height: number
  readonly covered?: number // height of the lower part that a sheet covers
}

export type Camera = {
  readonly x: number // wall pixel in the middle of the stage
  readonly y: number
  readonly zoom: number // CSS pixels per wall pixel
}

/** The size of a stage, at least one pixel wide and one pixel high. */
export const measureView = ({ clientWidth, clientHeight }: Pick<Element, 'clientWidth' | 'clientHeight'>): View => ({
  width: Math.max(clientWidth, 1),
  height: Math.max(clientHeight, 1),
})

/** The camera that shows the whole wall in the middle of the stage. */
export function fitWall(view: View): Camera {
  return { x: WIDTH / 2, y: HEIGHT / 2, zoom: computeFitZoom(view) }
}

/** Whether the camera shows the whole wall. */
export function isFitted(camera: Camera, view: View): boolean {
  return camera.zoom <= computeFitZoom(view)
}

/**
 * The nearest valid camera: the wall is never smaller than when it is shown whole, and always covers the part of the
 * stage that it takes when shown whole. Above a sheet, the wall may be pushed up, but still covers the part of the
 * visible stage that it would take if shown whole there.
 */
export function clampCamera(camera: Camera, view: View): Camera {
  const least = computeFitZoom(view)
  const zoom = clampBetween(camera.zoom, least, Math.max(least, ZOOM_MAX))
  const freedom = 1 - least / zoom
  const [across, down] = [(WIDTH / 2) * freedom, (HEIGHT / 2) * freedom]
  return {
    x: clampBetween(camera.x, WIDTH / 2 - across, WIDTH / 2 + across),
    y: clampBetween(camera.y, HEIGHT / 2 - down, HEIGHT / 2 + down + computePush(view, least) / zoom),
    zoom,
  }
}

/** How far the wall may be pushed up under a sheet, in CSS pixels. */
function computePush(view: View, least: number): number {
  const { width, height, covered = 0 } = view
  return covered / 2 + (HEIGHT / 2) * (least - computeFitZoom({ width, height: height - covered }))
}

/** Moves the wall by a distance on the screen. */
export function pan(camera: Camera, view: View, dx: number, dy: number): Camera {
  return clampCamera({ x: camera.x - dx / camera.zoom, y: camera.y - dy / camera.zoom, zoom: camera.zoom }, view)
}

/** Zooms by `factor`, and keeps the wall point under `at` in its place, or as near to its place as allowed. */
export function zoom(camera: Camera, view: View, factor: number, at: Point): Camera {
  const fixed = toWall(camera, view, at)
  const target = clampCamera({ ...camera, zoom: camera.zoom * factor }, view).zoom
  const ratio = camera.zoom / target
  return clampCamera(
    { x: fixed.x + (camera.x - fixed.x) * ratio, y: fixed.y + (camera.y - fixed.y) * ratio, zoom: target },
    view,
  )
}

/** A rectangle of the wall, in wall pixels. */
export type Rect = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number }

/** The rectangle of an area of blocks. */
export const toRect = ({ col, row, w, h }: Area): Rect => ({
  left: col * BLOCK_SIZE,
  top: row * BLOCK_SIZE,
  right: (col + w) * BLOCK_SIZE,
  bottom: (row + h) * BLOCK_SIZE,
})

export const WHOLE_WALL: Rect = { left: 0, top: 0, right: WIDTH, bottom: HEIGHT }

/** The closest camera that shows all of an area with some margin, at a zoom of at most `zoomMax`. */
export function lookAt(area: Rect, view: View, zoomMax: number): Camera {
  const width = area.right - area.left
  const height = area.bottom - area.top
  const zoom = Math.min(view.width / width, view.height / height) * AREA_SHARE
  return clampCamera({ x: area.left + width / 2, y: area.top + height / 2, zoom: Math.min(zoom, zoomMax) }, view)
}

/** The camera moved as little as necessary to show all of an area, at the same zoom. */
export function moveIntoView(camera: Camera, view: View, area: Rect): Camera {
  const halfWidth = (view.width / 2 / camera.zoom) * AREA_SHARE
  const halfHeight = (view.height / 2 / camera.zoom) * AREA_SHARE
  const x = clampBetween(camera.x, area.right - halfWidth, area.left + halfWidth)
  const y = clampBetween(camera.y, area.bottom - halfHeight, area.top + halfHeight)
  return x === camera.x && y === camera.y ? camera : clampCamera({ x, y, zoom: camera.zoom }, view)
}

/** The wall point under a screen point; it may be off the wall. */
export function toWall(camera: Camera, view: View, at: Point): Point {
  return {
    x: camera.x + (at.x - view.width / 2) / camera.zoom,
    y: camera.y + (at.y - view.height / 2) / camera.zoom,
  }
}

/** The stage position of a wall point; the inverse of `toWall`. */
export function toScreen(camera: Camera, view: View, point: Point): Point {
  return {
    x: (point.x - camera.x) * camera.zoom + view.width / 2,
    y: (point.y - camera.y) * camera.zoom + view.height / 2,
  }
}

/** The zoom at which the whole height of the wall fits on the stage. */
export const computeUprightZoom = (view: View): number => (view.height / HEIGHT) * FIT_SHARE

const computeFitZoom = (view: View) => Math.max(Math.min(view.width / WIDTH, view.height / HEIGHT) * FIT_SHARE, 0.01)

const clampBetween = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)

/** A rectangle on the stage, in CSS pixels. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number }

/** The block under a screen point; `undefined` off the wall. */
export function findBlock(camera: Camera, view: View, at: Point): BlockIndex | undefined {
  const point = toWall(camera, view, at)
  return getBlockAt(Math.floor(point.x / BLOCK_SIZE), Math.floor(point.y / BLOCK_SIZE))
}

/** The position of a block on the stage. */
export const computeBlockBox = (camera: Camera, view: View, block: BlockIndex): Box =>
  projectRect(camera, view, toRect({ ...getCell(block), w: 1, h: 1 }))

/** The position of an area of the wall on the stage. */
export function projectRect(camera: Camera, view: View, { left, top, right, bottom }: Rect): Box {
  const corner = toScreen(camera, view, { x: left, y: top })
  return { left: corner.x, top: corner.y, width: (right - left) * camera.zoom, height: (bottom - top) * camera.zoom }
}
