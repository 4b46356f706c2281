import { expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import { SQL } from 'bun'
import type { Engine } from '../../../../db/engine.ts'
import { connect } from '../../../../db/postgres/connection.ts'
import { createPostgresJobs } from '../../../../db/postgres/coordination.ts'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
import { isSold } from '../../../../server/domain/purchase/purchase.ts'
import type { Change } from '../../../../server/domain/wall/log.ts'
import { CLAIM_ORDER, type BlockIndex } from '../../../../shared/wall.ts'
import {
  catchFailure,
  reserveTarget,
  sellBlock,
  findStoredPurchase,
  recordLatePayment,
  testOver,
} from '../../../support/engine.ts'
import { scaleLimit } from '../../../support/machine.ts'
import { sellAllButOnPostgres } from '../../../support/nearly-sold.ts'
import { startCutProxy } from '../../../support/postgres/cut-proxy.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  HEAD,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { waitFor, waitUntil } from '../../../support/wait.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: several processes on one database sell a block once, number the log without gaps and keep their promises to
// payers. Method: two engines, each with its own connections, do the same things in parallel.

const { createWall: newWall } = openPostgresWalls()

type Pair = readonly [Engine, Engine]

/** Runs tests with two engines on one database, on which `left` blocks are open. */
const testOnTwoEngines = (left = CLAIM_ORDER.length) =>
  testOver<Pair>(
    async () => {
      const url = await newWall()
      if (left < CLAIM_ORDER.length) await sellAllButOnPostgres(url, left)
      return [await openPostgres(url, TERMS.network), await openPostgres(url, TERMS.network)]
    },
    (engines) => Promise.all(engines.map((engine) => engine.close())),
  )

/** Runs the work for every number from 1 to `count`, with the two engines alternating. */
const runEach = <T>(count: number, engines: Pair, work: (engine: Engine, at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => work(engines[at % 2 === 0 ? 0 : 1], at + 1))

/**
 * Starts `work` while a separate connection holds the locks that the statements in `held` take. Releases the locks once
 * as many connections wait for a row, and as many for each other, as `waiting` says. Returns the result of `work`.
 */
async function runWhileLocked<T>(
  url: string,
  held: readonly string[],
  work: () => Promise<T>,
  waiting = { forRow: 1, forEachOther: 0 },
): Promise<T> {
  const [holder, watcher] = [new SQL(url, { max: 1 }), new SQL(url, { max: 1 })]
  try {
    return await holder
      .begin(async (transaction) => {
        for (const text of held) await transaction.unsafe(text)
        const working = work()
        await waitUntil(async () => isDeepStrictEqual([...(await watcher.unsafe(WAITING))], [waiting]))
        return { working }
      })
      .then(({ working }) => working)
  } finally {
    await Promise.all([holder.close(), watcher.close()])
  }
}

const WAITING = `
  SELECT count(*) FILTER (WHERE wait_event <> 'advisory')::int AS "forRow",
    count(*) FILTER (WHERE wait_event = 'advisory')::int AS "forEachOther"
  FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

const listClaimedPurchases = (claiming: Awaited<ReturnType<Engine['ledger']['claim']>>) =>
  claiming.kind === 'claimed' ? [claiming.purchase] : []

testOnTwoEngines(7)(
  'if more payers claim than blocks are open, each block goes to one payer, and the other payers get none',
  async (engines) => {
    const claimings = await Promise.all(
      runEach(40, engines, ({ ledger }, payer) =>
        ledger.claim('next', createTestPayment(payer, 1), SILENT, HEAD, NOW, []),
      ),
    )
    const blocks = claimings.flatMap(listClaimedPurchases).map(({ block }) => block)
    expect(new Set(blocks)).toEqual(new Set(CLAIM_ORDER.slice(-7)))
    expect(blocks).toHaveLength(7)
    expect(claimings.filter(({ kind }) => kind === 'lost')).toHaveLength(33)
  },
)

testOnTwoEngines()('of two processes that claim a payment at the same time, only one succeeds', async (engines) => {
  const tries = await Promise.all(
    runEach(20, engines, ({ ledger }) =>
      ledger
        .claim('next', createTestPayment(1, 1), SILENT, HEAD, NOW, [])
        .then(listClaimedPurchases, (error: Error) => error.name),
    ),
  )
  expect(tries.filter((outcome) => outcome !== 'StaleWriteError')).toHaveLength(1)
  expect(await engines[0].ledgerReader.listHeld()).toHaveLength(1)
})

testOnTwoEngines()(
  'a payer cannot exceed the limit of 16 held purchases with parallel claims in two processes',
  async (engines) => {
    const underWay = Array.from({ length: 40 }, (_, at) => createTestPayment(1, at + 1).nonce)
    const claimings = await Promise.all(
      runEach(40, engines, ({ ledger }, nonce) =>
        ledger.claim('next', createTestPayment(1, nonce), SILENT, HEAD, NOW, underWay),
      ),
    )
    expect(claimings.flatMap(listClaimedPurchases)).toHaveLength(16)
    expect(claimings.filter((claiming) => claiming.kind === 'lost' && claiming.space === 'full')).toHaveLength(24)
  },
)

test('a commit in progress is rejected if the database is replaced by an older one', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  await sellBlock(wall, '5,6', 1, 1)
  const block = parseBlockOrThrow('3,4')
  const older = [`SELECT 1 FROM blocks WHERE i = ${block} FOR UPDATE`, 'UPDATE counters SET number = 0']
  const claimAndFail = () => catchFailure(wall.ledger.claim(block, createTestPayment(2, 2), SILENT, HEAD, NOW, []))
  expect(await runWhileLocked(url, older, claimAndFail)).toBeInstanceOf(StoreUnavailable)
  const sql = new SQL(url, { max: 1 })
  expect(await sql.unsafe('SELECT nonce FROM payments')).toHaveLength(1)
  await Promise.all([wall.close(), sql.close()])
})

test('two repaints of a block by two processes at the same time each keep the other’s change', async () => {
  const url = await newWall()
  const walls = [await openPostgres(url, TERMS.network), await openPostgres(url, TERMS.network)] as const
  const { block } = await sellBlock(walls[0], '3,4', 1, 1)
  const edits = [createTestEdit(1, { message: 'kept' }), createTestEdit(2, { link: 'https://kept.example' })]
  const held = [`SELECT 1 FROM blocks WHERE i = ${block} FOR UPDATE`]
  const repaintBlock = () => Promise.all(edits.map((edit, at) => walls[at === 0 ? 0 : 1].blocks.edit(block, edit, NOW)))
  await runWhileLocked(url, held, repaintBlock, { forRow: 2, forEachOther: 0 })
  expect(await walls[0].blocks.findOwned(block)).toMatchObject({
    content: { message: 'kept', link: 'https://kept.example' },
  })
  await Promise.all(walls.map((wall) => wall.close()))
})

test('a repaint in progress is not stored if the owner removes the painter that made it', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  const { block } = await sellBlock(wall, '3,4', 1, 1, { ...SILENT, painter: createWalletAddress(9) })
  const word = [
    'SELECT 1 FROM counters FOR UPDATE',
    `INSERT INTO wallet_painters (agent, painter, ts, through) SELECT id, NULL, ${NOW}, 1 FROM agents`,
  ]
  const paintAll = () =>
    wall.blocks.edit(block, createTestEdit(1, { message: 'late', painter: createWalletAddress(9) }), NOW)
  expect(await runWhileLocked(url, word, paintAll)).toBe('not-painter')
  await wall.close()
})

test('parallel buyers of the nearest area wait for each other, and each gets an area', async () => {
  const url = await newWall()
  const wall = await openPostgres(url, TERMS.network)
  const BUYERS = 8
  const nearest = `SELECT 1 FROM blocks WHERE i = ${CLAIM_ORDER[0]} FOR UPDATE`
  const claimAndFail = () =>
    Promise.all(
      Array.from({ length: BUYERS }, (_, at) =>
        wall.ledger.claim('next,2x2', createTestPayment(at + 1, 1), SILENT, HEAD, NOW, []),
      ),
    )
  const claimings = await runWhileLocked(url, [nearest], claimAndFail, { forRow: 1, forEachOther: BUYERS - 1 })
  expect(claimings.flatMap(listClaimedPurchases)).toHaveLength(BUYERS)
  await wall.close()
})

testOnTwoEngines()(
  'if two processes finalize a sale at the same time, the sale is made once, and both return the same transaction',
  async (engines) => {
    const held = await reserveTarget(engines[0], 'next', createTestPayment(1, 1))
    const sales = await Promise.all(
      runEach(20, engines, ({ ledger }, at) => ledger.finalize(held, toHash(at), true, NOW + at)),
    )
    expect(new Set(sales.map(({ state }) => state.tx)).size).toBe(1)
    expect(await engines[1].log.readAfter(0, 9)).toHaveLength(1)
  },
)

testOnTwoEngines()(
  'if a purchase is sold and released at the same time, one of the two succeeds, and the other is rejected as stale',
  async (engines) => {
    for (let nonce = 1; nonce <= 20; nonce += 1) {
      const held = await reserveTarget(engines[0], parseBlockOrThrow('3,4'), createTestPayment(1, nonce))
      const outcomes = await Promise.all([
        catchFailure(engines[0].ledger.finalize(held, toHash(nonce), true, NOW)),
        catchFailure(engines[1].ledger.release(held, false)),
      ])
      const failures = outcomes.filter((failure) => failure !== undefined)
      expect(failures).toMatchObject([{ name: 'StaleWriteError' }])
      const now = await findStoredPurchase(engines[0], held.payment)
      expect(isSold(now)).toBe(outcomes[0] === undefined)
      expect(await engines[1].ledger.checkSpace(held.block)).toBe(isSold(now) ? 'claimed' : 'open')
      if (isSold(now)) return
    }
  },
)

testOnTwoEngines(5)(
  'if late payments settle at the same time, no two of them get the same open block, and those without a block become credits',
  async (engines) => {
    const createLatePayment = (payer: number) => ({
      payment: createTestPayment(payer, 1),
      target: 'next' as const,
      listing: SILENT,
      head: HEAD,
    })
    const owed = await Promise.all(
      runEach(12, engines, (engine, payer) => recordLatePayment(engine, createLatePayment(payer), toHash(payer))),
    )
    expect(new Set(owed.filter(isSold).map(({ block }) => block))).toEqual(new Set(CLAIM_ORDER.slice(-5)))
    expect(owed.filter(({ state }) => state.kind === 'credited')).toHaveLength(7)
  },
)

testOnTwoEngines()(
  'a reader that follows the log while two processes write it misses nothing, and sees the numbers in order',
  async (engines) => {
    const OWNERS = 8
    const owned = await Promise.all(
      runEach(OWNERS, engines, (engine, payer) => sellBlock(engine, 'next', payer, payer, SILENT)),
    )
    const seen: Change[] = []
    const followLog = async () => {
      for (;;) {
        const news = await engines[0].log.readAfter(seen.length, 50)
        for (const change of news) {
          expect(change.number).toBe(seen.length + 1)
          seen.push(change)
        }
        if (news.length === 0) return
      }
    }
    let isOver = false
    const following = (async () => {
      while (!isOver) await followLog()
      await followLog()
    })()
    const blocks: BlockIndex[] = owned.map(({ block }) => block)
    await Promise.all(
      runEach(240, engines, async (engine, at) => {
        const block = blocks[at % OWNERS] ?? owned[0]?.block
        if (block === undefined) throw new Error('nobody owns anything')
        if (at % 3 === 0) await sellBlock(engine, 'next', 100 + at, 100 + at, createTestListing())
        else if (at % 3 === 1) await engine.blocks.edit(block, createTestEdit(1000 + at, { message: `${at}` }), NOW)
        else
          await engine.agents.register(
            createWalletAddress(1 + (at % OWNERS)),
            createTestIdentity(1000 + at, { name: `${at}` }),
            NOW,
          )
      }),
    )
    isOver = true
    await following
    expect(seen).toHaveLength(OWNERS + 240)
    const seqs = seen.flatMap((change) => (change.kind === 'sale' ? [change.seq] : []))
    expect(seqs).toEqual(seqs.map((_, at) => at + 1))
    const agents = seen.flatMap((change) => (change.kind === 'sale' ? [change.agent] : []))
    expect(new Set(agents).size).toBe(Math.max(...agents))
  },
)

testOnTwoEngines()(
  'each new entry of the log notifies both processes, and a claim notifies neither',
  async (engines) => {
    const rung = [0, 0]
    const waiting = new Set<() => void>()
    const stop = engines.map(({ notifier }, at) =>
      notifier.listen(() => {
        rung[at] = (rung[at] ?? 0) + 1
        for (const look of waiting) look()
      }),
    )
    const waitForBoth = (count: number) =>
      new Promise<void>((resolve) => {
        const checkCounts = () => {
          if (rung.every((heard) => heard >= count)) resolve()
        }
        waiting.add(checkCounts)
        checkCounts()
      })
    // Each engine notifies once when it begins to listen.
    await waitForBoth(1)
    const held = await reserveTarget(engines[0], 'next', createTestPayment(1, 1))
    expect(rung).toEqual([1, 1])
    await engines[0].ledger.finalize(held, toHash(1), true, NOW)
    await waitForBoth(2)
    expect(rung).toEqual([2, 2])
    for (const each of stop) each()
  },
)

testOnTwoEngines()(
  'while one process holds the lease of a payment, another process cannot get the lease until it is released or expires',
  async ([one, other]) => {
    const key = { payer: createWalletAddress(1), nonce: toHash(1) }
    expect([await one.leases.take(key, 60_000), await other.leases.take(key, 60_000)]).toEqual(['first', false])
    expect(await one.leases.take(key, 1)).toBe('first')
    const taken = await waitFor(async () => (await other.leases.take(key, 60_000)) || undefined)
    expect(taken).toBe('again')
    await one.leases.release(key)
    expect(await one.leases.take(key, 60_000)).toBe(false)
    await other.leases.release(key)
    expect(await one.leases.take(key, 60_000)).toBe('again')
  },
)

testOnTwoEngines()(
  'a job runs in only one process at a time, and can run again after it fails',
  async ([one, other]) => {
    const tried: boolean[] = []
    const ran = await one.jobs.run('sweep', async () => {
      for (const { jobs } of [one, other]) tried.push(await jobs.run('sweep', async () => {}))
    })
    expect([ran, tried]).toEqual([true, [false, false]])
    const failing = one.jobs.run('sweep', async () => {
      throw new Error('the sweep failed')
    })
    expect(await catchFailure(failing)).toMatchObject({ message: 'the sweep failed' })
    expect(await other.jobs.run('sweep', async () => {})).toBe(true)
  },
)

test('if a process is disconnected from the database during a job, another process can run the job once the lease of that job expires', async () => {
  const url = await newWall()
  const proxy = startCutProxy(url)
  const [frozen, alive] = [connect(proxy.url, scaleLimit(200)), connect(url)]
  const [its, other] = [createPostgresJobs(frozen, scaleLimit(300)), createPostgresJobs(alive, 300)]
  const thawed = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const working = its.run('sweep', async () => {
    begun.resolve()
    await thawed.promise
  })
  await begun.promise
  // While the process works and is connected, its lease is renewed.
  const first = await readLeaseEnd(url)
  while ((await readLeaseEnd(url)) === first) await Bun.sleep(10)
  expect(await other.run('sweep', async () => {})).toBe(false)
  proxy.breakDown()
  while (!(await other.run('sweep', async () => {}))) await Bun.sleep(10)
  thawed.resolve()
  expect(await working).toBe(true)
  expect(await other.run('sweep', async () => {})).toBe(true)
  await Promise.all([frozen.close(), alive.close()])
  proxy.stop()
})

/** Returns the time when the only lease of a wall ends. */
async function readLeaseEnd(url: string): Promise<unknown> {
  const sql = new SQL(url, { max: 1 })
  const [row] = await sql.unsafe('SELECT until::text FROM leases')
  await sql.close()
  return row?.until
}
