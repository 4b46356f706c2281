/** Random cameras and blocks. */

import fc from 'fast-check'
import { ALL_BLOCKS } from '../../../shared/wall.ts'
import { clamp, type View } from '../../../viewer/camera/camera.ts'

/** A number from `min` to `max`. */
export const numbers = (min: number, max: number) => fc.double({ min, max, noNaN: true })

/** A camera that the page can have in a view. */
export const camerasIn = (view: View) =>
  fc.record({ x: numbers(0, 1600), y: numbers(0, 900), zoom: numbers(0.5, 48) }).map((camera) => clamp(camera, view))

export const blocks = fc.constantFrom(...ALL_BLOCKS)
