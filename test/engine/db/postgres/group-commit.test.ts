import { describe, expect } from 'bun:test'
import { SQL } from 'bun'
import type { Engine } from '../../../../db/engine.ts'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { StaleWriteError, StoreUnavailable } from '../../../../server/domain/failure.ts'
import { CLAIM_ORDER } from '../../../../shared/wall.ts'
import { catchFailure, reserveTarget, sellBlock, findStoredPurchase, testOver } from '../../../support/engine.ts'
import { scaleLimit } from '../../../support/machine.ts'
import { startCutProxy, type Cut, type CutProxy } from '../../../support/postgres/cut-proxy.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  HEAD,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../../support/samples.ts'
import { waitFor } from '../../../support/wait.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: writes of one process that wait at the same time share a transaction, and each write gets the same result as in
// a transaction of its own. Method: many parallel writes on one engine; the database is read through another
// connection.

const { createWall: newWall } = openPostgresWalls()

type Cast = { readonly wall: Engine; readonly proxy: CutProxy; readonly sql: SQL }

/** Runs tests with an engine behind a proxy, and with a direct connection to the database. */
const testOnWall = testOver<Cast>(
  async () => {
    const url = await newWall()
    const proxy = startCutProxy(url)
    const wall = await openPostgres(proxy.url, TERMS.network, { answerMs: scaleLimit(500) })
    return { wall, proxy, sql: new SQL(url, { max: 1 }) }
  },
  async ({ wall, proxy, sql }) => {
    proxy.endFailures()
    await Promise.all([wall.close(), sql.close()])
    proxy.stop()
  },
)

const WRITERS = 12

/** Runs the work for every number from 1 to `WRITERS`. */
const runEach = <T>(work: (at: number) => T): T[] => Array.from({ length: WRITERS }, (_, at) => work(at + 1))

/** The number of transactions that were committed. */
async function countCommits(sql: SQL): Promise<number> {
  const [row] = await sql.unsafe('SELECT count(*)::int AS count FROM commits WHERE kept = 1')
  return row.count
}

const listTakenBlocks = async (sql: SQL): Promise<number[]> => {
  const found: { i: number }[] = await sql.unsafe(`SELECT i FROM blocks WHERE state <> 'open' ORDER BY rank`)
  return found.map(({ i }) => i)
}

const reserveNext = (wall: Engine, payer: number) => reserveTarget(wall, 'next', createTestPayment(payer, payer))

testOnWall(
  'claims of the next block that wait at the same time share a commit, and each gets a block of its own',
  async ({ wall, sql }) => {
    const before = await countCommits(sql)
    const held = await Promise.all(runEach((payer) => reserveNext(wall, payer)))
    expect((await countCommits(sql)) - before).toBe(1)
    expect(new Set(held.map(({ block }) => block))).toEqual(new Set(CLAIM_ORDER.slice(0, WRITERS)))
    expect(await listTakenBlocks(sql)).toEqual(CLAIM_ORDER.slice(0, WRITERS))
  },
)

testOnWall(
  'if some writes that share a commit fail, the others succeed, and each failed write gets its own error',
  async ({ wall, sql }) => {
    const [released, sold] = [
      await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(90, 90)),
      await sellBlock(wall, '5,6', 91, 91),
    ]
    await wall.ledger.release(released, false)
    const failing = [
      () => wall.ledger.finalize(released, toHash(90), true, NOW),
      () =>
        wall.ledger.claim('next', createTestPayment(92, 92), { ...SILENT, message: 'no \0 is text' }, HEAD, NOW, []),
    ]
    const outcomes = await Promise.all([
      ...runEach((payer) => reserveNext(wall, payer)),
      ...failing.map((fails) => catchFailure(fails())),
      wall.blocks.edit(sold.block, createTestEdit(1, { message: 'kept' }), NOW),
    ])
    const [stale, rejected, painted] = outcomes.slice(-3)
    expect(stale).toBeInstanceOf(StaleWriteError)
    expect(String(rejected)).toContain('the database rejected a statement')
    expect(painted).toBe('applied')
    expect(await listTakenBlocks(sql)).toHaveLength(WRITERS + 1)
    expect(await wall.blocks.findOwned(sold.block)).toMatchObject({ content: { message: 'kept' } })
  },
)

testOnWall(
  'entries of one commit are numbered without gaps, and so are the sales among them',
  async ({ wall, sql }) => {
    const owned = await Promise.all(runEach((payer) => sellBlock(wall, 'next', payer, payer)))
    const held = await Promise.all(
      runEach((payer) => reserveTarget(wall, 'next', createTestPayment(50 + payer, 50 + payer))),
    )
    const before = await countCommits(sql)
    await Promise.all([
      ...held.map((purchase, at) => wall.ledger.finalize(purchase, toHash(500 + at), true, NOW)),
      ...owned.map(({ block }, at) => wall.blocks.edit(block, createTestEdit(at, { message: `${at}` }), NOW)),
    ])
    expect((await countCommits(sql)) - before).toBe(1)
    const log = await wall.log.readAfter(0, 100)
    expect(log.map(({ number }) => number)).toEqual(Array.from({ length: 3 * WRITERS }, (_, at) => at + 1))
    const seqs = log.flatMap((change) => (change.kind === 'sale' ? [change.seq] : []))
    expect(seqs).toEqual(Array.from({ length: 2 * WRITERS }, (_, at) => at + 1))
    expect(log.filter(({ kind }) => kind === 'repaint')).toHaveLength(WRITERS)
  },
)

