/** What one drawing needs, in device pixels: worked out from the state, without a GPU. */

import { HEIGHT, WIDTH, type BlockIndex } from '../../shared/wall.ts'
import type { Camera, View } from '../camera/camera.ts'
import { boxOf } from '../camera/hover.ts'

/** Left, top, right, bottom. */
type Edges = [number, number, number, number]

export type Frame = {
  readonly origin: [number, number] // wall point at the canvas's top left corner
  readonly pixel: number // wall pixels per device pixel
  readonly canvasHeight: number
  readonly place: Edges // the wall in clip space
  readonly grid: number // strength of the lines between blocks, 0 to 1
  readonly line: number // their width in device pixels
  readonly outlined: Outline | undefined
}

type Outline = {
  readonly block: Edges
  readonly stroke: number
  readonly place: Edges // what the outline may cover, in clip space
}

// In CSS pixels.
const STROKE = 2
const HALO = 1
const LINE = 1

// The grid appears between these zooms, in CSS pixels per wall pixel.
const GRID_FROM = 2.5
const GRID_TO = 6
const GRID_STRENGTH = 0.3

/** The drawing of a camera on a canvas with `ratio` device pixels per CSS pixel. */
export function frameOf(camera: Camera, view: View, ratio: number, outlined: BlockIndex | undefined): Frame {
  const width = Math.round(view.width * ratio)
  const height = Math.round(view.height * ratio)
  const pixel = 1 / (camera.zoom * ratio)
  // On whole device pixels, so that at whole zooms every wall pixel is exactly as wide as its neighbour.
  const left = Math.round((view.width / 2 - camera.x * camera.zoom) * ratio)
  const top = Math.round((view.height / 2 - camera.y * camera.zoom) * ratio)
  const clip = (edges: Edges) => toClip(edges, width, height)
  return {
    origin: [-left * pixel, -top * pixel],
    pixel,
    canvasHeight: height,
    place: clip([left, top, left + WIDTH / pixel, top + HEIGHT / pixel]),
    grid: GRID_STRENGTH * Math.max(0, Math.min((camera.zoom - GRID_FROM) / (GRID_TO - GRID_FROM), 1)),
    line: Math.max(1, Math.round(LINE * ratio)),
    outlined: outlined === undefined ? undefined : outlineOf(camera, view, ratio, outlined, clip),
  }
}

function outlineOf(
  camera: Camera,
  view: View,
  ratio: number,
  index: BlockIndex,
  clip: (edges: Edges) => Edges,
): Outline {
  const box = boxOf(camera, view, index)
  const left = Math.round(box.left * ratio)
  const top = Math.round(box.top * ratio)
  const right = Math.round((box.left + box.width) * ratio)
  const bottom = Math.round((box.top + box.height) * ratio)
  const reach = Math.ceil((STROKE + HALO) * ratio)
  return {
    block: [left, top, right, bottom],
    stroke: STROKE * ratio,
    place: clip([left - reach, top - reach, right + reach, bottom + reach]),
  }
}

const toClip = ([left, top, right, bottom]: Edges, width: number, height: number): Edges => [
  (left / width) * 2 - 1,
  1 - (top / height) * 2,
  (right / width) * 2 - 1,
  1 - (bottom / height) * 2,
]
