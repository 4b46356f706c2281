import { describe, expect, test } from 'bun:test'
import { createRestoredBackupCheck, type RestoredBackupDeps } from '../../../server/books/check-restored-backup.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { STRAY_BY_HAND, STRAY_NOTE } from '../../../server/domain/purchase/account.ts'
import type { StorePosition } from '../../../server/domain/store-position.ts'
import type { Chain } from '../../../server/ports.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { reserveTarget, sellBlock } from '../../support/engine.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { HEAD, NOW, createTestPayment, TERMS, createWalletAddress } from '../../support/samples.ts'

// Goal: an older copy of the database sells nothing, and a database that provably lost no sale sells even if other users
// send money to the wall. Method: a chain and a wall in memory, and payments that only one of them knows.

/** A wall that has searched the chain up to `HEAD`, and the fakes around it. */
async function openWorld() {
  const [chain, logger, clock] = [createFakeChain(), createFakeLogger(), createFakeClock(NOW)]
  const engine = await openBlankWall()
  const witness = { seen: undefined as StorePosition | undefined, isApart: false }
  const deps = { ...engine, chain, terms: TERMS, clock, logger, witness: { read: async () => witness.seen } }
  const createCheck = (changes: Partial<Omit<RestoredBackupDeps, 'isWitnessApart'>> = {}) =>
    createRestoredBackupCheck({ ...deps, isWitnessApart: witness.isApart, ...changes })
  const check = createCheck()
  const listEvents = () => logger.alerts.map(({ event }) => event)
  await engine.checkpoint.advanceTo(HEAD)
  return { chain, clock, logger, ...engine, witness, check, newCheck: createCheck, events: listEvents }
}

/** A wall with one sale, and a witness that has seen its whole state. */
async function openWitnessedWorld() {
  const world = await openWorld()
  await sellBlock(world, 'next', 1, 1)
  world.witness.seen = await world.store.readPosition()
  return world
}

test('the database of a new wall counts as current, and the first check stores the chain height and the payment address in it', async () => {
  const { chain, newCheck } = await openWorld()
  const fresh = await openBlankWall()
  chain.transferPayment(createTestPayment(1, 1))
  expect(await newCheck({ ...fresh }).isCurrent()).toBe(true)
  expect(await fresh.checkpoint.readHeight()).toBe(HEAD + 1n)
  expect((await fresh.store.readPosition()).payees).toEqual([TERMS.payTo])
})

test('a database that knows every sale counts as current once the chain has responded', async () => {
  const { chain, check, ...engine } = await openWorld()
  await reserveTarget(engine, 'next', createTestPayment(1, 1))
  chain.transferPayment(createTestPayment(1, 1))
  chain.silent = true
  expect(await check.isCurrent()).toBe(false)
  chain.silent = false
  expect(await check.isCurrent()).toBe(true)
})

test('transfers without an authorization, zero amounts, fractions of a cent and payments to foreign addresses do not count as sales', async () => {
  const { chain, check, events } = await openWorld()
  chain.transferDirectly(createWalletAddress(3), TERMS.payTo, TERMS.amount)
  chain.transferPayment(createTestPayment(4, 4, { amount: 0n }))
  chain.transferPayment(createTestPayment(4, 5, { amount: TERMS.amount + 1n }))
  chain.transferPayment(createTestPayment(5, 5, { to: createWalletAddress(6) }))
  expect([await check.isCurrent(), events()]).toEqual([true, []])
})

