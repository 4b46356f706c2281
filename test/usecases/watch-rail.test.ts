import { describe, expect, test } from 'bun:test'
import type { Chain, Facilitator } from '../../server/ports.ts'
import { watchRail } from '../../server/usecases/watch-rail.ts'

type Supports = Awaited<ReturnType<Facilitator['supports']>>
type ChainFault = Awaited<ReturnType<Chain['fault']>>

const SILENT: ChainFault = { kind: 'silent' }
const WELL: ChainFault = { kind: 'none' }
const OTHER_CHAIN: ChainFault = { kind: 'fault', what: 'the chain is another one' }

const unasked = () => Promise.reject(new Error('the rail asks for nothing else'))

/** A rail over a facilitator, a chain and a clock that say what the test wants. */
function railOver() {
  const world = { supports: 'yes' as Supports, fault: WELL, now: 0 }
  const notes: unknown[] = []
  const rail = watchRail({
    facilitator: { verify: unasked, settle: unasked, supports: () => Promise.resolve(world.supports) },
    chain: { read: unasked, verdict: unasked, fault: () => Promise.resolve(world.fault), transfersTo: unasked },
    clock: { now: () => 0, elapsed: () => world.now, wait: unasked },
    journal: { note: (_, facts) => notes.push(facts), alarm: () => notes.push('alarm') },
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

  test.each<[string, Supports, ChainFault]>([
    ['the facilitator', 'unavailable', WELL],
    ['the chain', 'yes', SILENT],
    ['either', 'unavailable', SILENT],
  ])('does not arm while %s is silent', async (_, supports, fault) => {
    const { rail, world } = railOver()
    Object.assign(world, { supports, fault })
    rail.reconciled()
    await rail.probe()
    expect([rail.state(), rail.fault()]).toEqual(['arming', null])
    Object.assign(world, { supports: 'yes', fault: WELL })
    await rail.probe()
    expect(rail.state()).toBe('armed')
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

  test('arms again after five unusable answers in a row, once one is usable', async () => {
    const { rail } = await armedRail()
    const hear = (...usable: boolean[]) => usable.forEach(rail.heard)
    hear(false, false, false, false)
    expect(rail.state()).toBe('armed')
    hear(true, false, false, false, false)
    expect(rail.state()).toBe('armed')
    hear(false)
    expect(rail.state()).toBe('arming')
    await rail.probe()
    expect(rail.state()).toBe('armed')
  })

  test('counts failing probes among the unusable answers', async () => {
    const { rail, world } = await armedRail()
    world.supports = 'unavailable'
    for (let i = 0; i < 4; i++) await rail.probe()
    expect(rail.state()).toBe('armed')
    await rail.probe()
    expect(rail.state()).toBe('arming')
  })

  test('disarms after a minute of failing probes, though purchases hear usable answers', async () => {
    const { rail, world } = await armedRail()
    world.supports = 'unavailable'
    const failAt = async (now: number) => {
      world.now = now
      await rail.probe()
      rail.heard(true)
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

  test('notes each change of state once', async () => {
    const { rail, world, notes } = await armedRail()
    rail.state()
    world.fault = OTHER_CHAIN
    await rail.probe()
    await rail.probe()
    world.fault = WELL
    await rail.probe()
    expect(notes).toEqual([
      { state: 'armed' },
      { state: 'misconfigured', fault: 'the chain is another one' },
      { state: 'armed' },
    ])
  })
})
