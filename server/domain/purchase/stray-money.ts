/** Money that arrived at the wall's address and is for no purchase of it. */

/** The note that books money as stray, where others say how the operator paid it back. */
export const STRAY_NOTE = 'stray'

/** Whether an amount may have been for blocks, at one of the prices that are or were asked. */
export const mayBuyBlocks = (amount: bigint, prices: readonly bigint[]): boolean =>
  amount > 0n && prices.some((price) => amount % price === 0n)
