/** Amounts of money as text. USDC has six decimals, so one dollar is a million atomic units. */

export const ASSET_SYMBOL = 'USDC'

/** What a block costs where the settings name no other price. */
export const USUAL_PRICE = '1.00'
export const USUAL_PRICE_ATOMIC = 1_000_000n

const DECIMALS = 6
const CENT_DECIMALS = 2

/** A cent in atomic units. */
export const CENT_ATOMIC = 10n ** BigInt(DECIMALS - CENT_DECIMALS)

/** Atomic units as dollars: with cents, and what is left of the six decimals where there is more than cents. */
export function moneyText(atomic: bigint): string {
  const digits = atomic.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -DECIMALS)}.${fraction}`
}

const pricePattern = /^(?:0|[1-9]\d{0,5})\.\d{2}$/

/** A price with two decimals, from 0.01 to 999999.99, as atomic units; `undefined` for any other text. */
export function atomicOf(price: string): bigint | undefined {
  if (!pricePattern.test(price)) return undefined
  const atomic = BigInt(price.replace('.', '')) * CENT_ATOMIC
  return atomic > 0n ? atomic : undefined
}
