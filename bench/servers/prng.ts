/** Repeatable pseudo-random numbers. */

/** Draws numbers from 0 up to, but not including, 1. */
export type Prng = () => number

/** Makes a generator from a seed, which must not be 0; the same seed gives the same numbers. */
export function createPrng(seed: number): Prng {
  let state = seed >>> 0
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Picks one of several values. */
export function pick<T>(roll: Prng, from: readonly [T, ...T[]]): T {
  return from[Math.floor(roll() * from.length)] ?? from[0]
}
