import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SQL } from 'bun'
import { openWitness } from '../../../server/adapters/witness-file.ts'
import {
  waitUntilArmed,
  findFreePort,
  type WallProcess,
  type WallSettings,
} from '../../../server/local/wall-process.ts'
import { buyBlock, fetchBlock, signBlockPayment } from '../../support/e2e/buyer.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { findAlerts, type JournalEntry, readFeed } from '../../support/e2e/read-wall.ts'
import { QUICK_WALL, startSurroundings, type Surroundings } from '../../support/e2e/world.ts'
import { startCutProxy } from '../../support/postgres/cut-proxy.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { fetchHealth } from '../../support/service/client.ts'
import { waitFor, waitUntil } from '../../support/wait.ts'

// Goal: an instance that is frozen or cut off harms nobody, and a wall whose database lost sales sells nothing. Method:
// real processes on a real PostgreSQL, stopped by SIGSTOP, cut off by a proxy, or running while older data is restored.

let around: Surroundings
let server: PostgresServer
let database: string
const running: WallProcess[] = []
beforeEach(async () => {
  ;[around, server] = await Promise.all([startSurroundings({ BASE_URL: 'http://127.0.0.1' }), startPostgres()])
  database = server.getUrl(await server.createDatabase())
}, 60_000)
afterEach(async () => {
  await Promise.all(running.splice(0).map((wall) => wall.kill()))
  await server.stop()
  await around.stop()
}, 60_000)

// The tests do not restore an older copy on a server that they did not start.
const isOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

async function startInstance(settings: WallSettings = {}): Promise<WallProcess> {
  const wall = await around.start({ DATABASE_URL: database, ...settings })
  running.push(wall)
  return wall
}

async function startArmedInstance(settings: WallSettings = {}): Promise<WallProcess> {
  const wall = await startInstance(settings)
  await waitUntilArmed(wall.url)
  return wall
}

const countSales = async (wall: WallProcess) => (await readFeed(wall)).length

test(
  'while one instance is frozen, the others continue to sell and finish its open purchases',
  async () => {
    const [frozen, other] = await Promise.all([startArmedInstance(), startArmedInstance()])
    const [first, second] = await Promise.all([around.createFundedWallet(), around.createFundedWallet()])
    const payment = await signBlockPayment(frozen, first)
    const arrivals = around.facilitator.settle.countCalls()
    around.facilitator.settle.queueFaults('hang-after')
    const cutOff = fetchBlock(frozen, 'next', payment).catch(() => undefined)
    await around.facilitator.settle.waitForCall(arrivals + 1)
    // The frozen instance keeps the lease of this purchase, and perhaps the lease of the sweep.
    process.kill(frozen.pid, 'SIGSTOP')
    await buyBlock(other, second)
    await waitUntil(async () => (await countSales(other)) === 2)
    expect(await (await fetchBlock(other, 'next', payment)).json()).toMatchObject({ owner: 'you' })
    expect(await around.readBalance(first)).toBe(1)

    // When the frozen instance continues, it finds what the other instance did, and sells nothing a second time.
    process.kill(frozen.pid, 'SIGCONT')
    await cutOff
    await waitUntil(async () => (await countSales(frozen)) === 2)
    expect(await (await fetchBlock(frozen, 'next', payment)).json()).toMatchObject({ owner: 'you' })
    await buyBlock(frozen, await around.createFundedWallet())
    expect(await around.network.readBalance(around.payTo)).toBe(3_000_000n)
  },
  // First the lease of the frozen instance must expire.
  { timeout: 90_000 },
)

