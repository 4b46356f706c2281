/** A bug to plant: a plausible mistake in the source, which some history must show. */
export type Mutant = {
  readonly name: string
  readonly file: string // in the repository
  readonly from: string // exact text in the source, which occurs once
  readonly to: string
  /**
   * The kind of run that finds it: only with the real engine, between two servers, in the adapter, with a restored
   * older copy, with changing prices, or on a wide wall.
   */
  readonly shows?: 'real' | 'twins' | 'real twins' | 'real prices' | 'real wide' | 'endpoints' | 'operator'
  readonly isCheap?: true // found within so few histories that every test run can plant it
}
