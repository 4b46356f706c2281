import { afterEach, beforeEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import {
  waitUntilArmed,
  findFreePort,
  type WallProcess,
  type WallSettings,
} from '../../../server/local/wall-process.ts'
import { buyBlock, get, sign } from '../../support/e2e/buyer.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { alertsOf, type JournalEntry, readFeed } from '../../support/e2e/read-wall.ts'
import { QUICK_WALL, startSurroundings, type Surroundings } from '../../support/e2e/world.ts'
import { cutProxy } from '../../support/postgres/cut-proxy.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres/server.ts'
import { healthOf } from '../../support/service/client.ts'
import { waitFor, waitUntil } from '../../support/wait.ts'

// Goal: an instance that is frozen or cut off harms nobody, and a wall whose database lost sales sells nothing.
// Method: real processes on a real PostgreSQL, stopped by SIGSTOP, cut off by a proxy, or with older data restored below them.

let around: Surroundings
let server: PostgresServer
let database: string
const running: WallProcess[] = []
beforeEach(async () => {
  ;[around, server] = await Promise.all([startSurroundings({ BASE_URL: 'http://127.0.0.1' }), startPostgres()])
  database = server.url(await server.newDatabase())
}, 60_000)
afterEach(async () => {
  await Promise.all(running.splice(0).map((wall) => wall.kill()))
  await server.stop()
  await around.stop()
}, 60_000)

// The tests do not restore an older copy on a server that they did not start.
const isOurs = (Bun.env['TEST_DATABASE_URL'] ?? '') === ''

async function open(settings: WallSettings = {}): Promise<WallProcess> {
  const wall = await around.start({ DATABASE_URL: database, ...settings })
  running.push(wall)
  return wall
}

async function openArmed(settings: WallSettings = {}): Promise<WallProcess> {
  const wall = await open(settings)
  await waitUntilArmed(wall.url)
  return wall
}

const countSales = async (wall: WallProcess) => (await readFeed(wall)).length

test(
  'a frozen instance does not stop the others from selling and from finishing open purchases',
  async () => {
    const [frozen, other] = await Promise.all([openArmed(), openArmed()])
    const [first, second] = await Promise.all([around.wallet(), around.wallet()])
    const payment = await sign(frozen, first)
    const arrivals = around.facilitator.settle.count()
    around.facilitator.settle.next('hang-after')
    const cutOff = get(frozen, 'next', payment).catch(() => undefined)
    await around.facilitator.settle.arrived(arrivals + 1)
    // The frozen instance keeps the lease of this purchase, and perhaps that of the sweep.
    process.kill(frozen.pid, 'SIGSTOP')
    await buyBlock(other, second)
    await waitUntil(async () => (await countSales(other)) === 2)
    expect(await (await get(other, 'next', payment)).json()).toMatchObject({ owner: 'you' })
    expect(await around.dollarsOf(first)).toBe(1)

    // When the frozen instance continues, it finds what the others did, and sells nothing a second time.
    process.kill(frozen.pid, 'SIGCONT')
    await cutOff
    await waitUntil(async () => (await countSales(frozen)) === 2)
    expect(await (await get(frozen, 'next', payment)).json()).toMatchObject({ owner: 'you' })
    await buyBlock(frozen, await around.wallet())
    expect(await around.network.balanceOf(around.payTo)).toBe(3_000_000n)
  },
  // First the lease of the frozen instance must expire.
  { timeout: 90_000 },
)

test(
  'an instance that is cut off from the database charges nobody, does not stop the others, and resumes when it reconnects',
  async () => {
    const proxy = cutProxy(database)
    try {
      const [cut, other] = await Promise.all([openArmed({ DATABASE_URL: proxy.url }), openArmed()])
      const [first, second] = await Promise.all([around.wallet(), around.wallet()])
      const waiting = await sign(cut, second)
      const inDoubt = await sign(cut, first)
      const arrivals = around.facilitator.settle.count()
      const buying = get(cut, 'next', inDoubt)
      await around.facilitator.settle.arrived(arrivals + 1)
      proxy.breakDown()
      expect((await buying).status).toBe(503)
      const refused = await get(cut, 'next', waiting)
      expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'database_unavailable' }])
      expect(await around.dollarsOf(second)).toBe(2)
      expect((await get(cut, 'next')).status).not.toBe(200)

      await buyBlock(other, await around.wallet())
      await waitUntil(async () => (await countSales(other)) === 2)
      expect(await (await get(other, 'next', inDoubt)).json()).toMatchObject({ owner: 'you' })
      expect(await around.dollarsOf(first)).toBe(1)

      proxy.mend()
      const bought = await waitFor(async () => {
        const answer = await get(cut, 'next', waiting)
        return answer.status === 200 ? answer : undefined
      })
      expect(await bought.json()).toMatchObject({ owner: 'you' })
      expect(await around.dollarsOf(second)).toBe(1)
      await waitUntil(async () => (await countSales(cut)) === 3)
    } finally {
      await Promise.all(running.splice(0).map((wall) => wall.kill()))
      proxy.stop()
    }
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'if a database loses sales under running instances, the wall sells nothing and denies nothing until the operator accepts the database',
  async () => {
    const first = await openArmed()
    await buyBlock(first, await around.wallet())
    await first.stop()
    await server.keepCopy()
    const settings = [await choosePort(), await choosePort()]
    const walls = [await openArmed(settings[0]), await openArmed(settings[1])] as const
    const [payer, stranger] = [await around.wallet(), await around.wallet()]
    const { payment } = await buyBlock(walls[0], payer)
    for (const wall of walls) await waitUntil(async () => (await countSales(wall)) === 2)
    const offered = await sign(walls[1], stranger)
    const settles = around.facilitator.settle.count()
    await server.putCopyBack()

    for (const wall of walls) {
      await waitUntil(() => alertsOf(wall, 'older-copy').length > 0)
      // Health responds immediately, with the last known state.
      await waitUntil(async () => !(await healthOf(wall)).ok)
      expect(await healthOf(wall)).toMatchObject({ ok: false, rail: 'arming' })
      // No response claims to the payer of a lost purchase that nothing was bought, and nobody else can buy its block.
      expect((await get(wall, 'next', payment)).status).toBe(503)
      expect([502, 503]).toContain((await get(wall, 'next', offered)).status)
      expect(alertsOf(wall, 'older-copy')).toHaveLength(1)
      // Readers see the wall as it was.
      expect(await countSales(wall)).toBe(2)
      await wall.stop()
    }
    expect(around.facilitator.settle.count()).toBe(settles)
    expect(await around.dollarsOf(stranger)).toBe(2)

    const again = await open(settings[0])
    await waitUntil(() => alertsOf(again, 'orphan').length > 0)
    expect(alertsOf(again, 'older-copy')).toHaveLength(1)
    expect(await healthOf(again)).toMatchObject({ ok: true, rail: 'arming' })
    const own = { ...around.settings, DATABASE_URL: database, ...settings[0] }
    expect((await runCommand(own, around.folder, 'accept-restore', '--yes')).status).toBe(0)
    await waitUntilArmed(again.url)
    await waitUntilArmed((await open(settings[1])).url)
  },
  { timeout: 90_000 },
)

test.if(isOurs)(
  'a database server that rejects a wall at its start is reported, and so is its return, and the process can be stopped meanwhile',
  async () => {
    await setStandbys('missing')
    const [patient, other] = await Promise.all([startWaiting(), startWaiting()])
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

/** Names the standbys that must have each commit. */
async function setStandbys(names: string): Promise<void> {
  const admin = new SQL(database, { max: 1 })
  await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await admin.unsafe('SELECT pg_reload_conf()')
  await admin.close()
}

/** Starts a wall that may have to wait for its database; its journal is read line by line. */
async function startWaiting() {
  const child = Bun.spawn([...QUICK_WALL], {
    cwd: around.folder,
    env: { PATH: Bun.env['PATH'] ?? '', ...around.settings, DATABASE_URL: database, ...(await choosePort()) },
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

/** The settings that identify an instance, so that it can be restarted as the same one. */
const choosePort = async () => ({ PORT: String(await findFreePort()) })
