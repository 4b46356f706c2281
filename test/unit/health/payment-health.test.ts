import { describe, expect, test } from 'bun:test'
import { createPaymentHealth } from '../../../server/health/payment-health.ts'
import type { ChainHealth, Facilitator } from '../../../server/ports.ts'

type Supports = Awaited<ReturnType<Facilitator['checkSupport']>>

const SILENT: ChainHealth = { kind: 'silent', what: 'the chain endpoint rpc.example does not respond' }
const WELL: ChainHealth = { kind: 'none' }
const OTHER_CHAIN: ChainHealth = { kind: 'fault', what: 'the chain is another one' }
const STALLED: ChainHealth = { kind: 'stalled', what: 'the chain makes no blocks' }

const failIfAsked = () => Promise.reject(new Error('the rail makes no other call'))

/** A rail over a facilitator, a chain and a clock that the test controls. */
function createRail() {
  const world = { supports: 'yes' as Supports, fault: WELL, now: 0, down: null as string | null, isSuspect: false }
  const notes: unknown[] = []
  const rail = createPaymentHealth({
    facilitator: {
      verify: failIfAsked,
      settle: failIfAsked,
      checkSupport: () => Promise.resolve(world.supports),
      isSuspect: () => world.isSuspect,
    },
    chain: {
      readAuthorization: failIfAsked,
      readPaymentStatus: failIfAsked,
      readBalance: failIfAsked,
      checkHealth: () => Promise.resolve(world.fault),
      readTransfers: failIfAsked,
    },
    clock: { now: () => 0, elapsed: () => world.now, wait: failIfAsked },
    logger: { note: (_, facts) => notes.push(facts), alert: () => notes.push('alert') },
    findFacilitatorTrouble: () => (world.supports === 'unavailable' ? NO_FACILITATOR : world.down),
  })
  /** The state of the rail and its fault, after a probe with these changes. */
  const probeWith = async (changes: Partial<typeof world> = {}) => {
    Object.assign(world, changes)
    await rail.probe()
    return [rail.readState(), rail.readFault()]
  }
  return { world, notes, rail, probed: probeWith }
}

/** A rail that accepts payments. */
async function createArmedRail() {
  const over = createRail()
  await over.rail.probe()
  over.rail.markReconciled()
  expect(over.rail.readState()).toBe('armed')
  return over
}

const NO_FACILITATOR = 'the facilitator at pay.example does not respond'
const NO_CHAIN = 'the chain endpoint rpc.example does not respond'
const ARMED = ['armed', null]