describe('without a witness', () => {
  test('without a witness, an unknown payment of the block price stops sales until the operator decides, and causes one alert', async () => {
    const { chain, logger, checkpoint, check } = await openWorld()
    const tx = chain.transferPayment(createTestPayment(2, 2))
    expect([await check.isCurrent(), await check.isCurrent()]).toEqual([false, false])
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { tx, payer: createWalletAddress(2) } }])
    await checkpoint.advanceTo(HEAD + 1n)
    expect(await check.isCurrent()).toBe(true)
  })

  test('without a witness, any unknown payment in whole cents stops sales, whatever the price was at the time', async () => {
    const { chain, check, logger } = await openWorld()
    chain.transferPayment(createTestPayment(2, 2, { amount: 370_000n }))
    expect(await check.isCurrent()).toBe(false)
    expect(logger.alerts).toMatchObject([
      { event: 'orphan', facts: { payer: createWalletAddress(2), amount: '370000' } },
    ])
  })

  test('without a witness, an unknown payment to an earlier address of the wall stops sales', async () => {
    const { chain, newCheck, logger, ...engine } = await openWorld()
    const former = createWalletAddress(9)
    const formerly = { to: former, accepted: { ...TERMS, payTo: former, scheme: 'exact' } }
    await reserveTarget(engine, 'next', createTestPayment(1, 1, formerly))
    chain.transferPayment(createTestPayment(1, 1, formerly))
    chain.transferPayment(createTestPayment(2, 2, formerly))
    expect(await newCheck().isCurrent()).toBe(false)
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { payer: createWalletAddress(2) } }])
  })

  test('without a witness, an unknown payment to an address in earlier terms stops sales, even if nobody bought on those terms', async () => {
    const { chain, newCheck, events } = await openWorld()
    const former = createWalletAddress(9)
    expect(await newCheck({ terms: { ...TERMS, payTo: former } }).isCurrent()).toBe(true)
    chain.transferPayment(createTestPayment(2, 2, { to: former }))
    expect([await newCheck().isCurrent(), events()]).toEqual([false, ['orphan']])
  })

  test('without a witness, sales continue once the operator books an unknown payment as stray', async () => {
    const { chain, payouts, check } = await openWorld()
    chain.transferPayment(createTestPayment(2, 2))
    expect(await check.isCurrent()).toBe(false)
    await payouts.recordReference(createTestPayment(2, 2), 'stray', NOW)
    expect(await check.isCurrent()).toBe(true)
  })
})

describe('a database that is level with its witness', () => {
  test('if a database is level with its witness, both may have been restored together, so unknown money from any sender stops sales', async () => {
    const { chain, check, events, payouts, logger } = await openWitnessedWorld()
    chain.transferPayment(createTestPayment(3, 3))
    expect([await check.isCurrent(), events()]).toEqual([false, ['orphan']])
    for (const remedy of ['accept-restore', 'resolve --all --stray', 'WITNESS_IS_APART=yes']) {
      expect(check.findReason()).toContain(remedy)
      expect(String(logger.alerts[0]?.facts?.['what'])).toContain(remedy)
    }
    expect(await payouts.findReference(createTestPayment(3, 3))).toBeUndefined()
    await payouts.recordReference(createTestPayment(3, 3), STRAY_BY_HAND, NOW)
    expect([await check.isCurrent(), check.findReason(), check.listOrphans()]).toEqual([true, null, []])
  })

  test('a witness shows the payment addresses that the wall has used since the backup', async () => {
    const { chain, check, witness, events, checkpoint } = await openWitnessedWorld()
    const since = createWalletAddress(9)
    if (witness.seen !== undefined) witness.seen = { ...witness.seen, payees: [TERMS.payTo, since] }
    chain.transferPayment(createTestPayment(2, 2, { to: since }))
    expect([await check.isCurrent(), events()]).toEqual([false, ['orphan']])
    expect(await checkpoint.listPayees()).toContain(since)
  })

  test('a witness on a separate device proves that no sale was lost, so unknown money is booked as stray with one alert, and sales continue', async () => {
    const { chain, newCheck, witness, logger, payouts } = await openWitnessedWorld()
    witness.isApart = true
    const check = newCheck()
    const tx = chain.transferPayment(createTestPayment(2, 2))
    expect([await check.isCurrent(), check.findReason(), check.listOrphans()]).toEqual([true, null, []])
    expect(logger.alerts).toMatchObject([
      { event: 'stray', facts: { tx, payer: createWalletAddress(2), amount: '1000000' } },
    ])
    expect(await payouts.findReference(createTestPayment(2, 2))).toBe(STRAY_NOTE)
    expect(await newCheck().isCurrent()).toBe(true)
    expect(logger.alerts).toHaveLength(1)
  })

  test('an unreadable witness proves nothing, even on a separate device', async () => {
    const { chain, newCheck, witness, events } = await openWitnessedWorld()
    witness.isApart = true
    chain.transferPayment(createTestPayment(2, 2))
    const unread = { read: () => Promise.reject(new Error('no such disk')) }
    expect([await newCheck({ witness: unread }).isCurrent(), events()]).toEqual([false, ['witness-failed', 'orphan']])
  })
})