test(
  'an instance that is cut off from the database accepts no new payment while the others continue to sell, and resumes when it reconnects',
  async () => {
    const proxy = startCutProxy(database)
    try {
      const [cut, other] = await Promise.all([startArmedInstance({ DATABASE_URL: proxy.url }), startArmedInstance()])
      const [first, second] = await Promise.all([around.createFundedWallet(), around.createFundedWallet()])
      const waiting = await signBlockPayment(cut, second)
      const inDoubt = await signBlockPayment(cut, first)
      const arrivals = around.facilitator.settle.countCalls()
      const buying = fetchBlock(cut, 'next', inDoubt)
      await around.facilitator.settle.waitForCall(arrivals + 1)
      proxy.breakDown()
      expect((await buying).status).toBe(503)
      const refused = await fetchBlock(cut, 'next', waiting)
      expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'database_unavailable' }])
      expect(await around.readBalance(second)).toBe(2)
      expect((await fetchBlock(cut, 'next')).status).not.toBe(200)

      await buyBlock(other, await around.createFundedWallet())
      await waitUntil(async () => (await countSales(other)) === 2)
      expect(await (await fetchBlock(other, 'next', inDoubt)).json()).toMatchObject({ owner: 'you' })
      expect(await around.readBalance(first)).toBe(1)

      proxy.endFailures()
      const bought = await sendUntilSold(cut, waiting)
      expect(await bought.json()).toMatchObject({ owner: 'you' })
      expect(await around.readBalance(second)).toBe(1)
      await waitUntil(async () => (await countSales(cut)) === 3)
    } finally {
      await Promise.all(running.splice(0).map((wall) => wall.kill()))
      proxy.stop()
    }
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'if a database loses a sale while instances run, the wall sells nothing and does not report the lost purchase as failed',
  async () => {
    const [wall, other] = await Promise.all([startArmedInstance(), startArmedInstance()])
    const payment = await sellBeforeAndAfterCopy(wall)
    for (const each of [wall, other]) await waitUntil(async () => (await countSales(each)) === 2)
    const stranger = await around.createFundedWallet()
    const offered = await signBlockPayment(other, stranger)
    const settles = around.facilitator.settle.countCalls()
    await server.restoreCopy()

    for (const each of [wall, other]) {
      await waitUntil(() => findAlerts(each, 'older-copy').length > 0)
      // Health responds immediately, with the last known state.
      await waitUntil(async () => !(await fetchHealth(each)).ok)
      expect(await fetchHealth(each)).toMatchObject({ ok: false, rail: 'arming' })
      // No response to the payer of a lost purchase claims that nothing was bought, and no other payer can buy the
      // block.
      expect((await fetchBlock(each, 'next', payment)).status).toBe(503)
      expect([502, 503]).toContain((await fetchBlock(each, 'next', offered)).status)
      expect(findAlerts(each, 'older-copy')).toHaveLength(1)
      // Readers still see the sale that the database lost.
      expect(await countSales(each)).toBe(2)
      await each.stop()
    }
    expect(around.facilitator.settle.countCalls()).toBe(settles)
    expect(await around.readBalance(stranger)).toBe(2)
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'after a database lost a sale, a restarted wall reports its payment and sells nothing until the operator accepts the database',
  async () => {
    const settings = await createInstanceSettings()
    await loseSaleSeenBy(settings)
    const again = await startInstance(settings)
    await waitUntil(() => findAlerts(again, 'orphan').length > 0)
    expect(findAlerts(again, 'older-copy')).toHaveLength(1)
    expect(await fetchHealth(again)).toMatchObject({ ok: true, rail: 'arming' })
    await acceptDatabase(settings)
    await waitUntilArmed(again.url)
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'after the operator accepted a database that lost a sale, an instance on another machine that had seen the sale accepts payments again',
  async () => {
    const settings = await createInstanceSettings()
    await loseSaleSeenBy(settings)
    await acceptDatabase(await createInstanceSettings())
    await startArmedInstance(settings)
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'a wall that starts while its database accepts no writes reports the outage and its end, and can be stopped during the outage',
  async () => {
    await setStandbys('missing')
    const [patient, other] = await Promise.all([startWaitingWall(), startWaitingWall()])
    try {
      for (const { line } of [patient, other]) expect(await line()).toMatchObject({ level: 'alert', event: 'outage' })
      other.child.kill('SIGTERM')
      expect(await other.child.exited).toBe(0)
      await setStandbys('')
      expect(await patient.line()).toMatchObject({ level: 'note', event: 'outage-over', dependency: 'store-write' })
      patient.child.kill('SIGTERM')
      expect(await patient.child.exited).toBe(0)
    } finally {
      for (const { child } of [patient, other]) child.kill('SIGKILL')
      await setStandbys('')
    }
  },
)

/** Sets the names of the standbys that must confirm each commit. */
async function setStandbys(names: string): Promise<void> {
  const admin = new SQL(database, { max: 1 })
  await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await admin.unsafe('SELECT pg_reload_conf()')
  await admin.close()
}

/** Starts a wall that may have to wait for its database; `line` resolves with the next line of the wall's journal. */
async function startWaitingWall() {
  const child = Bun.spawn([...QUICK_WALL], {
    cwd: around.folder,
    env: {
      PATH: Bun.env['PATH'] ?? '',
      ...around.settings,
      DATABASE_URL: database,
      ...(await createInstanceSettings()),
    },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const words = child.stderr.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  const waitForLine = async (): Promise<JournalEntry> => {
    while (!rest.includes('\n')) rest += (await words.read()).value ?? '{}\n'
    const end = rest.indexOf('\n')
    const first = JSON.parse(rest.slice(0, end)) as JournalEntry
    rest = rest.slice(end + 1)
    return first
  }
  return { child, line: waitForLine }
}

/** Sells a block, saves a copy of the database, and sells another block; returns the payment that the copy lacks. */
async function sellBeforeAndAfterCopy(wall: WallProcess): Promise<string> {
  await buyBlock(wall, await around.createFundedWallet())
  const payment = await signBlockPayment(wall, await around.createFundedWallet())
  await server.saveCopy()
  await sendUntilSold(wall, payment)
  return payment
}

/** Starts an instance, restores a copy that lacks a sale which its witness has recorded, and stops the instance. */
async function loseSaleSeenBy(settings: InstanceSettings): Promise<void> {
  const wall = await startArmedInstance(settings)
  await sellBeforeAndAfterCopy(wall)
  // The witness records a commit a moment after it was made.
  const witness = openWitness(settings.WITNESS_PATH)
  await waitUntil(async () => (await witness.read())?.payment === 2)
  await server.restoreCopy()
  await waitUntil(() => findAlerts(wall, 'older-copy').length > 0)
  await wall.stop()
}

/** Accepts the database as the operator does on the machine of an instance. */
async function acceptDatabase(settings: InstanceSettings): Promise<void> {
  const own = { ...around.settings, DATABASE_URL: database, ...settings }
  expect((await runCommand(own, around.folder, 'accept-restore', '--yes')).status).toBe(0)
}

/** Resends a signed request until the wall, which may be without its database, accepts the payment. */
const sendUntilSold = (wall: WallProcess, payment: string) =>
  waitFor(async () => {
    const answer = await fetchBlock(wall, 'next', payment)
    return answer.status === 200 ? answer : undefined
  })

type InstanceSettings = Readonly<{ PORT: string; WITNESS_PATH: string }>

/** The settings that identify an instance, so that it can be restarted as the same one and its witness can be read. */
async function createInstanceSettings(): Promise<InstanceSettings> {
  const port = await findFreePort()
  return { PORT: String(port), WITNESS_PATH: join(around.folder, `${port}.witness`) }
}
