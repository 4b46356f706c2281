/** Repeatable pseudo-random numbers: a seed determines all of them. */

export type Prng = {
  /** An integer from 0 up to, but not including, `limit`. */
  nextInt(limit: number): number
  /** True with this probability. */
  nextBoolean(probability: number): boolean
  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T
}

/** The numbers of a seed; the same seed gives the same numbers. */
export function createPrng(seed: number): Prng {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0
  const drawFraction = () => {
    // A Weyl sequence, mixed twice so that neighbouring seeds have nothing in common.
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000
  }
  const drawBelow = (limit: number) => Math.floor(drawFraction() * limit)
  return {
    nextInt: drawBelow,
    nextBoolean: (probability) => probability > 0 && drawFraction() < probability,
    pick: (items) => {
      const item = items[drawBelow(items.length)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
  }
}
