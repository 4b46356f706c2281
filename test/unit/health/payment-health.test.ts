import { describe, expect, test } from 'bun:test'
import { paymentHealth } from '../../../server/health/payment-health.ts'
import type { ChainHealth, Facilitator } from '../../../server/ports.ts'

type Supports = Awaited<ReturnType<Facilitator['supports']>>

const SILENT: ChainHealth = { kind: 'silent', what: 'the chain endpoint rpc.example does not answer' }
const WELL: ChainHealth = { kind: 'none' }
const OTHER_CHAIN: ChainHealth = { kind: 'fault', what: 'the chain is another one' }
const STALLED: ChainHealth = { kind: 'stalled', what: 'the chain makes no blocks' }

const unasked = () => Promise.reject(new Error('the rail asks for nothing else'))

/** A rail over a facilitator, a chain and a clock that say what the test wants. */
function railOver() {
  const world = { supports: 'yes' as Supports, fault: WELL, now: 0, down: null as string | null, isSuspect: false }
  const notes: unknown[] = []
  const rail = paymentHealth({
    facilitator: {
      verify: unasked,
      settle: unasked,
      supports: () => Promise.resolve(world.supports),
      signers: unasked,
      isSuspect: () => world.isSuspect,
    },
    chain: {
      read: unasked,
      status: unasked,
      fault: () => Promise.resolve(world.fault),
      transfersTo: unasked,
      broadcaster: unasked,
    },
    clock: { now: () => 0, elapsed: () => world.now, wait: unasked },
    logger: { note: (_, facts) => notes.push(facts), alert: () => notes.push('alert') },
    facilitatorTrouble: () => (world.supports === 'unavailable' ? NO_FACILITATOR : world.down),
  })
  return { world, notes, rail }
}

/** A rail that takes payments. */
async function armedRail() {
  const over = railOver()
  await over.rail.probe()
  over.rail.reconciled()
  expect(over.rail.state()).toBe('armed')
  return over
}

const NO_FACILITATOR = 'the facilitator at pay.example does not answer'
const NO_CHAIN = 'the chain endpoint rpc.example does not answer'

describe('the rail', () => {
  test('arms once a probe succeeded and open purchases were looked at, in either order', async () => {
    const [first, second] = [railOver().rail, railOver().rail]
    expect(first.state()).toBe('arming')
    await first.probe()
    expect(first.state()).toBe('arming')
    first.reconciled()
    expect(first.state()).toBe('armed')
    second.reconciled()
    expect(second.state()).toBe('arming')
    await second.probe()
    expect(second.state()).toBe('armed')
  })

  test.each<[string, Supports, ChainHealth, string]>([
    ['the facilitator', 'unavailable', WELL, NO_FACILITATOR],
    ['the chain', 'yes', SILENT, NO_CHAIN],
    ['either', 'unavailable', SILENT, `${NO_FACILITATOR}; ${NO_CHAIN}`],
  ])('does not arm while %s is silent, and says so', async (_, supports, fault, what) => {
    const { rail, world } = railOver()
    Object.assign(world, { supports, fault })
    rail.reconciled()
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['arming', what])
    Object.assign(world, { supports: 'yes', fault: WELL })
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', null])
  })

  test('says which facilitator is down while another works, and stays armed', async () => {
    const { rail, world, notes } = await armedRail()
    world.down = NO_FACILITATOR
    await rail.probe()
    expect([rail.state(), rail.fault(), notes.at(-1)]).toEqual([
      'armed',
      NO_FACILITATOR,
      { state: 'armed', what: NO_FACILITATOR },
    ])
    world.down = null
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', null])
  })

  test('is misconfigured by what the chain answers, until it answers otherwise', async () => {
    const { rail, world } = await armedRail()
    world.fault = OTHER_CHAIN
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['misconfigured', 'the chain is another one'])
    world.fault = SILENT
    await rail.probe()
    expect(rail.state()).toBe('misconfigured')
    world.fault = WELL
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', null])
  })

  test('is misconfigured by a facilitator that does not take the network', async () => {
    const { rail, world } = await armedRail()
    world.supports = 'no'
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['misconfigured', 'the facilitator does not take this network'])
  })

  test('disarms after five failed probes in a row, and arms again by one that succeeds', async () => {
    const { rail, world } = await armedRail()
    world.supports = 'unavailable'
    for (let i = 0; i < 4; i++) await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', NO_FACILITATOR])
    await rail.probe()
    expect(rail.state()).toBe('arming')
    world.supports = 'yes'
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', null])
  })

  test('disarms after a minute of failing probes', async () => {
    const { rail, world } = await armedRail()
    world.supports = 'unavailable'
    const failAt = async (now: number) => {
      world.now = now
      await rail.probe()
      return rail.state()
    }
    expect(await failAt(1_000)).toBe('armed')
    expect(await failAt(31_000)).toBe('armed')
    expect(await failAt(60_999)).toBe('armed')
    expect(await failAt(61_000)).toBe('arming')
    world.supports = 'yes'
    await rail.probe()
    expect(rail.state()).toBe('armed')
    world.supports = 'unavailable'
    expect(await failAt(61_001)).toBe('armed')
  })

  test('disarms at once while the chain stands still, and until it is seen to move', async () => {
    const { rail, world } = await armedRail()
    world.fault = STALLED
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['arming', 'the chain makes no blocks'])
    world.fault = SILENT
    await rail.probe()
    expect(rail.state()).toBe('arming')
    world.fault = { kind: 'none', head: 8n }
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', null])
  })

  test('is asked about each 5 s while something is wrong or the chain was no further, each 8 s else', async () => {
    const { rail, world } = railOver()
    expect(rail.probeInMs()).toBe(0)
    const probed = async (changes: Partial<typeof world>) => {
      Object.assign(world, changes)
      await rail.probe()
      return rail.probeInMs()
    }
    expect(await probed({ fault: { kind: 'none', head: 1n } })).toBe(1000)
    rail.reconciled()
    expect(rail.probeInMs()).toBe(8000)
    expect(await probed({})).toBe(5000)
    expect(await probed({ fault: { kind: 'none', head: 2n } })).toBe(8000)
    expect(await probed({ supports: 'unavailable' })).toBe(5000)
    expect(await probed({ supports: 'no' })).toBe(5000)
  })

  test('is probed at once, but not again within 2 s, when a buyer meets trouble at a facilitator', async () => {
    const { rail, world } = await armedRail()
    expect(rail.probeInMs()).toBe(8000)
    world.now = 1500
    expect(rail.probeInMs()).toBe(6500)
    world.isSuspect = true
    expect(rail.probeInMs()).toBe(500)
    world.now = 3000
    expect(rail.probeInMs()).toBe(0)
  })

  test('says what the endpoint cannot do, and takes payments', async () => {
    const { rail, world } = await armedRail()
    world.fault = { kind: 'none', lacks: 'no events' }
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['armed', 'no events'])
  })

  test('notes each change once', async () => {
    const { rail, world, notes } = await armedRail()
    rail.state()
    world.fault = OTHER_CHAIN
    await rail.probe()
    await rail.probe()
    world.fault = WELL
    await rail.probe()
    world.supports = 'unavailable'
    await rail.probe()
    await rail.probe()
    expect(notes).toEqual([
      { state: 'armed' },
      { state: 'misconfigured', what: 'the chain is another one' },
      { state: 'armed' },
      { state: 'armed', what: NO_FACILITATOR },
    ])
  })
})
