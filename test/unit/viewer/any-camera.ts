/** Generators of random numbers, cameras and blocks for property tests. */

import fc from 'fast-check'
import { ALL_BLOCKS } from '../../../shared/wall.ts'
import { clampCamera, type View } from '../../../viewer/camera/camera.ts'

/** Generates numbers from `min` to `max`. */
export const generateNumber = (min: number, max: number) => fc.double({ min, max, noNaN: true })

/** Generates cameras that the page can have in a view. */
export const generateCamera = (view: View) =>
  fc
    .record({ x: generateNumber(0, 1600), y: generateNumber(0, 900), zoom: generateNumber(0.5, 48) })
    .map((camera) => clampCamera(camera, view))

export const blocks = fc.constantFrom(...ALL_BLOCKS)