testOnWall(
  'a payer cannot exceed the limit of 16 held purchases with many parallel claims in one process',
  async ({ wall }) => {
    const nonces = Array.from({ length: 40 }, (_, at) => toHash(at + 1))
    const claimings = await Promise.all(
      nonces.map((_, at) => wall.ledger.claim('next', createTestPayment(1, at + 1), SILENT, HEAD, NOW, nonces)),
    )
    expect(claimings.filter(({ kind }) => kind === 'claimed')).toHaveLength(16)
  },
)

testOnWall('parallel repaints of one block each keep the changes of the others', async ({ wall }) => {
  const { block } = await sellBlock(wall, '3,4', 1, 1)
  const edits = [createTestEdit(1, { message: 'kept' }), createTestEdit(2, { link: 'https://kept.example' })]
  const painted = edits.map((edit) => wall.blocks.edit(block, edit, NOW))
  expect(await Promise.all(painted)).toEqual(['applied', 'applied'])
  expect(await wall.blocks.findOwned(block)).toMatchObject({
    content: { message: 'kept', link: 'https://kept.example' },
  })
})

testOnWall('a block that another process has locked delays only the writers of that block', async ({ wall, sql }) => {
  const sold = await sellBlock(wall, '3,4', 1, 1)
  const painting = await sql.begin(async (transaction) => {
    await transaction.unsafe(`SELECT 1 FROM blocks WHERE i = ${sold.block} FOR UPDATE`)
    const repaint = wall.blocks.edit(sold.block, createTestEdit(1, { message: 'later' }), NOW)
    const held = await Promise.all(runEach((payer) => reserveNext(wall, 100 + payer)))
    expect(held).toHaveLength(WRITERS)
    expect(await wall.blocks.findOwned(sold.block)).not.toMatchObject({ content: { message: 'later' } })
    return { repaint }
  })
  expect(await painting.repaint).toBe('applied')
})

testOnWall(
  'if another process has locked the block of a late payment, the claims in the same group are committed without waiting for the lock',
  async ({ wall, sql }) => {
    const late = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(50, 50))
    await wall.ledger.release(late, false)
    const before = await countCommits(sql)
    const fulfilling = await sql.begin(async (transaction) => {
      await transaction.unsafe(`SELECT 1 FROM blocks WHERE i = ${late.block} FOR UPDATE`)
      const first = runEach((payer) => reserveNext(wall, 100 + payer))
      const purchase = wall.ledger.fulfilLatePayment(late, toHash(50), NOW)
      const last = runEach((payer) => reserveNext(wall, 200 + payer))
      await Promise.all([...first, ...last])
      return { purchase }
    })
    expect((await fulfilling.purchase).state.kind).toBe('sold')
    expect((await countCommits(sql)) - before).toBeLessThan(WRITERS)
  },
)

// The claim of the last payer is sent with the group, so the payer's address identifies the connection of the group.
const LAST = createWalletAddress(WRITERS)

describe.each<Cut>(['before', 'after', 'silence'])('a connection cut (%s) at the COMMIT of a group', (cut) => {
  testOnWall(
    'if a connection is cut at the COMMIT of a group of writes, every write is made once and returns what is stored',
    async ({ wall, proxy, sql }) => {
      const sprung = proxy.cutAt('COMMIT', cut, LAST)
      const held = await Promise.all(runEach((payer) => reserveNext(wall, payer)))
      await sprung
      for (const purchase of held) expect(await findStoredPurchase(wall, purchase.payment)).toEqual(purchase)
      expect(await listTakenBlocks(sql)).toEqual(CLAIM_ORDER.slice(0, WRITERS))
    },
  )
})

describe.each(['INSERT INTO payments', 'UPDATE blocks'])('a connection cut at %s in a group', (words) => {
  testOnWall(
    'if a connection is cut in the middle of a group of writes, every write is retried, and takes effect once',
    async ({ wall, proxy, sql }) => {
      const sprung = proxy.cutAt(words, 'after', LAST)
      await Promise.all(runEach((payer) => reserveNext(wall, payer)))
      await sprung
      expect(await listTakenBlocks(sql)).toEqual(CLAIM_ORDER.slice(0, WRITERS))
    },
  )
})

testOnWall(
  'if the outcome of a group of writes is unknown, these writes fail as unavailable, and their results are found when the database is back',
  async ({ wall, proxy, sql }) => {
    const sprung = proxy.cutAt('COMMIT', 'after', LAST).then(() => proxy.breakDown())
    const failures = await Promise.all(runEach((payer) => catchFailure(reserveNext(wall, payer))))
    await sprung
    expect(failures.slice(2).every((failure) => failure instanceof StoreUnavailable)).toBe(true)
    proxy.endFailures()
    const findAllPurchases = () => Promise.all(runEach((payer) => wall.ledger.find(createTestPayment(payer, payer))))
    // New connections take a moment.
    const found = await waitFor(() => findAllPurchases().catch(() => undefined))
    expect(found.slice(2)).not.toContain(undefined)
    expect(await listTakenBlocks(sql)).toHaveLength(found.filter((purchase) => purchase !== undefined).length)
  },
)