describe('an accepted database', () => {
  test('after a database is accepted, lost sales that settle within a few minutes are credited, and later money is booked as stray', async () => {
    const { chain, clock, check, checkpoint, payouts, logger, ledger } = await openWorld()
    await checkpoint.recordAcceptance(clock.now())
    expect(await check.isCurrent()).toBe(true)
    const tx = chain.transferPayment(createTestPayment(2, 2))
    clock.advance(60_000)
    expect(await check.isCurrent()).toBe(true)
    expect(logger.alerts).toMatchObject([{ event: 'orphan', facts: { tx, what: expect.stringContaining('a credit') } }])
    expect(await ledger.find(createTestPayment(2, 2))).toMatchObject({ state: { kind: 'credited', tx } })
    clock.advance(8 * 60_000)
    chain.transferPayment(createTestPayment(3, 3))
    expect(await check.isCurrent()).toBe(true)
    expect(await payouts.findReference(createTestPayment(3, 3))).toBe(STRAY_NOTE)
  })
})

describe('a database that is behind its witness', () => {
  test.each(['change', 'payment'] as const)(
    'a wall whose database is one %s behind its witness sells nothing until the database is accepted',
    async (what) => {
      const { chain, check, witness, checkpoint, logger, store } = await openWitnessedWorld()
      const position = await store.readPosition()
      witness.seen = { ...position, [what]: position[what] + 1 }
      chain.transferPayment(createTestPayment(1, 1))
      expect([await check.isCurrent(), await check.isCurrent()]).toEqual([false, false])
      expect(logger.alerts).toMatchObject([{ event: 'older-copy', facts: { change: 1, payment: 1 } }])
      // A further search stores no height; otherwise the next start would treat the copy as current.
      expect(await checkpoint.readHeight()).toBe(HEAD)
      await checkpoint.advanceTo(HEAD + 1n)
      expect(await check.isCurrent()).toBe(true)
    },
  )

  test('while a database is behind its witness, no money is booked as stray', async () => {
    const { chain, check, witness, events, store, payouts } = await openWitnessedWorld()
    const position = await store.readPosition()
    witness.seen = { ...position, change: 2 }
    chain.transferPayment(createTestPayment(2, 2))
    expect([await check.isCurrent(), events()]).toEqual([false, ['older-copy', 'orphan']])
    expect(await payouts.findReference(createTestPayment(2, 2))).toBeUndefined()
  })
})

describe('the search for unknown payments', () => {
  /** An endpoint that shows one block at a time, and none beyond `until.height`. */
  const narrowChain = (chain: Chain, until: { height: bigint }): Chain => ({
    ...chain,
    async readTransfers(payTo, from) {
      if (from > until.height) return 'silent'
      const all = await chain.readTransfers(payTo, from)
      if (all === 'silent' || all.next === from) return all
      const transfers = all.transfers.filter(({ height }) => height === from)
      return { transfers, next: from + 1n, isAll: from + 1n >= all.next }
    },
  })

  test('the search stores its progress after each block range without unknown payments, so that the next search continues from there', async () => {
    const { chain, newCheck, checkpoint } = await openWorld()
    for (const n of [3, 4, 5]) chain.transferPayment(createTestPayment(n, n, { to: createWalletAddress(6) }))
    const until = { height: HEAD + 2n }
    expect(await newCheck({ chain: { ...chain, ...narrowChain(chain, until) } }).isCurrent()).toBe(false)
    expect(await checkpoint.readHeight()).toBe(HEAD + 2n)
  })

  test('the search stops before unknown money, and the next search does not skip that money', async () => {
    const { chain, newCheck, checkpoint, payouts } = await openWorld()
    chain.transferPayment(createTestPayment(3, 3, { to: createWalletAddress(6) }))
    chain.transferPayment(createTestPayment(2, 2))
    chain.transferPayment(createTestPayment(4, 4, { to: createWalletAddress(6) }))
    const asked: bigint[] = []
    const shown = narrowChain(chain, { height: HEAD + 9n })
    const readTransfers: Chain['readTransfers'] = (payTo, from) => {
      asked.push(from - HEAD)
      return shown.readTransfers(payTo, from)
    }
    const check = newCheck({ chain: { ...chain, readTransfers } })
    expect(await check.isCurrent()).toBe(false)
    expect(await checkpoint.readHeight()).toBe(HEAD + 1n)
    expect(await check.isCurrent()).toBe(false)
    expect(asked).toEqual([1n, 2n, 3n, 4n])
    await payouts.recordReference(createTestPayment(2, 2), 'stray', NOW)
    expect([await check.isCurrent(), await checkpoint.readHeight()]).toEqual([true, HEAD + 3n])
  })

  test('a search that failed because the database was unavailable continues once it is available again', async () => {
    const { chain, newCheck, checkpoint } = await openWorld()
    let isDown = true
    const shaky: typeof checkpoint = {
      ...checkpoint,
      async advanceTo(height) {
        if (isDown) throw new StoreUnavailable('down')
        await checkpoint.advanceTo(height)
      },
    }
    chain.transferPayment(createTestPayment(3, 3, { to: createWalletAddress(6) }))
    const check = newCheck({ checkpoint: shaky })
    expect(await check.isCurrent()).toBe(false)
    isDown = false
    expect([await check.isCurrent(), await checkpoint.readHeight()]).toEqual([true, HEAD + 1n])
  })
})

