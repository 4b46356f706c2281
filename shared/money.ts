/** The price of a block. USDC has six decimals, so one dollar is a million atomic units. */

export const PRICE_ATOMIC = 1_000_000n
export const PRICE = '1.00'
export const PRICE_PER_PIXEL = '0.01'
export const ASSET_SYMBOL = 'USDC'
