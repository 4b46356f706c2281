import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntilArmed, type WallProcess, type WallSettings } from '../../server/local/wall-process.ts'
import { createWallet } from '../../server/local/wallets.ts'
import {
  toLowerAddress,
  createOffer,
  signOffer as signFor,
  submitCall,
  encodeTransfer,
} from '../support/chain/signing.ts'
import { buyBlock, fetchBlock, signBlockPayment } from '../support/e2e/buyer.ts'
import { runCommand } from '../support/e2e/command.ts'
import { findAlerts, readRail } from '../support/e2e/read-wall.ts'
import { startSurroundings, type Surroundings } from '../support/e2e/world.ts'
import { waitFor } from '../support/wait.ts'

// Goal: an older copy of the database sells nothing, whatever is restored with it. If the witness is set as apart,
// stray money does not stop sales. Method: real walls, each stopped while other wallets pay the wall's address or while
// older files are restored.

let around: Surroundings
let settings: WallSettings
beforeAll(async () => {
  around = await startSurroundings()
  settings = await around.createFileSettings()
})
afterAll(() => around.stop())

const sellBlock = async (wall: WallProcess) => await buyBlock(wall, await around.createFundedWallet())

const runOperatorCommand = (command: string, ...args: readonly string[]) =>
  runCommand(settings, around.folder, command, ...args)

const readBooks = async () => {
  const { out, status } = await runOperatorCommand('books', '--json')
  return { status, ...(JSON.parse(out) as Record<string, unknown>) }
}

const waitForAlert = (wall: WallProcess, wanted: string) =>
  waitFor(async () => findAlerts(wall).find(({ event }) => event === wanted))

/** Pays the wall's address with an authorization that somebody else broadcasts; returns the transaction. */
async function payFromUnknownWallet(): Promise<string> {
  const offer = createOffer()
  const terms = { ...offer.terms, payTo: toLowerAddress(around.payTo) }
  const payment = await signFor(await around.createFundedWallet(), { ...offer, terms })
  return await submitCall(around.network.client, encodeTransfer(payment))
}

test('if WITNESS_IS_APART is yes, stray money that arrived while the wall was down causes one alert and is booked, and sales go on', async () => {
  const first = await around.startArmedWall(settings)
  await sellBlock(first)
  await first.stop()
  const tx = await payFromUnknownWallet()
  const WITNESS_PATH = join(around.folder, 'wall.sqlite.witness')
  const wall = await around.startArmedWall({ ...settings, WITNESS_PATH, WITNESS_IS_APART: 'yes' })
  expect(await waitForAlert(wall, 'stray')).toMatchObject({ tx })
  await sellBlock(wall)
  expect(await readBooks()).toMatchObject({
    status: 0,
    balances: true,
    claimed: 2,
    received: '2000000',
    stray: [{ tx, amount: '1000000' }],
    strayed: '1000000',
    orphans: [],
  })
  expect(await around.network.readBalance(around.payTo)).toBe(3_000_000n)
  await wall.stop()
  const again = await around.startArmedWall(settings)
  expect(findAlerts(again)).toEqual([])
  await again.stop()
})

test('if WITNESS_IS_APART is not set, money without a known purchase stops sales until the operator books it, and /readyz gives the remedies', async () => {
  await payFromUnknownWallet()
  const wall = await around.start(settings)
  const { payer = '', nonce = '' } = await waitForAlert(wall, 'orphan')
  expect(await readRail(wall)).toBe('arming')
  const ready = await waitFor(async () => {
    const answer = await fetch(`${wall.url}/readyz`)
    const text = await answer.text()
    return text.includes('resolve --all --stray') && text.includes('WITNESS_IS_APART=yes') ? answer.status : undefined
  })
  expect(ready).toBe(503)
  expect(await runOperatorCommand('resolve', '--all', '--stray')).toMatchObject({ status: 0 })
  await waitUntilArmed(wall.url)
  await sellBlock(wall)
  expect(await runOperatorCommand('resolve', payer, nonce, '--stray')).toMatchObject({ status: 1 })
  expect(await readBooks()).toMatchObject({ status: 0, strayed: '2000000', orphans: [] })
  await wall.stop()
})

test('a wall on yesterday’s database sells nothing and alerts the operator, whether the witness was restored with it or not', async () => {
  const files = ['wall.sqlite', 'wall.sqlite.witness']
  const locateCopy = (name: string) => join(around.folder, `yesterday-${name}`)
  for (const name of files) await cp(join(around.folder, name), locateCopy(name))
  const before = await around.startArmedWall(settings)
  await sellBlock(before)
  await before.stop()

  await cp(locateCopy('wall.sqlite'), around.databasePath)
  const older = await around.start(settings)
  await waitForAlert(older, 'older-copy')
  await waitForAlert(older, 'orphan')
  expect(await readRail(older)).toBe('arming')
  await older.stop()

  for (const name of files) await cp(locateCopy(name), join(around.folder, name))
  const snapshot = await around.start(settings)
  await waitForAlert(snapshot, 'orphan')
  expect(findAlerts(snapshot).map(({ event }) => event)).toEqual(['orphan'])
  expect(await readRail(snapshot)).toBe('arming')
  await snapshot.stop()

  expect(await runOperatorCommand('accept-restore', '--yes')).toMatchObject({ status: 0 })
  const accepted = await around.startArmedWall(settings)
  await sellBlock(accepted)
  await accepted.stop()
})

