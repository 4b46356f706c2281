/** What the parts of this page share. */

import type { Sketch } from './sketch.ts'

export type Studio = {
  sketch(): Sketch
  /** Goes on with another sketch; every part is told. */
  become(next: Sketch): void
  /** Moves the camera to where the picture is. */
  look(): void
}

/** A part that follows the sketch. */
export type Part = { update(next: Sketch, before: Sketch): void }
