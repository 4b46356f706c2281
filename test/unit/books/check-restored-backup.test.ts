import { describe, expect, test } from 'bun:test'
import { checkRestoredBackup } from '../../../server/books/check-restored-backup.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import type { StorePosition } from '../../../server/domain/store-position.ts'
import type { Chain } from '../../../server/ports.ts'
import { openBlank } from '../../support/blank-wall.ts'
import { hold, sell } from '../../support/engine.ts'
import { fakeChain } from '../../support/fakes/chain.ts'
import { fakeClock } from '../../support/fakes/clock.ts'
import { fakeFacilitator, SIGNER } from '../../support/fakes/facilitator.ts'
import { fakeLogger } from '../../support/fakes/logger.ts'
import { HEAD, NOW, paymentOf, TERMS, wallet } from '../../support/samples.ts'

// Goal: a store that is older than what was sold is told from one of the present, and nothing a stranger does looks like
// that for longer than a look. Method: a chain in memory, a wall in memory, and payments that only one of them knows.

/** A wall that has looked at the chain up to `HEAD`, and what is around it. */
async function openWorld() {
  const [chain, logger, clock] = [fakeChain(), fakeLogger(), fakeClock(NOW)]
  const facilitator = fakeFacilitator(chain)
  const engine = await openBlank()
  const witness = { seen: undefined as StorePosition | undefined, isApart: false }
  const deps = { ...engine, chain, facilitator, terms: TERMS, clock, logger }
  const newCheck = (changes: Partial<typeof deps> = {}) =>
    checkRestoredBackup({
      ...deps,
      ...changes,
      witness: { read: async () => witness.seen, isApart: async () => witness.isApart },
    })
  const check = newCheck()
  const events = () => logger.alerts.map(({ event }) => event)
  await engine.checkpoint.reach(HEAD)
  return { chain, clock, logger, facilitator, ...engine, witness, check, newCheck, events }
}

/** The same, and the witness has seen all of it. */
async function openWitnessed() {
  const world = await openWorld()
  await sell(world, 'next', 1, 1)
  world.witness.seen = await world.store.position()
  return world
}

test('a new wall is of the present, and remembers from where', async () => {
  const { chain, clock, logger, facilitator } = await openWorld()
  const fresh = await openBlank()
  chain.land(paymentOf(1, 1), SIGNER)
  const witness = { read: async () => undefined, isApart: async () => false }
  const check = checkRestoredBackup({ ...fresh, witness, chain, facilitator, terms: TERMS, clock, logger })
  expect(await check.isCurrent()).toBe(true)
  expect(await fresh.checkpoint.height()).toBe(HEAD + 1n)
})

test('a store that knows every sale is of the present, once the chain could be asked', async () => {
  const { chain, check, ...engine } = await openWorld()
  await hold(engine, 'next', paymentOf(1, 1))
  chain.land(paymentOf(1, 1), SIGNER)
  chain.silent = true
  expect(await check.isCurrent()).toBe(false)
  chain.silent = false
  expect(await check.isCurrent()).toBe(true)
})

test('neither gifts nor odd amounts are taken for sales', async () => {
  const { chain, check, events } = await openWorld()
  chain.give(wallet(3), TERMS.payTo, TERMS.amount)
  chain.land(paymentOf(4, 4, { amount: 0n }))
  chain.land(paymentOf(4, 5, { amount: TERMS.amount + 1n }))
  chain.land(paymentOf(5, 5, { to: wallet(6) }))
  expect([await check.isCurrent(), events()]).toEqual([true, []])
})

describe('without a witness', () => {
  test('a price paid for a sale that is not known is not passed over until the operator says so, and told once', async () => {
    const { chain, logger, checkpoint, check } = await openWorld()
    const tx = chain.land(paymentOf(2, 2))
    expect([await check.isCurrent(), await check.isCurrent()]).toEqual([false, false])
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { tx, payer: wallet(2) } }])
    await checkpoint.reach(HEAD + 1n)
    expect(await check.isCurrent()).toBe(true)
  })

  test('so is what a sale cost before the price was another', async () => {
    const { chain, newCheck, logger, ...engine } = await openWorld()
    await hold(engine, 'next', paymentOf(1, 1))
    chain.land(paymentOf(2, 2))
    const dearer = newCheck({ terms: { ...TERMS, amount: 7n * TERMS.amount } })
    expect(await dearer.isCurrent()).toBe(false)
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { payer: wallet(2) } }])
  })

  test('so is what was paid to an address that the wall was paid at before', async () => {
    const { chain, newCheck, logger, ...engine } = await openWorld()
    const former = wallet(9)
    const formerly = { to: former, accepted: { ...TERMS, payTo: former, scheme: 'exact' } }
    await hold(engine, 'next', paymentOf(1, 1, formerly))
    chain.land(paymentOf(1, 1, formerly))
    chain.land(paymentOf(2, 2, formerly))
    expect(await newCheck().isCurrent()).toBe(false)
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { payer: wallet(2) } }])
  })

  test('the operator may also book it as stray', async () => {
    const { chain, payouts, check } = await openWorld()
    chain.land(paymentOf(2, 2))
    expect(await check.isCurrent()).toBe(false)
    await payouts.note(paymentOf(2, 2), 'stray', NOW)
    expect(await check.isCurrent()).toBe(true)
  })
})

