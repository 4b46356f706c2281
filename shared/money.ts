/** Amounts of money, and counts of blocks, as text. USDC has six decimals, so one dollar is a million atomic units. */

import { TOTAL_BLOCKS } from './wall.ts'

export const ASSET_SYMBOL = 'USDC'

/** The price of a block if the settings do not set one. */
export const USUAL_PRICE = '1.00'
export const USUAL_PRICE_ATOMIC = 1_000_000n

const DECIMALS = 6
const CENT_DECIMALS = 2

/** A cent in atomic units. */
export const CENT_ATOMIC = 10n ** BigInt(DECIMALS - CENT_DECIMALS)

/** Atomic units as dollars with two decimals, or with up to six if the further decimals are not all zero. */
export function formatMoney(atomic: bigint): string {
  const digits = atomic.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '')
  return `${digits.slice(0, -DECIMALS)}.${fraction}`
}

/** Atomic units as dollars with the currency: `12.00 USDC`. */
export const formatAmount = (atomic: bigint): string => `${formatMoney(atomic)} ${ASSET_SYMBOL}`

const pricePattern = /^(?:0|[1-9]\d{0,5})\.\d{2}$/

/** A price with two decimals, from 0.01 to 999999.99, as atomic units; `undefined` for any other text. */
export function parsePrice(price: string): bigint | undefined {
  if (!pricePattern.test(price)) return undefined
  const atomic = BigInt(price.replace('.', '')) * CENT_ATOMIC
  return atomic > 0n ? atomic : undefined
}

/** A count with thousands separators: `1,234`. */
export const formatCount = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

/** A count with its noun: `1 agent`, `1,234 agents`. */
export const formatCountWithNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : plural}`

/** `1 block`, `12 blocks`. */
export const formatBlocks = (count: number): string => formatCountWithNoun(count, 'block')

/** The price of blocks in the wall's short form: `$1`, `$12.50`. */
export function formatPrice(perBlock: string, blocks = 1): string {
  const price = (Number(perBlock) * blocks).toFixed(2)
  return `$${price.endsWith('.00') ? formatCount(Number(price)) : price}`
}

/** A sentence with the number of sold blocks and the price of each. */
export const formatSummary = (sold: number, perBlock: string): string =>
  sold === TOTAL_BLOCKS
    ? `All ${formatBlocks(sold)} are sold, at ${formatPrice(perBlock)} each.`
    : `${formatCount(sold)} of ${formatBlocks(TOTAL_BLOCKS)} sold, ${formatPrice(perBlock)} each.`
