import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type WallProcess, type WallSettings } from '../../server/local/wall-process.ts'
import { buyBlock, get, sign } from '../support/e2e/buyer.ts'
import { runCommand } from '../support/e2e/command.ts'
import { alertsOf, railOf } from '../support/e2e/read-wall.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { eventually } from '../support/wait.ts'

// Goal: a backup can be taken at any time and put back, and what was sold in between is not silently sold again.
// Method: the operator's own commands, run as written, on a wall that sells on a real chain. Backing up is about the file
// of SQLite: PostgreSQL has its own tools, and what an older copy does to instances is in `instances`.

let around: Surroundings
let settings: WallSettings
beforeAll(async () => {
  around = await startSurroundings({ SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })
  settings = await around.settingsOnFile()
})
afterAll(() => around.stop())

/** Runs one of the operator's commands with the wall's settings; what it said and how it ended. */
async function operate(command: string, ...args: readonly string[]): Promise<{ said: string; status: number }> {
  return await operateOn(settings, command, ...args)
}

/** The same, with other settings. */
async function operateOn(wall: WallSettings, command: string, ...args: readonly string[]) {
  const { out, err, status } = await runCommand(wall, around.folder, command, ...args)
  return { said: out + err, status }
}

/** Sells a block; gives the signed payment and the block. */
async function sell(wall: WallProcess): Promise<{ payment: string; block: string }> {
  const { payment, receipt } = await buyBlock(wall, await around.wallet())
  return { payment, block: receipt.block }
}

const orphansIn = (wall: WallProcess) => alertsOf(wall, 'orphan').flatMap(({ tx }) => tx ?? [])

test('an older copy that is put back is noticed, sells nothing new, and is the wall once the operator says so', async () => {
  const backup = join(around.folder, 'backup.sqlite')
  let wall = await around.startArmed(settings)
  const before = [await sell(wall), await sell(wall)]
  const [meanwhile, made] = await Promise.all([sell(wall), operate('backup', backup)])
  expect(made).toMatchObject({ status: 0 })
  expect((await operate('backup', backup)).said).toContain('never replaces')
  const lost = [await sell(wall), await sell(wall), await sell(wall)]
  expect((await operate('accept-restore', '--yes')).said).toContain('another process')
  await wall.stop()

  await cp(backup, around.databasePath)
  wall = await around.start(settings)
  const orphans = await eventually(async () => (orphansIn(wall).length >= lost.length ? orphansIn(wall) : undefined))
  // The sale that was under way may be on either side of the copy.
  expect(orphans.length - lost.length).toBeWithin(0, 2)
  expect(await railOf(wall)).toBe('arming')
  for (const { payment, block } of before)
    expect(await (await get(wall, 'next', payment)).json()).toMatchObject({ block, owner: 'you' })
  const stranger = await sign(wall, await around.wallet())
  expect((await get(wall, 'next', stranger)).status).toBe(502)
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
  expect((await operate('books')).said).toContain(
    `credits                   ${orphans.length}, of which ${orphans.length}.00`,
  )

  wall = await around.startArmed(settings)
  expect(orphansIn(wall)).toEqual([])
  for (const { payment } of lost)
    expect(await (await get(wall, 'next', payment)).json()).toMatchObject({
      error: 'payment_credited',
      charged: 'yes',
    })
  expect((await get(wall, 'next', stranger)).status).toBe(200)
  await wall.stop()
  wall = await around.startArmed(settings)
  expect((await get(wall, 'next', meanwhile.payment)).status).not.toBe(500)
  await wall.stop()
})

test('a lost sale that was accepted as a credit is owed no more once a reorganisation took its money back', async () => {
  const backup = join(around.folder, 'before-the-credit.sqlite')
  const { client } = around.network
  const wall = await around.startArmed(settings)
  expect(await operate('backup', backup)).toMatchObject({ status: 0 })
  const before = await client.snapshot()
  const { payment } = await sell(wall)
  await wall.stop()
  await cp(backup, around.databasePath)
  const [, payer = '', nonce = ''] =
    /(0x\S+) paid .*nonce (0x\w+)/.exec((await operate('accept-restore', '--yes')).said) ?? []

  await client.revert({ id: before })
  await client.increaseTime({ seconds: 3600 })
  await client.mine({ blocks: 100 })
  const after = await around.startArmed(settings)
  expect((await operate('books')).said).toContain(`${payer} ${nonce} 1.00 USDC`)
  expect((await operate('resolve', payer, nonce)).said).toContain('credit owed -> given back for good')
  expect(alertsOf(after, 'payment-lost')).toMatchObject([{ nonce }])
  expect((await operate('books')).said).not.toContain(nonce)
  const answer = await (await get(after, 'next', payment)).json()
  expect(answer).toMatchObject({ error: 'payment_required', charged: 'no' })
  await after.stop()
})

test('money that came without buying anything is no reason to stop selling', async () => {
  const wall = await around.startArmed(settings)
  await wall.stop()
  await around.network.fund(around.payTo, 1)
  const again = await around.startArmed(settings)
  await again.stop()
})