describe('a store level with its witness', () => {
  test('sells on over money that others sent: it is told once, and booked', async () => {
    const { chain, logger, check, newCheck, payouts } = await openWitnessed()
    const tx = chain.land(paymentOf(2, 2))
    expect(await check.isCurrent()).toBe(true)
    expect(logger.alerts).toMatchObject([{ event: 'stray', facts: { tx, payer: wallet(2), amount: '1000000' } }])
    expect(await payouts.isNoted(paymentOf(2, 2))).toBe(true)
    expect(await newCheck().isCurrent()).toBe(true)
    expect(logger.alerts).toHaveLength(1)
  })

  test('may have been taken back together with it, so what our own facilitator sent keeps it from selling', async () => {
    const { chain, check, events, payouts } = await openWitnessed()
    chain.land(paymentOf(2, 2))
    chain.land(paymentOf(3, 3), SIGNER)
    expect([await check.isCurrent(), events()]).toEqual([false, ['stray', 'orphan']])
    await payouts.note(paymentOf(3, 3), 'stray', NOW)
    expect(await check.isCurrent()).toBe(true)
  })

  test('on another device knows of no lost sale, so sales go on, and what stays unknown is told at each start', async () => {
    const { chain, check, newCheck, witness, events, logger, payouts } = await openWitnessed()
    witness.isApart = true
    const tx = chain.land(paymentOf(3, 3), SIGNER)
    expect([await check.isCurrent(), check.reason(), check.orphans()]).toMatchObject([true, null, [{ tx }]])
    expect(logger.alerts).toMatchObject([
      { event: 'orphan', facts: { tx, what: expect.stringContaining('sales continue') } },
    ])
    expect(await payouts.isNoted(paymentOf(3, 3))).toBe(false)
    expect([await newCheck().isCurrent(), events()]).toEqual([true, ['orphan', 'orphan']])
    await payouts.note(paymentOf(3, 3), 'stray', NOW)
    expect([await check.isCurrent(), check.orphans()]).toEqual([true, []])
    const next = newCheck()
    expect([await next.isCurrent(), next.orphans(), events().length]).toEqual([true, [], 2])
  })

  test('says why it keeps the wall from selling', async () => {
    const { chain, check, witness, store } = await openWitnessed()
    chain.land(paymentOf(3, 3), SIGNER)
    await check.isCurrent()
    expect(check.reason()).toStartWith('money arrived without a known purchase')
    witness.isApart = true
    witness.seen = { ...(await store.position()), change: 2 }
    check.replaced({ progress: witness.seen, seen: witness.seen, isOlder: false })
    expect([await check.isCurrent(), check.isOlder()]).toEqual([false, true])
    expect(check.reason()).toStartWith('the database is older than the last state this wall has recorded')
  })

  test('waits to be told who sends, and takes a facilitator that does not tell for the sender', async () => {
    const { chain, check, facilitator, events } = await openWitnessed()
    chain.land(paymentOf(2, 2))
    facilitator.signing = 'unavailable'
    expect([await check.isCurrent(), events()]).toEqual([false, []])
    facilitator.signing = 'unknown'
    expect([await check.isCurrent(), events()]).toEqual([false, ['orphan']])
  })

  test('asks the facilitator nothing where there is nothing to ask', async () => {
    const { chain, check, facilitator } = await openWitnessed()
    chain.land(paymentOf(1, 1), SIGNER)
    facilitator.signing = 'unavailable'
    expect(await check.isCurrent()).toBe(true)
  })
})

describe('a store behind its witness', () => {
  test.each(['change', 'payment'] as const)('by one %s sells nothing until it is accepted', async (what) => {
    const { chain, check, witness, checkpoint, logger, store } = await openWitnessed()
    const position = await store.position()
    witness.seen = { ...position, [what]: position[what] + 1 }
    chain.land(paymentOf(1, 1))
    expect([await check.isCurrent(), await check.isCurrent()]).toEqual([false, false])
    expect(logger.alerts).toMatchObject([{ event: 'older-copy', facts: { change: 1, payment: 1 } }])
    // Looking on accepts nothing, or the next start would take the copy for the wall.
    expect(await checkpoint.height()).toBe(HEAD)
    await checkpoint.reach(HEAD + 1n)
    expect(await check.isCurrent()).toBe(true)
  })

  test('takes nobody’s money for stray', async () => {
    const { chain, check, witness, events, store, payouts } = await openWitnessed()
    const position = await store.position()
    witness.seen = { ...position, change: 2 }
    chain.land(paymentOf(2, 2))
    expect([await check.isCurrent(), events()]).toEqual([false, ['older-copy', 'orphan']])
    expect(await payouts.isNoted(paymentOf(2, 2))).toBe(false)
  })
})

