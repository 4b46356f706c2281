/** A bug to plant: a plausible mistake in the source, which breaks a promise in some history. */
export type Mutant = {
  readonly name: string
  readonly file: string // path in the repository
  readonly from: string // exact text in the source, which occurs once
  readonly to: string
  /**
   * The kind of history that the bug needs to show: with the real engine, two servers, the chain adapter, a restored
   * older copy, changing prices, or a wide wall.
   */
  readonly shows?: 'real' | 'twins' | 'real twins' | 'real prices' | 'real wide' | 'endpoints' | 'operator'
  /**
   * A history that showed the bug. Every test run plants the bugs that have a seed, and plays histories from that seed
   * on, because a change of the source may change which histories show the bug.
   */
  readonly seed?: number
}