test('if the database is missing but its witness exists, the wall sells nothing until the operator accepts the new database', async () => {
  await rm(around.databasePath)
  const wall = await around.start(settings)
  await waitForAlert(wall, 'older-copy')
  expect(await readRail(wall)).toBe('arming')
  await wall.stop()
  expect(await runOperatorCommand('accept-restore')).toMatchObject({
    status: 1,
    out: expect.stringMatching(/chain was never read.+books --from[^]+older than its witness/),
  })
  expect(await runOperatorCommand('accept-restore', '--pay-to', 'nobody')).toMatchObject({
    status: 2,
    err: expect.stringContaining('--pay-to: not an address: nobody'),
  })
  const earlier = createWallet().address
  expect(await runOperatorCommand('accept-restore', '--yes', '--pay-to', earlier)).toMatchObject({ status: 0 })
  const accepted = await around.startArmedWall(settings)
  await accepted.stop()
})

/** Prepares a wall with its own database and payment address: its settings, and a function that runs its commands. */
function prepareOwnWall(name: string) {
  const database = join(around.folder, `${name}.sqlite`)
  const own = { ...settings, DATABASE_PATH: database, PAY_TO: createWallet().address }
  const runOwnCommand = async (...args: readonly [command: string, ...others: string[]]) => {
    const { out, err, status } = await runCommand(own, around.folder, ...args)
    return { status, said: out + err }
  }
  return { database, own, runOwnCommand }
}

test('accept-restore refuses to run beside a running wall, and backup never replaces a file', async () => {
  const { own, runOwnCommand } = prepareOwnWall('running')
  const backup = join(around.folder, 'running.backup')
  const wall = await around.startArmedWall(own)
  expect(await runOwnCommand('backup', backup)).toMatchObject({ status: 0 })
  const [again, accepted] = await Promise.all([
    runOwnCommand('backup', backup),
    runOwnCommand('accept-restore', '--yes'),
  ])
  expect([again.status, accepted.status]).toEqual([2, 2])
  expect(again.said).toContain('never replaces')
  expect(accepted.said).toContain('another process')
  await wall.stop()
})

test('a wall on a restored older copy reports the lost purchases, and sells nothing new until the operator accepts the copy', async () => {
  const { database, own, runOwnCommand } = prepareOwnWall('own')
  const backup = join(around.folder, 'backup.sqlite')
  let wall = await around.startArmedWall(own)
  const before = [await sellBlock(wall), await sellBlock(wall)]
  const [, made] = await Promise.all([sellBlock(wall), runOwnCommand('backup', backup)])
  expect(made).toMatchObject({ status: 0 })
  const lost = [await sellBlock(wall), await sellBlock(wall), await sellBlock(wall)]
  await wall.stop()

  await cp(backup, database)
  wall = await around.start(own)
  const listOrphans = () => findAlerts(wall, 'orphan').flatMap(({ tx }) => tx ?? [])
  const orphans = await waitFor(async () => (listOrphans().length >= lost.length ? listOrphans() : undefined))
  // The copy may or may not contain the sale in progress.
  expect(orphans.length - lost.length).toBeWithin(0, 2)
  expect(await readRail(wall)).toBe('arming')
  for (const { payment, receipt } of before)
    expect(await (await fetchBlock(wall, 'next', payment)).json()).toMatchObject({ block: receipt.block, owner: 'you' })
  const stranger = await signBlockPayment(wall, await around.createFundedWallet())
  expect((await fetchBlock(wall, 'next', stranger)).status).toBe(502)
  await wall.stop()

  const listed = await runOwnCommand('accept-restore')
  expect(listed.status).toBe(1)
  for (const tx of orphans) expect(listed.said).toContain(tx)
  expect(await runOwnCommand('accept-restore', '--yes')).toMatchObject({ status: 0 })
  const owed = `credits                   ${orphans.length}, of which ${orphans.length}.00`
  expect((await runOwnCommand('books')).said).toContain(owed)

  wall = await around.startArmedWall(own)
  expect(listOrphans()).toEqual([])
  const credited = { error: 'payment_credited', charged: 'yes' }
  for (const { payment } of lost) expect(await (await fetchBlock(wall, 'next', payment)).json()).toMatchObject(credited)
  expect((await fetchBlock(wall, 'next', stranger)).status).toBe(200)
  await wall.stop()
})
