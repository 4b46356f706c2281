/** Chance that is the same each time. */

/** Draws numbers from 0 up to, but not including, 1. */
export type Prng = () => number

/** Prng that fall the same way for the same seed, which must not be 0. */
export function prng(seed: number): Prng {
  let state = seed >>> 0
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** One of several. */
export function pick<T>(roll: Prng, from: readonly [T, ...T[]]): T {
  return from[Math.floor(roll() * from.length)] ?? from[0]
}