describe('the rail', () => {
  test('the rail arms once a probe has succeeded and open purchases have been checked, in either order', async () => {
    const [first, second] = [createRail().rail, createRail().rail]
    expect(first.readState()).toBe('arming')
    await first.probe()
    expect(first.readState()).toBe('arming')
    first.markReconciled()
    expect(first.readState()).toBe('armed')
    second.markReconciled()
    expect(second.readState()).toBe('arming')
    await second.probe()
    expect(second.readState()).toBe('armed')
  })

  test.each<[string, Supports, ChainHealth, string]>([
    ['the facilitator does not respond', 'unavailable', WELL, NO_FACILITATOR],
    ['the chain does not respond', 'yes', SILENT, NO_CHAIN],
    ['neither the facilitator nor the chain responds', 'unavailable', SILENT, `${NO_FACILITATOR}; ${NO_CHAIN}`],
  ])('the rail does not arm while %s, and reports the reason', async (_, supports, fault, what) => {
    const { rail, probed } = createRail()
    rail.markReconciled()
    expect(await probed({ supports, fault })).toEqual(['arming', what])
    expect(await probed({ supports: 'yes', fault: WELL })).toEqual(ARMED)
  })

  test('the rail reports which facilitator is down while another one works, and stays armed', async () => {
    const { probed, notes } = await createArmedRail()
    expect(await probed({ down: NO_FACILITATOR })).toEqual(['armed', NO_FACILITATOR])
    expect(notes.at(-1)).toEqual({ state: 'armed', what: NO_FACILITATOR })
    expect(await probed({ down: null })).toEqual(ARMED)
  })

  test('if a probe finds a chain other than the configured one, the rail is misconfigured until a probe succeeds', async () => {
    const { probed } = await createArmedRail()
    expect(await probed({ fault: OTHER_CHAIN })).toEqual(['misconfigured', 'the chain is another one'])
    expect(await probed({ fault: SILENT })).toContain('misconfigured')
    expect(await probed({ fault: WELL })).toEqual(ARMED)
  })

  test('the rail is misconfigured if the facilitator does not support the network', async () => {
    const { probed } = await createArmedRail()
    expect(await probed({ supports: 'no' })).toEqual(['misconfigured', 'the facilitator does not support this network'])
  })

  test('the rail disarms after five failed probes in a row, and arms again after one success', async () => {
    const { probed } = await createArmedRail()
    const supports = 'unavailable'
    for (let i = 0; i < 4; i++) expect(await probed({ supports })).toEqual(['armed', NO_FACILITATOR])
    expect(await probed()).toContain('arming')
    expect(await probed({ supports: 'yes' })).toEqual(ARMED)
  })

  test('the rail disarms after a minute of failing probes', async () => {
    const { probed } = await createArmedRail()
    const supports = 'unavailable'
    for (const now of [1000, 31_000, 60_999]) expect(await probed({ supports, now })).toContain('armed')
    expect(await probed({ now: 61_000 })).toContain('arming')
    expect(await probed({ supports: 'yes' })).toContain('armed')
    expect(await probed({ supports, now: 61_001 })).toContain('armed')
  })

  test('the rail disarms immediately if the chain stalls, and arms again only once the chain moves', async () => {
    const { probed } = await createArmedRail()
    expect(await probed({ fault: STALLED })).toEqual(['arming', 'the chain makes no blocks'])
    expect(await probed({ fault: SILENT })).toContain('arming')
    expect(await probed({ fault: { kind: 'none', head: 8n } })).toEqual(ARMED)
  })

  test('the rail is probed every second until it first arms, then every 8 s, or every 5 s if something is wrong or the chain has not moved', async () => {
    const { rail, probed } = createRail()
    expect(rail.computeProbeDelay()).toBe(0)
    await probed({ fault: { kind: 'none', head: 1n } })
    expect(rail.computeProbeDelay()).toBe(1000)
    rail.markReconciled()
    expect(rail.computeProbeDelay()).toBe(8000)
    for (const [changes, inMs] of [
      [{}, 5000],
      [{ fault: { kind: 'none', head: 2n } }, 8000],
      [{ supports: 'unavailable' }, 5000],
      [{ supports: 'no' }, 5000],
    ] as const) {
      await probed(changes)
      expect(rail.computeProbeDelay()).toBe(inMs)
    }
  })

  test('if a purchase fails at a facilitator, the rail is probed as soon as 2 s have passed since the last probe', async () => {
    const { rail, world } = await createArmedRail()
    expect(rail.computeProbeDelay()).toBe(8000)
    world.now = 1500
    expect(rail.computeProbeDelay()).toBe(6500)
    world.isSuspect = true
    expect(rail.computeProbeDelay()).toBe(500)
    world.now = 3000
    expect(rail.computeProbeDelay()).toBe(0)
  })

  test('the rail reports what the endpoint of the chain does not support, and still accepts payments', async () => {
    const { probed } = await createArmedRail()
    expect(await probed({ fault: { kind: 'none', lacks: 'no events' } })).toEqual(['armed', 'no events'])
  })

  test('the rail logs each change of its state or its fault once', async () => {
    const { probed, notes } = await createArmedRail()
    for (const fault of [OTHER_CHAIN, OTHER_CHAIN, WELL]) await probed({ fault })
    for (const supports of ['unavailable', 'unavailable'] as const) await probed({ supports })
    expect(notes).toEqual([
      { state: 'armed' },
      { state: 'misconfigured', what: 'the chain is another one' },
      { state: 'armed' },
      { state: 'armed', what: NO_FACILITATOR },
    ])
  })
})
