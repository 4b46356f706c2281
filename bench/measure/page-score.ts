/** Rates how well a page loads, as one number. */

/**
 * The vitals of a page load: milliseconds until the first and the largest paint, milliseconds blocked, and the layout
 * shift.
 */
export type Vitals = {
  readonly first: number
  readonly largest: number
  readonly blocked: number
  readonly moved: number
}

/** A figure's weight in the score, and the values that count as good (90 of 100) and as average (50). */
type Curve = { readonly weight: number; readonly good: number; readonly middling: number }

// Lighthouse 12's curves for phones, without the speed index, which needs a video of the load:
// https://developer.chrome.com/docs/lighthouse/performance/performance-scoring
const CURVES: Readonly<Record<keyof Vitals, Curve>> = {
  first: { weight: 10, good: 1800, middling: 3000 },
  largest: { weight: 25, good: 2500, middling: 4000 },
  blocked: { weight: 30, good: 200, middling: 600 },
  moved: { weight: 25, good: 0.1, middling: 0.25 },
}

/** Returns the score, from 0 to 100. */
export function computeScore(vitals: Vitals): number {
  const parts = Object.entries(CURVES).map(([name, curve]) => [
    curve.weight,
    computeShareAbove(vitals[name as keyof Vitals], curve),
  ])
  const sumParts = (pick: (weight: number, share: number) => number) =>
    parts.reduce((sum, [weight = 0, share = 0]) => sum + pick(weight, share), 0)
  return (100 * sumParts((weight, share) => weight * share)) / sumParts((weight) => weight)
}

// The point above which a tenth of a normal distribution lies.
const NINE_TENTHS = 1.2816

/** The share of a log-normal distribution above a value. */
function computeShareAbove(value: number, { good, middling }: Curve): number {
  if (value <= 0) return 1
  return 1 - computeNormalCdf((NINE_TENTHS * Math.log(value / middling)) / Math.log(middling / good))
}

/** The share of a normal distribution below `z`, after Abramowitz and Stegun, 26.2.17. */
function computeNormalCdf(z: number): number {
  const t = 1 / (1 + 0.231_641_9 * Math.abs(z))
  const sum = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429].reduceRight(
    (rest, factor) => t * (factor + rest),
    0,
  )
  const tail = (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI)
  return z < 0 ? tail : 1 - tail
}
