import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalNetwork, type LocalNetwork } from '../../server/local/network.ts'
import { armed, freePort, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { newWallet } from '../../server/local/wallets.ts'
import { eventually, signDemand } from './world.ts'

// Goal: what was acknowledged is on the disk, and a disk that fails is nobody's loss. Method: the real process with a
// limit on how long its files may grow, which fails a commit in the middle of a sale. It is about SQLite alone: what a
// PostgreSQL server does on a disk that fails is not ours.

let network: LocalNetwork
let folder: string
let settings: Record<string, string>
const payTo = newWallet().address
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pixel-wall-disk-'))
  network = await startLocalNetwork()
  const port = String(await freePort())
  settings = {
    BASE_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    PAY_TO: payTo,
    FACILITATOR_URL: network.facilitatorUrl,
    RPC_URL: network.rpcUrl,
    DATABASE_PATH: join(folder, 'wall.sqlite'),
    RECONCILE_INTERVAL_MS: '100',
  }
})
afterAll(async () => {
  await network.stop()
  await rm(folder, { recursive: true, force: true })
})

const ask = ({ url }: WallProcess, payment?: string) =>
  fetch(`${url}/blocks/next`, { headers: payment === undefined ? {} : { 'payment-signature': payment } })

const signed = async (wall: WallProcess) =>
  signDemand((await ask(wall)).headers.get('payment-required') ?? '', await network.wallet(1))

// In blocks of 512 bytes: long enough for the tables, and for a few sales in the write-ahead log.
const SHORT_FILES = `trap '' XFSZ; ulimit -f 1000`

test(
  'a disk that fails at commit ends the process; the restart has every sale that was acknowledged, and ends the others',
  async () => {
    const whole = await startWall(settings)
    await armed(whole.url)
    await whole.stop()
    const failing = await startWall(settings, { limits: SHORT_FILES })
    await armed(failing.url)
    const receipts = new Map<string, string>()
    const inDoubt: string[] = []
    while (inDoubt.length === 0) {
      const payment = await signed(failing).catch(() => undefined)
      if (payment === undefined) break
      const answer = await ask(failing, payment).catch(() => undefined)
      if (answer?.status === 200) receipts.set(payment, await answer.text())
      else inDoubt.push(payment)
    }
    expect(await failing.exited).toBe(70)
    expect(failing.journal().join('\n')).toContain('disk-failed')
    expect(receipts.size).toBeGreaterThan(2)

    const restarted = await startWall(settings)
    await armed(restarted.url)
    for (const [payment, receipt] of receipts) expect(await (await ask(restarted, payment)).text()).toBe(receipt)
    for (const payment of inDoubt)
      await eventually(async () => ((await ask(restarted, payment)).status === 200 ? true : undefined))
    expect(await network.balanceOf(payTo)).toBe(BigInt(receipts.size + inDoubt.length) * 1_000_000n)
    await restarted.stop()
  },
  { timeout: 30_000 },
)

test('a wall that was asked to end leaves one file that holds everything', async () => {
  const path = settings['DATABASE_PATH'] ?? ''
  const wall = await startWall(settings)
  await armed(wall.url)
  const payment = await signed(wall)
  const receipt = await (await ask(wall, payment)).text()
  expect(existsSync(`${path}-wal`)).toBe(true)
  expect(await wall.stop()).toBe(0)
  expect(existsSync(`${path}-wal`)).toBe(false)
  // Asked as soon as it listens, too.
  for (let times = 0; times < 3; times++) expect(await (await startWall(settings)).stop()).toBe(0)
  expect(existsSync(`${path}-wal`)).toBe(false)
  const moved = join(folder, 'moved.sqlite')
  await cp(path, moved)
  const elsewhere = await startWall({ ...settings, DATABASE_PATH: moved })
  await armed(elsewhere.url)
  expect(await (await ask(elsewhere, payment)).text()).toBe(receipt)
  await elsewhere.stop()
})
