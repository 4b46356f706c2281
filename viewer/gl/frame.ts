/** The inputs of one drawing, in device pixels: computed from the state, without a GPU. */

import { type BlockIndex, HEIGHT, WIDTH } from '../../shared/wall.ts'
import { type Box, type Camera, type View, computeBlockBox } from '../camera/camera.ts'

/** Left, top, right, bottom. */
type Edges = [number, number, number, number]

export type Frame = {
  readonly origin: [number, number] // wall point at the canvas's top left corner
  readonly pixel: number // wall pixels per device pixel
  readonly canvasHeight: number
  readonly place: Edges // the wall in clip space
  /** Strength of the lines around open blocks and around groups of ten by ten, 0 to 1. */
  readonly gridStrength: [blocks: number, tens: number]
  readonly line: number // width of those lines in device pixels
  readonly outlined: Outline | undefined
  readonly edge: Outline // the line around the wall
}

type Outline = {
  readonly box: Edges // in device pixels
  readonly stroke: number
  readonly place: Edges // the largest extent of the outline, in clip space
}

// Sizes in CSS pixels.
const STROKE = 2
const HALO = 1
const LINE = 1
const OUTLINED_MIN = 14

// The lines around each block fade in between these zooms, in CSS pixels per wall pixel.
const GRID_FROM = 1.2
const GRID_TO = 4
const TENS_STRENGTH = 0.8

/** Sets a canvas to the size of its stage, in device pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, { width, height }: View) {
  canvas.width = Math.round(width * devicePixelRatio)
  canvas.height = Math.round(height * devicePixelRatio)
}

/** The frame for a camera, on a canvas with `ratio` device pixels per CSS pixel. */
export function createFrame(camera: Camera, view: View, ratio: number, outlined: BlockIndex | undefined): Frame {
  const width = Math.round(view.width * ratio)
  const height = Math.round(view.height * ratio)
  const pixel = 1 / (camera.zoom * ratio)
  // The corner is on whole device pixels, so that at whole-number zooms all wall pixels have exactly the same width.
  const left = Math.round((view.width / 2 - camera.x * camera.zoom) * ratio)
  const top = Math.round((view.height / 2 - camera.y * camera.zoom) * ratio)
  const projectEdges = (edges: Edges) => toClipSpace(edges, width, height)
  return {
    origin: [-left * pixel, -top * pixel],
    pixel,
    canvasHeight: height,
    place: projectEdges([left, top, left + WIDTH / pixel, top + HEIGHT / pixel]),
    gridStrength: [Math.max(0, Math.min((camera.zoom - GRID_FROM) / (GRID_TO - GRID_FROM), 1)), TENS_STRENGTH],
    line: Math.max(1, Math.round(LINE * ratio)),
    outlined:
      outlined === undefined
        ? undefined
        : createOutline(
            computeEdges(enlargeToVisible(computeBlockBox(camera, view, outlined)), ratio),
            STROKE * ratio,
            HALO * ratio,
            projectEdges,
          ),
    edge: createOutline(
      [left, top, left + WIDTH / pixel, top + HEIGHT / pixel],
      Math.max(1, LINE * ratio),
      0,
      projectEdges,
    ),
  }
}

/** A box enlarged around its middle, so that it is visible from afar. */
function enlargeToVisible({ left, top, width, height }: Box): Box {
  const more = Math.max(0, OUTLINED_MIN - width) / 2
  return { left: left - more, top: top - more, width: width + 2 * more, height: height + 2 * more }
}

const computeEdges = ({ left, top, width, height }: Box, ratio: number): Edges => [
  Math.round(left * ratio),
  Math.round(top * ratio),
  Math.round((left + width) * ratio),
  Math.round((top + height) * ratio),
]

function createOutline(box: Edges, stroke: number, halo: number, clip: (edges: Edges) => Edges): Outline {
  const [left, top, right, bottom] = box
  const reach = Math.ceil(stroke + halo)
  return { box, stroke, place: clip([left - reach, top - reach, right + reach, bottom + reach]) }
}

const toClipSpace = ([left, top, right, bottom]: Edges, width: number, height: number): Edges => [
  (left / width) * 2 - 1,
  1 - (top / height) * 2,
  (right / width) * 2 - 1,
  1 - (bottom / height) * 2,
]
