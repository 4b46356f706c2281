/** Notices a GPU that is none: where software draws, each frame keeps the next one waiting. */

// Longer than any screen's own rhythm, in milliseconds.
const SLOW_MS = 80

// A busy moment is no slow machine.
const SLOW_IN_A_ROW = 12

/** Takes how long each frame kept the next one waiting, in milliseconds; answers true once that was too long again and again. */
export function frameWatch(): (ms: number) => boolean {
  let slow = 0
  return (ms) => {
    slow = ms >= SLOW_MS ? slow + 1 : 0
    return slow >= SLOW_IN_A_ROW
  }
}
