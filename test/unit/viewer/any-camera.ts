/** Random cameras and blocks. */

import fc from 'fast-check'
import { ALL_BLOCKS } from '../../../shared/wall.ts'
import { clamp, type View } from '../../../viewer/camera/camera.ts'

/** A number from `min` to `max`. */
export const anyNumber = (min: number, max: number) => fc.double({ min, max, noNaN: true })

/** A camera that the page can have in a view. */
export const camerasIn = (view: View) =>
  fc
    .record({ x: anyNumber(0, 1600), y: anyNumber(0, 900), zoom: anyNumber(0.5, 48) })
    .map((camera) => clamp(camera, view))

export const blocks = fc.constantFrom(...ALL_BLOCKS)
