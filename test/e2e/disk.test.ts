import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { WallSettings } from '../../server/local/wall-process.ts'
import { fetchBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { waitUntil } from '../support/wait.ts'

// Goal: everything acknowledged is on the disk, and a failing disk costs nobody anything. Method: the real process with
// a file size limit that makes a commit fail in the middle of a sale. Only SQLite is tested, because a PostgreSQL
// server handles its failing disk itself.

let around: Surroundings
let settings: WallSettings
beforeAll(async () => {
  around = await startSurroundings({ SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })
  settings = await around.createFileSettings()
})
afterAll(() => around.stop())

// The limit, in blocks of 512 bytes, is enough for the tables and a few sales in the write-ahead log.
const SHORT_FILES = `trap '' XFSZ; ulimit -f 1000`

test('if the disk fails at a commit, the process exits, and after a restart every acknowledged sale is stored and each sale in doubt is finished', async () => {
  const whole = await around.startArmedWall(settings)
  await whole.stop()
  const failing = await around.startArmedWall(settings, SHORT_FILES)
  const receipts = new Map<string, string>()
  const inDoubt: string[] = []
  while (inDoubt.length === 0) {
    const payment = await signBlockPayment(failing, await around.createFundedWallet()).catch(() => undefined)
    if (payment === undefined) break
    const answer = await fetchBlock(failing, 'next', payment).catch(() => undefined)
    if (answer?.status === 200) receipts.set(payment, await answer.text())
    else inDoubt.push(payment)
  }
  expect(await failing.exited).toBe(70)
  expect(failing.readJournal().join('\n')).toContain('disk-failed')
  expect(receipts.size).toBeGreaterThan(2)

  const restarted = await around.startArmedWall(settings)
  for (const [payment, receipt] of receipts)
    expect(await (await fetchBlock(restarted, 'next', payment)).text()).toBe(receipt)
  for (const payment of inDoubt)
    await waitUntil(async () => (await fetchBlock(restarted, 'next', payment)).status === 200)
  expect(await around.network.readBalance(around.payTo)).toBe(BigInt(receipts.size + inDoubt.length) * 1_000_000n)
  await restarted.stop()
})
