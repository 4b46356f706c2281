import { describe, expect } from 'bun:test'
import { SQL } from 'bun'
import type { Engine } from '../../../../db/engine.ts'
import { openPostgres } from '../../../../db/postgres/open.ts'
import { StoreUnavailable } from '../../../../server/domain/failure.ts'
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
} from '../../../support/samples.ts'
import { openPostgresWalls } from './walls.ts'

// Goal: whatever happens to a connection, the result of a step matches the database, and no step is done twice or in
// part. Method: a proxy cuts connections at chosen words, above all at COMMIT; the database is read without the proxy.

const { createWall: newWall } = openPostgresWalls()

type Cast = { readonly wall: Engine; readonly proxy: CutProxy; readonly url: string }

/** Runs tests with an engine behind a proxy. */
const testBehindProxy = testOver<Cast>(
  async () => {
    const url = await newWall()
    const proxy = startCutProxy(url)
    return { url, proxy, wall: await openPostgres(proxy.url, TERMS.network, { answerMs: scaleLimit(500) }) }
  },
  async ({ proxy, wall }) => {
    proxy.endFailures()
    await wall.close()
    proxy.stop()
  },
)

const readCounts = async (url: string) => {
  const sql = new SQL(url, { max: 1 })
  const [row] = await sql.unsafe(`
    SELECT (SELECT count(*)::int FROM payments) AS payments, (SELECT count(*)::int FROM changes) AS changes,
      (SELECT count(*)::int FROM blocks WHERE state <> 'open') AS taken`)
  await sql.close()
  return row
}

describe.each<Cut>(['before', 'after'])('a connection cut %s COMMIT reaches the server', (cut) => {
  testBehindProxy(
    'if the connection is cut at the commit of a claim, the block is held once, and the claim returns the stored purchase',
    async ({ wall, proxy, url }) => {
      const sprung = proxy.cutAt('COMMIT', cut)
      const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
      await sprung
      expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(held)
      expect(await readCounts(url)).toEqual({ payments: 1, changes: 0, taken: 1 })
      expect((await reserveTarget(wall, 'next', createTestPayment(2, 2))).block).toBe(CLAIM_ORDER[1] ?? held.block)
    },
  )

  testBehindProxy(
    'if the connection is cut at the commit of a sale, the sale is made once, and the log has no gap',
    async ({ wall, proxy, url }) => {
      const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
      const sprung = proxy.cutAt('COMMIT', cut)
      const sold = await wall.ledger.finalize(held, toHash(1), true, NOW)
      await sprung
      expect(await findStoredPurchase(wall, held.payment)).toEqual(sold)
      await sellBlock(wall, 'next', 2, 2)
      expect((await wall.log.readAfter(0, 9)).map(({ number }) => number)).toEqual([1, 2])
      expect(await readCounts(url)).toEqual({ payments: 2, changes: 2, taken: 2 })
    },
  )

  testBehindProxy(
    'if the connection is cut at the commit of a receipt, an edit or a release, the result is the same as without the cut',
    async ({ wall, proxy }) => {
      const doubted = await wall.ledger.markUncertain(
        await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1)),
      )
      const sold = await wall.ledger.finalize(doubted, toHash(1), true, NOW)
      await runThroughProxy(proxy, cut, async () => await wall.ledger.markAnswered(sold.payment))
      expect(await findStoredPurchase(wall, sold.payment)).toMatchObject({ state: { unanswered: false } })
      const edit = createTestEdit(1, { message: 'x' })
      await runThroughProxy(proxy, cut, async () =>
        expect(await wall.blocks.edit(sold.block, edit, NOW)).toBe('applied'),
      )
      expect(await wall.blocks.edit(sold.block, edit, NOW)).toBe('repeated')
      const held = await reserveTarget(wall, parseBlockOrThrow('5,6'), createTestPayment(2, 2))
      await runThroughProxy(proxy, cut, async () => await wall.ledger.release(held, false))
      expect(await wall.ledger.checkSpace(held.block)).toBe('open')
    },
  )
})

async function runThroughProxy(proxy: CutProxy, cut: Cut, work: () => Promise<unknown>): Promise<void> {
  const sprung = proxy.cutAt('COMMIT', cut)
  await Promise.all([sprung, work()])
}

testBehindProxy(
  'if a connection goes silent at COMMIT, it is abandoned, and the outcome is read over another connection',
  async ({ wall, proxy, url }) => {
    const sprung = proxy.cutAt('COMMIT', 'silence')
    const held = await reserveTarget(wall, 'next', createTestPayment(1, 1))
    await sprung
    expect(await findStoredPurchase(wall, createTestPayment(1, 1))).toEqual(held)
    expect(await readCounts(url)).toEqual({ payments: 1, changes: 0, taken: 1 })
  },
)

testBehindProxy(
  'if a connection is cut in the middle of a transaction, the transaction is retried',
  async ({ wall, proxy, url }) => {
    for (const words of ['BEGIN', 'FOR UPDATE', 'INSERT INTO payments', 'UPDATE blocks']) {
      const sprung = proxy.cutAt(words, 'after')
      await reserveTarget(wall, 'next', createTestPayment(1, words.length))
      await sprung
    }
    expect(await readCounts(url)).toEqual({ payments: 4, changes: 0, taken: 4 })
  },
)

testBehindProxy(
  'if the database goes down at the commit of a step, the step fails as unavailable, and its result is found once the database is back',
  async ({ wall, proxy, url }) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    const sprung = proxy.cutAt('COMMIT', 'after').then(() => proxy.breakDown())
    const failure = await catchFailure(wall.ledger.finalize(held, toHash(1), true, NOW))
    await sprung
    expect(failure).toBeInstanceOf(StoreUnavailable)
    proxy.endFailures()
    const { state } = await findStoredPurchase(wall, held.payment)
    expect(state).toMatchObject({ kind: 'sold', tx: toHash(1) })
    expect(await wall.ledger.finalize(held, toHash(1), true, NOW)).toMatchObject({ state })
    expect(await readCounts(url)).toEqual({ payments: 1, changes: 1, taken: 1 })
  },
)

testBehindProxy(
  'while the database is unavailable, every step fails and stores nothing; when it is back, steps succeed again',
  async ({ wall, proxy, url }) => {
    const held = await reserveTarget(wall, parseBlockOrThrow('3,4'), createTestPayment(1, 1))
    proxy.breakDown()
    const steps = [
      wall.ledger.claim('next', createTestPayment(2, 2), SILENT, HEAD, NOW, []),
      wall.ledger.finalize(held, toHash(1), true, NOW),
      wall.ledger.find(held.payment),
      wall.ledger.checkSpace('next'),
      wall.log.readAfter(0, 9),
      wall.blocks.edit(held.block, createTestEdit(1), NOW),
      wall.leases.take(held.payment, 1000),
      wall.jobs.run('sweep', async () => {}),
    ]
    for (const step of await Promise.all(steps.map(catchFailure))) {
      expect(step).toBeInstanceOf(StoreUnavailable)
      expect(String(step)).toMatch(/the database failed: (?:.* \()?[A-Z0-9_]+\)?$|no database connection is available$/)
    }
    expect(await wall.store.isReadable()).toBe(false)
    proxy.endFailures()
    expect(await wall.store.isReadable()).toBe(true)
    expect(await readCounts(url)).toEqual({ payments: 1, changes: 0, taken: 1 })
    expect((await wall.ledger.finalize(held, toHash(1), true, NOW)).state.kind).toBe('sold')
  },
)
