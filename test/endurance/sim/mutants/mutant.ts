/** A bug to plant: a change of the source that a tired engineer could make, and that some history must show. */
export type Mutant = {
  readonly name: string
  readonly file: string // in the repository
  readonly from: string // as the source has it, exactly once
  readonly to: string
  /**
   * Where it shows: over the real engine only, between two servers, in the adapter, once an older copy is put back, where
   * the price changes, or on a wide wall.
   */
  readonly shows?: 'real' | 'twins' | 'real twins' | 'real prices' | 'real wide' | 'endpoints' | 'operator'
  readonly isCheap?: true // found within so few histories that every test run can do it
}