describe('while the wall runs', () => {
  test('money that arrives while the wall runs is booked as stray, and its height is stored, so the next start has less to search', async () => {
    const { chain, clock, check, newCheck, payouts, checkpoint, events } = await openWorld()
    expect(await check.isCurrent()).toBe(true)
    chain.transferPayment(createTestPayment(2, 2))
    expect([await check.isCurrent(), events()]).toEqual([true, []])
    clock.advance(60_000)
    expect([await check.isCurrent(), events()]).toEqual([true, ['stray']])
    expect([await payouts.findReference(createTestPayment(2, 2)), await checkpoint.readHeight()]).toEqual([
      STRAY_NOTE,
      HEAD + 1n,
    ])
    expect(await newCheck().isCurrent()).toBe(true)
  })

  test('if the database is replaced under a running wall, the new database is checked in the same way as at startup', async () => {
    const { chain, check, checkpoint, store, events } = await openWitnessedWorld()
    expect(await check.isCurrent()).toBe(true)
    const seen = await store.readPosition()
    check.onReplaced({ progress: seen, seen, isOlder: false })
    chain.transferPayment(createTestPayment(3, 3))
    expect([await check.isCurrent(), events()]).toEqual([false, ['orphan']])
    await checkpoint.advanceTo(HEAD + 1n)
    expect(await check.isCurrent()).toBe(true)
  })

  test('a check during which the database is replaced books nothing, stores no height and does not arm the rail', async () => {
    const { chain, newCheck, checkpoint, payouts, store, witness } = await openWitnessedWorld()
    witness.isApart = true
    chain.transferPayment(createTestPayment(3, 3))
    const seen = await store.readPosition()
    let isReplaced = false
    const replacing: Chain = {
      ...chain,
      async readTransfers(payTo, from) {
        const receipts = await chain.readTransfers(payTo, from)
        if (!isReplaced) check.onReplaced({ progress: seen, seen, isOlder: false })
        isReplaced = true
        return receipts
      },
    }
    const check = newCheck({ chain: replacing })
    expect(await check.isCurrent()).toBe(false)
    expect([await payouts.findReference(createTestPayment(3, 3)), await checkpoint.readHeight()]).toEqual([
      undefined,
      HEAD,
    ])
    expect(await check.isCurrent()).toBe(true)
  })

  test('if the database is replaced while a check books money, the check does not arm the rail', async () => {
    const { chain, newCheck, checkpoint, payouts, store, witness } = await openWitnessedWorld()
    witness.isApart = true
    chain.transferPayment(createTestPayment(3, 3))
    const seen = await store.readPosition()
    const note: typeof payouts.recordReference = async (...noted) => {
      check.onReplaced({ progress: seen, seen, isOlder: false })
      return await payouts.recordReference(...noted)
    }
    const check = newCheck({ payouts: { ...payouts, recordReference: note } })
    expect([await check.isCurrent(), await checkpoint.readHeight()]).toEqual([false, HEAD])
  })

  test('if the database is replaced after a check has read everything, the check does not arm the rail', async () => {
    const { newCheck, checkpoint, store, witness } = await openWitnessedWorld()
    witness.isApart = true
    const seen = await store.readPosition()
    let asked = 0
    const readHeight: typeof checkpoint.readHeight = () => {
      // The check reads the height before, during and after its search.
      if (++asked === 3) check.onReplaced({ progress: seen, seen, isOlder: true })
      return checkpoint.readHeight()
    }
    const check = newCheck({ checkpoint: { ...checkpoint, readHeight } })
    expect([await check.isCurrent(), asked]).toEqual([false, 3])
  })

  test('if the database of a running wall is replaced with an older one, the operator gets only one alert', async () => {
    const { check, store, logger } = await openWorld()
    expect(await check.isCurrent()).toBe(true)
    const progress = await store.readPosition()
    const older = { progress, seen: { ...progress, change: 7 }, isOlder: true }
    check.onReplaced(older)
    check.onReplaced(older)
    expect(logger.alerts).toMatchObject([{ event: 'older-copy', facts: { change: 0, seenChange: 7 } }])
  })
})
