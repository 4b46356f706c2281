import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BEHIND_MAX } from '../../../server/http/live.ts'
import { BUDGETS } from '../../../server/wall/rate-limits.ts'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { FLOOD_NAMES, type FloodName } from './floods.ts'
import { blocksOf, openScene, type Effect, type Scene } from './scene.ts'

// Goal: whoever floods the wall takes nothing from anybody else. Method: a flood of each kind from many addresses for a moment;
// `bun run abuse` plays all of them, for seconds over all of their connections, from one address too, with what others had of
// it in a line.

const PLAN = IS_LONG_RUN ? { ms: 5000, buyers: 5 } : { ms: 200, buyers: 1, connectionsMax: 16 }
// One of each way to flood: a read, a picture, a signature, a payment, a repaint, and connections that stay, drip or pipeline.
const FLOODS_OF_THE_GATE: readonly FloodName[] = [
  'space',
  'one wallet',
  'blank pictures',
  'signatures of wallets that are not deployed',
  'junk payments',
  'repaints',
  'uploads of a byte a second',
  'live streams',
  'live from 0',
]
const PLAYED = IS_LONG_RUN ? FLOOD_NAMES : FLOODS_OF_THE_GATE
const ADDRESSES = IS_LONG_RUN ? [1, 200] : [200]
const CHANGES = IS_LONG_RUN ? 50_000 : 2 * BEHIND_MAX

// What is left for areas must lie together.
const SLACK = 1.2
// How long others may wait, which only a long run on a quiet machine can tell.
const BUY_P50_MAX_MS = 1000
const HEALTH_P99_MAX_MS = 150

// After that a flood is given up.
const LONGEST_SECONDS = 30
// The wall asks whether the facilitator works once a minute.
const PROBES_MAX = 2

let scene: Scene
beforeAll(async () => {
  const left = PLAYED.length * ADDRESSES.length * blocksOf(PLAN.buyers)
  scene = await openScene(CHANGES, Math.ceil(left * SLACK))
}, 60_000)
afterAll(async () => {
  await scene.stop()
})

/** What holds under one flood, beside what holds under all. */
const promises: Partial<Record<FloodName, (effect: Effect) => void>> = {
  // A block that is repainted as fast as one can makes the log grow by no more than its budget.
  repaints({ logGrew }) {
    const { burst, perSecond } = BUDGETS.repaints
    expect(logGrew - blocksOf(PLAN.buyers)).toBeLessThanOrEqual(burst + LONGEST_SECONDS * perSecond)
  },
  // The facilitator is never asked about payments that nobody signed, but for a block and an area of each buyer.
  'junk payments': ({ verified }) => expect(verified).toBeLessThanOrEqual(2 * PLAN.buyers + PROBES_MAX),
  // Readers who come from the beginning of a long log are told to read the canvas, each of them.
  'live from 0'({ statuses, resets }) {
    if (!IS_LONG_RUN) expect(statuses).toEqual({ 200: resets })
    expect(resets).toBeGreaterThan(0)
  },
}

test.each(ADDRESSES.flatMap((addresses) => PLAYED.map((name) => [name, addresses] as const)))(
  'a flood of %s from %i addresses: the wall sells, and nothing of it fails',
  async (name, addresses) => {
    const effect = await scene.flood(name, { connectionsMax: Number.POSITIVE_INFINITY, ...PLAN, addresses })
    const { bought, painted, rails, statuses, buyP50, healthP99 } = effect
    expect({ bought, painted, rails }).toEqual({ bought: PLAN.buyers, painted: PLAN.buyers, rails: ['armed'] })
    expect(Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')).toEqual([])
    promises[name]?.(effect)
    if (!IS_LONG_RUN) return
    console.log(JSON.stringify({ name, addresses, ...effect }))
    expect(buyP50).toBeLessThanOrEqual(BUY_P50_MAX_MS)
    expect(healthP99).toBeLessThanOrEqual(HEALTH_P99_MAX_MS)
  },
)
