import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BEHIND_MAX } from '../../../server/http/live.ts'
import { BUDGETS } from '../../../server/wall/rate-limits.ts'
import { isInstalled } from '../../support/e2e/proxies.ts'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { reportSkipped } from '../../support/skipped.ts'
import { FLOOD_NAMES, type FloodName } from './floods.ts'
import { countBlocksSold, openScene, type Effect, type Entrance, type Scene } from './scene.ts'

// Goal: a client that floods the wall does not keep others from using it. Method: brief floods from many addresses, at
// least one of each kind. `bun run endurance abuse` plays every flood for several seconds over all of its connections,
// from one address and from many, and prints how other clients were served.

const PLAN = IS_LONG_RUN ? { ms: 5000, buyers: 5 } : { ms: 200, buyers: 1, connectionsMax: 16 }
// At least one flood of each kind: reads, pictures, signatures, payments, repaints, and connections that stay open,
// drip or pipeline.
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
  'free tools that bring a payment',
  'one unsigned payment',
  'long texts beside an unreadable payment',
]
const PLAYED = IS_LONG_RUN ? FLOOD_NAMES : FLOODS_OF_THE_GATE
const ADDRESSES = IS_LONG_RUN ? [1, 200] : [200]
const ENTRANCES: readonly Entrance[] =
  IS_LONG_RUN && !reportSkipped('nginx', isInstalled('nginx')) ? ['directly', 'through nginx'] : ['directly']
const CHANGES = IS_LONG_RUN ? 50_000 : 2 * BEHIND_MAX

// More blocks are left open than are bought, because areas need adjacent blocks.
const SLACK = 1.2
// How long other clients may wait; only a long run on a quiet machine can measure this.
const HEALTH_P99_MAX_MS = 150
const TIMES_QUIET_MAX = 10

// An upper bound on how long a flood and its buyers take.
const LONGEST_SECONDS = 30
// The wall has the facilitator verify a probe payment once a minute.
const PROBES_MAX = 2

let scene: Scene
const quiet = new Map<Entrance, Effect>()
beforeAll(async () => {
  const left = (PLAYED.length * ADDRESSES.length + 2) * ENTRANCES.length * countBlocksSold(PLAN.buyers)
  scene = await openScene(CHANGES, Math.ceil(left * SLACK))
  if (!IS_LONG_RUN) return
  for (const entrance of ENTRANCES) {
    // The first requests of a process are slower, so this run does not count.
    await scene.flood({ ...PLAN, connectionsMax: 0, addresses: 0, entrance })
    const effect = await scene.flood({ ...PLAN, connectionsMax: 0, addresses: 0, entrance })
    console.log(JSON.stringify({ quiet: entrance, ...effect }))
    quiet.set(entrance, effect)
  }
}, 60_000)
afterAll(async () => {
  await scene.stop()
})

/** The checks for one flood, in addition to those for all floods. */
const promises: Partial<Record<FloodName, (effect: Effect) => void>> = {
  // If a client repaints a block as fast as possible, the log grows by no more than the block's budget.
  repaints({ logGrew, waits }) {
    const { burst, perSecond } = BUDGETS.repaints
    expect(logGrew - countBlocksSold(PLAN.buyers) - waits.repaint.count).toBeLessThanOrEqual(
      burst + LONGEST_SECONDS * perSecond,
    )
  },
  // The wall calls the facilitator for a block and an area of each buyer, and as a probe, but never for junk payments.
  'junk payments': ({ verified }) => expect(verified).toBeLessThanOrEqual(2 * PLAN.buyers + PROBES_MAX),
  // The wall asks each reader who starts at the beginning of a long log to read the canvas.
  'live from 0'({ statuses, resets }) {
    if (!IS_LONG_RUN) expect(statuses).toEqual({ 200: resets })
    expect(resets).toBeGreaterThan(0)
  },
}

const CASES = ENTRANCES.flatMap((entrance) =>
  ADDRESSES.flatMap((addresses) => PLAYED.map((name) => [name, addresses, entrance] as const)),
)

test.each(CASES)(
  'during the flood "%s" (addresses: %i, %s), every honest buyer gets its blocks, and no honest request is rejected',
  async (flood, addresses, entrance) => {
    const effect = await scene.flood({ connectionsMax: Number.POSITIVE_INFINITY, ...PLAN, flood, addresses, entrance })
    const { bought, painted, rails, statuses, waits } = effect
    if (IS_LONG_RUN) console.log(JSON.stringify({ flood, addresses, entrance, ...effect }))
    expect({ bought, painted, rails }).toEqual({ bought: PLAN.buyers, painted: PLAN.buyers, rails: ['armed'] })
    expect(Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')).toEqual([])
    expect(Object.entries(waits).filter(([, { refused }]) => refused.length > 0)).toEqual([])
    promises[flood]?.(effect)
    const before = quiet.get(entrance)
    if (before === undefined) return
    expect(listSlowedKinds(effect, before)).toEqual([])
    expect(waits.health.p99).toBeLessThanOrEqual(HEALTH_P99_MAX_MS)
  },
)

/** The kinds of requests that took more than ten times as long as without a flood. */
function listSlowedKinds(during: Effect, before: Effect): readonly string[] {
  const listTimes = ({ waits: { preview, repaint, 'MCP call': call }, buyMost }: Effect) => ({
    preview: preview.p99,
    repaint: repaint.p99,
    call: call.p99,
    purchase: buyMost,
  })
  const limits = Object.entries(listTimes(before))
  return Object.entries(listTimes(during)).flatMap(([kind, ms]) => {
    const usual = limits.find(([name]) => name === kind)?.[1] ?? 0
    return ms > TIMES_QUIET_MAX * usual ? [`${kind}: ${ms.toFixed(0)} ms instead of ${usual.toFixed(0)} ms`] : []
  })
}
