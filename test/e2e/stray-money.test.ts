import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeFunctionData, parseEther } from 'viem'
import { dollarAbi, dollarAddress } from '../../server/local/token/contracts.ts'
import { armed, freePort, startWall, type WallProcess } from '../../server/local/wall-process.ts'
import { lower, newOffer, sign as signFor } from '../adapters/signing.ts'
import { healthOf } from '../http/client.ts'
import { facilitatorAt, oneDollarTo, signPayment } from '../local/payments.ts'
import { runCommand } from '../operate/command.ts'
import { eventually, get, sign, startSurroundings, type Surroundings } from './world.ts'

// Goal: a stranger's dollar stops nothing, and an older copy of the database sells nothing, whatever is put back with it.
// Method: real walls that are stopped while others pay their address, or the files beside them are put back.

let around: Surroundings
let settings: Record<string, string>
let path: string
beforeAll(async () => {
  around = await startSurroundings()
  const port = String(await freePort())
  path = join(around.folder, 'wall.sqlite')
  settings = { ...around.settings, BASE_URL: `http://127.0.0.1:${port}`, PORT: port, DATABASE_PATH: path }
})
afterAll(() => around.stop())

const open = () => startWall(settings, { folder: around.folder })

async function openArmed(): Promise<WallProcess> {
  const wall = await open()
  await armed(wall.url)
  return wall
}

async function sell(wall: WallProcess): Promise<void> {
  const paid = await get(wall, 'next', await sign(wall, await around.wallet()))
  expect(paid.status).toBe(200)
}

const operate = (command: string, ...args: readonly string[]) => runCommand(settings, around.folder, command, ...args)

const books = async () => {
  const { out, status } = await operate('books', '--json')
  return { status, ...(JSON.parse(out) as Record<string, unknown>) }
}

type Alert = { readonly event: string; readonly payer?: string; readonly nonce?: string; readonly tx?: string }

const alertsOf = (wall: WallProcess) =>
  wall
    .journal()
    .map((line) => JSON.parse(line) as Alert & { readonly level: string })
    .filter(({ level }) => level === 'alert')

const alerted = (wall: WallProcess, wanted: string) =>
  eventually(async () => alertsOf(wall).find(({ event }) => event === wanted))

const railOf = async (wall: WallProcess) => (await healthOf(wall)).rail

/** Pays the wall's address by an authorization that a stranger broadcasts; the transaction. */
async function payByStranger(): Promise<string> {
  const { client } = around.network
  const [stranger, offer] = ['0x00000000000000000000000000000000000057a6', newOffer()] as const
  const terms = { ...offer.terms, payTo: lower(around.payTo) }
  const { payer, to, amount, validAfter, validBefore, nonce, signature } = await signFor(await around.wallet(), {
    ...offer,
    terms,
  })
  const args = [payer, to, amount, validAfter, validBefore, nonce, signature] as const
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'transferWithAuthorization', args })
  await client.setBalance({ address: stranger, value: parseEther('10') })
  const tx = await client.sendUnsignedTransaction({ from: stranger, to: dollarAddress, data, gas: 1_000_000n })
  expect((await client.waitForTransactionReceipt({ hash: tx })).status).toBe('success')
  return tx
}

/** Has our own facilitator broadcast a payment that the wall was never shown. */
async function payByFacilitator(): Promise<void> {
  const terms = oneDollarTo(around.payTo)
  const payment = await signPayment(await around.wallet(), terms)
  const settled = await facilitatorAt(around.network.facilitatorUrl).settle(payment, terms)
  expect(settled.success).toBe(true)
}

test(
  'a stranger’s dollar that came while the wall was down is told once and booked, and the wall sells on',
  async () => {
    const first = await openArmed()
    await sell(first)
    await first.stop()
    const tx = await payByStranger()
    const wall = await openArmed()
    expect(await alerted(wall, 'stray')).toMatchObject({ tx })
    await sell(wall)
    expect(await books()).toMatchObject({
      status: 0,
      balances: true,
      claimed: 2,
      received: '2000000',
      stray: [{ tx, amount: '1000000' }],
      strayed: '1000000',
      orphans: [],
    })
    expect(await around.network.balanceOf(around.payTo)).toBe(3_000_000n)
    await wall.stop()
    const again = await openArmed()
    expect(alertsOf(again)).toEqual([])
    await again.stop()
  },
  { timeout: 20_000 },
)

test(
  'what our own facilitator sent for nothing we know keeps the wall from selling, until the operator says that it is stray',
  async () => {
    await payByFacilitator()
    const wall = await open()
    const { payer = '', nonce = '' } = await alerted(wall, 'orphan')
    expect(await railOf(wall)).toBe('arming')
    expect(await operate('resolve', payer, nonce, '--stray')).toMatchObject({ status: 0 })
    await armed(wall.url)
    await sell(wall)
    expect(await operate('resolve', payer, nonce, '--stray')).toMatchObject({ status: 1 })
    expect(await books()).toMatchObject({ status: 0, strayed: '2000000', orphans: [] })
    await wall.stop()
  },
  { timeout: 20_000 },
)

test(
  'yesterday’s database sells nothing, its witness put back with it or not, and says which it is',
  async () => {
    const files = ['wall.sqlite', 'wall.sqlite.witness']
    const yesterday = (name: string) => join(around.folder, `yesterday-${name}`)
    for (const name of files) await cp(join(around.folder, name), yesterday(name))
    const before = await openArmed()
    await sell(before)
    await before.stop()

    await cp(yesterday('wall.sqlite'), path)
    const older = await open()
    await alerted(older, 'older-copy')
    await alerted(older, 'orphan')
    expect(await railOf(older)).toBe('arming')
    await older.stop()

    for (const name of files) await cp(yesterday(name), join(around.folder, name))
    const snapshot = await open()
    await alerted(snapshot, 'orphan')
    expect(alertsOf(snapshot).map(({ event }) => event)).toEqual(['orphan'])
    expect(await railOf(snapshot)).toBe('arming')
    await snapshot.stop()

    expect(await operate('accept-restore', '--yes')).toMatchObject({ status: 0 })
    const accepted = await openArmed()
    await sell(accepted)
    await accepted.stop()
  },
  { timeout: 30_000 },
)

test(
  'a database that is gone is no new wall where its witness is left, until the operator says so',
  async () => {
    await rm(path)
    const wall = await open()
    await alerted(wall, 'older-copy')
    expect(await railOf(wall)).toBe('arming')
    await wall.stop()
    expect(await operate('accept-restore')).toMatchObject({
      status: 1,
      out: expect.stringContaining('older than its witness'),
    })
    expect(await operate('accept-restore', '--yes')).toMatchObject({ status: 0 })
    const accepted = await openArmed()
    await accepted.stop()
  },
  { timeout: 20_000 },
)