describe('the look back', () => {
  /** An endpoint that shows one block at a time, and none beyond `until.height`. */
  const narrow = (chain: Chain, until: { height: bigint }): Chain => ({
    ...chain,
    async transfersTo(payTo, from) {
      if (from > until.height) return 'silent'
      const all = await chain.transfersTo(payTo, from)
      if (all === 'silent' || all.next === from) return all
      const transfers = all.transfers.filter(({ height }) => height === from)
      return { transfers, next: from + 1n, isAll: from + 1n >= all.next }
    },
  })

  test('keeps its progress after each clean stretch, for the next start too', async () => {
    const { chain, newCheck, checkpoint } = await openWorld()
    for (const n of [3, 4, 5]) chain.land(paymentOf(n, n, { to: wallet(6) }))
    const until = { height: HEAD + 2n }
    expect(await newCheck({ chain: { ...chain, ...narrow(chain, until) } }).isCurrent()).toBe(false)
    expect(await checkpoint.height()).toBe(HEAD + 2n)
  })

  test('stops short of what nobody accounted for, and does not read on from there again', async () => {
    const { chain, newCheck, checkpoint, payouts } = await openWorld()
    chain.land(paymentOf(3, 3, { to: wallet(6) }))
    chain.land(paymentOf(2, 2))
    chain.land(paymentOf(4, 4, { to: wallet(6) }))
    const asked: bigint[] = []
    const shown = narrow(chain, { height: HEAD + 9n })
    const transfersTo: Chain['transfersTo'] = (payTo, from) => {
      asked.push(from - HEAD)
      return shown.transfersTo(payTo, from)
    }
    const check = newCheck({ chain: { ...chain, transfersTo } })
    expect(await check.isCurrent()).toBe(false)
    expect(await checkpoint.height()).toBe(HEAD + 1n)
    expect(await check.isCurrent()).toBe(false)
    expect(asked).toEqual([1n, 2n, 3n, 4n])
    await payouts.note(paymentOf(2, 2), 'stray', NOW)
    expect([await check.isCurrent(), await checkpoint.height()]).toEqual([true, HEAD + 3n])
  })

  test('goes on where the store went away', async () => {
    const { chain, newCheck, checkpoint } = await openWorld()
    let isDown = true
    const shaky: typeof checkpoint = {
      ...checkpoint,
      async reach(height) {
        if (isDown) throw new StoreUnavailable('down')
        await checkpoint.reach(height)
      },
    }
    chain.land(paymentOf(3, 3, { to: wallet(6) }))
    const check = newCheck({ checkpoint: shaky })
    expect(await check.isCurrent()).toBe(false)
    isDown = false
    expect([await check.isCurrent(), await checkpoint.height()]).toEqual([true, HEAD + 1n])
  })
})

describe('while the wall runs', () => {
  test('whatever arrives is no sale that was forgotten: it is booked as stray, and the next start has little to look at', async () => {
    const { chain, clock, check, newCheck, payouts, checkpoint, events } = await openWorld()
    expect(await check.isCurrent()).toBe(true)
    chain.land(paymentOf(2, 2), SIGNER)
    expect([await check.isCurrent(), events()]).toEqual([true, []])
    clock.pass(60_000)
    expect([await check.isCurrent(), events()]).toEqual([true, ['stray']])
    expect([await payouts.isNoted(paymentOf(2, 2)), await checkpoint.height()]).toEqual([true, HEAD + 1n])
    expect(await newCheck().isCurrent()).toBe(true)
  })

  test('another store under it is looked at as at a start', async () => {
    const { chain, check, checkpoint, store, events } = await openWitnessed()
    expect(await check.isCurrent()).toBe(true)
    const seen = await store.position()
    check.replaced({ progress: seen, seen, isOlder: false })
    chain.land(paymentOf(3, 3), SIGNER)
    expect([await check.isCurrent(), events()]).toEqual([false, ['orphan']])
    await checkpoint.reach(HEAD + 1n)
    expect(await check.isCurrent()).toBe(true)
  })

  test('an older one is told of once', async () => {
    const { check, store, logger } = await openWorld()
    expect(await check.isCurrent()).toBe(true)
    const progress = await store.position()
    const older = { progress, seen: { ...progress, change: 7 }, isOlder: true }
    check.replaced(older)
    check.replaced(older)
    expect(logger.alerts).toMatchObject([{ event: 'older-copy', facts: { change: 0, seenChange: 7 } }])
  })
})
