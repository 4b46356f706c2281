import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLocalNetwork, type LocalNetwork } from '../../server/local/network.ts'
import { armed, freePort, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { newWallet, type Wallet } from '../../server/local/wallets.ts'
import type { Receipt } from '../../shared/contract/block.ts'
import { startPostgres } from '../db/postgres/server.ts'
import { healthOf } from '../http/client.ts'
import { runCommand } from '../operate/command.ts'
import { eventually, signDemand } from './world.ts'

// Goal: a backup can be taken at any time and put back, and what was sold in between is not silently sold again.
// Method: the operator's own commands, run as written, on a wall that sells on a real chain. Backing up is about the file
// of SQLite: PostgreSQL has its own tools, in whose place a test copies the database within the server.

let network: LocalNetwork
let folder: string
let settings: Record<string, string>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pixel-wall-restore-'))
  network = await startLocalNetwork()
  const port = String(await freePort())
  settings = {
    BASE_URL: `http://127.0.0.1:${port}`,
    PORT: port,
    PAY_TO: newWallet().address,
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

/** Runs one of the operator's commands with the wall's settings; what it said and how it ended. */
async function operate(command: string, ...args: readonly string[]): Promise<{ said: string; status: number }> {
  return await operateOn(settings, command, ...args)
}

/** The same, with other settings. */
async function operateOn(wall: Readonly<Record<string, string>>, command: string, ...args: readonly string[]) {
  const { out, err, status } = await runCommand(wall, folder, command, ...args)
  return { said: out + err, status }
}

const ask = ({ url }: WallProcess, payment?: string) =>
  fetch(`${url}/blocks/next`, { headers: payment === undefined ? {} : { 'payment-signature': payment } })

const signed = async (wall: WallProcess, wallet: Wallet) =>
  signDemand((await ask(wall)).headers.get('payment-required') ?? '', wallet)

/** Sells a block; gives the signed payment and the block. */
async function sell(wall: WallProcess): Promise<{ payment: string; block: string }> {
  const payment = await signed(wall, await network.wallet(1))
  const answer = await ask(wall, payment)
  expect(answer.status).toBe(200)
  return { payment, block: ((await answer.json()) as Receipt).block }
}

const railOf = async (wall: WallProcess) => (await healthOf(wall)).rail

const orphansIn = (wall: WallProcess) =>
  wall.journal().flatMap((line) => {
    const entry = JSON.parse(line) as { event: string; tx: string }
    return entry.event === 'orphan' ? [entry.tx] : []
  })

test(
  'an older copy that is put back is noticed, sells nothing new, and is the wall once the operator says so',
  async () => {
    const path = settings['DATABASE_PATH'] ?? ''
    const backup = join(folder, 'backup.sqlite')
    let wall = await startWall(settings)
    await armed(wall.url)
    const before = [await sell(wall), await sell(wall)]
    const [meanwhile, made] = await Promise.all([sell(wall), operate('backup', backup)])
    expect(made).toMatchObject({ status: 0 })
    expect((await operate('backup', backup)).said).toContain('never replaces')
    const lost = [await sell(wall), await sell(wall), await sell(wall)]
    expect((await operate('accept-restore', '--yes')).said).toContain('another process')
    await wall.stop()

    await cp(backup, path)
    wall = await startWall(settings)
    const orphans = await eventually(async () => (orphansIn(wall).length >= lost.length ? orphansIn(wall) : undefined))
    // The sale that was under way may be on either side of the copy.
    expect(orphans.length - lost.length).toBeWithin(0, 2)
    expect(await railOf(wall)).toBe('arming')
    for (const { payment, block } of before)
      expect(await (await ask(wall, payment)).json()).toMatchObject({ block, owner: 'you' })
    const stranger = await signed(wall, await network.wallet(1))
    expect((await ask(wall, stranger)).status).toBe(502)
    await wall.stop()

    const silent = { ...settings, RPC_URL: 'http://127.0.0.1:1' }
    expect(await operateOn(silent, 'accept-restore')).toEqual({
      said: 'the chain does not answer; nothing was changed\n',
      status: 2,
    })
    const listed = await operate('accept-restore')
    expect(listed.status).toBe(1)
    for (const tx of orphans) expect(listed.said).toContain(tx)
    expect(await operate('accept-restore', '--yes')).toMatchObject({ status: 0 })

    wall = await startWall(settings)
    await armed(wall.url)
    expect(orphansIn(wall)).toEqual([])
    expect((await ask(wall, stranger)).status).toBe(200)
    await wall.stop()
    wall = await startWall(settings)
    await armed(wall.url)
    expect((await ask(wall, meanwhile.payment)).status).not.toBe(500)
    await wall.stop()
  },
  { timeout: 30_000 },
)

test('money that came without buying anything is no reason to stop selling', async () => {
  const wall = await startWall(settings)
  await armed(wall.url)
  await wall.stop()
  await network.fund(settings['PAY_TO'] as `0x${string}`, 1)
  const again = await startWall(settings)
  await armed(again.url)
  await again.stop()
})

test(
  'an older copy of a shared database is noticed by every instance, and accepted while they run',
  async () => {
    const server = await startPostgres()
    const on = async (database: string) => {
      const { DATABASE_PATH: _, ...rest } = settings
      const PORT = String(await freePort())
      return { ...rest, PAY_TO: payTo, PORT, DATABASE_URL: server.url(database) }
    }
    const payTo = newWallet().address
    const original = await server.newDatabase()
    let wall = await startWall(await on(original), { folder })
    await armed(wall.url)
    const before = await sell(wall)
    await wall.stop()
    const copy = await server.newDatabase(original)
    wall = await startWall(await on(original), { folder })
    await armed(wall.url)
    const lost = [await sell(wall), await sell(wall)]
    await wall.stop()

    const restored = await on(copy)
    const walls = [await startWall(restored, { folder }), await startWall(await on(copy), { folder })]
    for (const instance of walls) {
      await eventually(async () => (orphansIn(instance).length === lost.length ? true : undefined))
      expect(await railOf(instance)).toBe('arming')
      expect(await (await ask(instance, before.payment)).json()).toMatchObject({ block: before.block, owner: 'you' })
    }
    expect((await operateOn(restored, 'accept-restore')).status).toBe(1)
    expect(await operateOn(restored, 'accept-restore', '--yes')).toMatchObject({ status: 0 })
    for (const instance of walls) {
      await armed(instance.url)
      await sell(instance)
      await instance.stop()
    }
    await server.stop()
  },
  { timeout: 60_000 },
)
