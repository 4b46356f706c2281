/** What the components of the paint page share. */

import type { Sketch } from './sketch.ts'

export type Studio = {
  sketch(): Sketch
  /** Replaces the sketch and updates every part. */
  setSketch(next: Sketch): void
  /** Moves the camera to where the picture is. */
  lookAtPicture(): void
}

/** A part that follows the sketch. */
export type Component = { update(next: Sketch, before: Sketch): void }
