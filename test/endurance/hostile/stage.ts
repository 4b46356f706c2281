/** A wall in its own process, with blocks in every state that a bad request may aim at. */

import { Database } from 'bun:sqlite'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { encodeFunctionData, parseEther } from 'viem'
import { dollarAbi, dollarAddress } from '../../../server/local/token/contracts.ts'
import { newWallet, type Wallet } from '../../../server/local/wallets.ts'
import { COLS } from '../../../shared/wall.ts'
import { get, sign } from '../../support/e2e/buyer.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { newPayload, type Payload, type PaymentTerms } from './payments.ts'
import { rowsVersion } from './rows-version.ts'

/** Everything the cases play on. */
export type Stage = {
  readonly world: World
  readonly host: string // with its port, as in a Host header
  readonly hostname: string // as in a signed message
  readonly terms: PaymentTerms
  readonly owner: Wallet
  readonly stranger: Wallet
  readonly owned: string
  readonly reserved: string // in doubt
  /** A block that somebody is buying now, and for some seconds on. */
  beingBought(): Promise<string>
  /** An open block that no other case uses. */
  open(): string
  /** A new wallet with some dollars. */
  payer(): Promise<Wallet>
  /** A block whose owner is a contract with this code. */
  ownedByContract(code: `0x${string}`): Promise<string>
  /** A payment that bought a block, and one that was spent on the chain without us. */
  usedHere(): Promise<Payload>
  spentElsewhere(): Promise<Payload>
  /** Changes whenever a row of the database does; told once every receipt that went out is noted. */
  rowsVersion(): Promise<number>
  /** Takes the database's write lock, as a stuck backup would; answers what lets go of it. */
  lockDatabase(): () => void
  stop(): Promise<void>
}

// Long after the answer.
const NOTED_MS = 500

const OWNED = '150,80'
const RESERVED = '151,80'
const CONTRACTS_ROW = 81
const OPEN_ROW = 86

/** Opens the wall and sells and holds the blocks. */
export async function openStage(): Promise<Stage> {
  // The wall resolves what it holds only when it is asked to, so that rows change by requests alone, and
  // waits for a settlement for longer than a case takes.
  const world = await startWorld({ RECONCILE_INTERVAL_MS: '600000', SETTLE_TIMEOUT_MS: '4000' })
  const terms = await readTerms(world)
  const owner = await world.wallet(50)
  await buy(world, owner, OWNED)
  await hold(world, await world.wallet(), RESERVED)
  const rows = new Database(world.databasePath, { readonly: true })
  const version = rowsVersion(rows)
  const unnoted = rows.query<{ count: number }, [number]>(
    'SELECT count(*) AS count FROM payments WHERE unanswered = 1 AND claimed_at > ?',
  )
  const contracts = new Map<string, Promise<string>>()
  let opened = 0
  const nextOpen = () => `${opened % COLS},${OPEN_ROW + Math.floor(opened++ / COLS)}`
  return {
    world,
    host: new URL(world.url).host,
    hostname: new URL(world.url).hostname,
    terms,
    owner,
    stranger: newWallet(),
    owned: OWNED,
    reserved: RESERVED,
    beingBought: () => beginBuying(world, nextOpen()),
    open: nextOpen,
    payer: () => world.wallet(2),
    ownedByContract(code) {
      const known = contracts.get(code) ?? sellToContract(world, `${contracts.size},${CONTRACTS_ROW}`, code)
      contracts.set(code, known)
      return known
    },
    usedHere: once(() => buyOnce(world, terms)),
    spentElsewhere: once(() => spendDirectly(world, terms)),
    async rowsVersion() {
      // A receipt that reached nobody stays unanswered.
      while (unnoted.get(Date.now() - NOTED_MS)?.count !== 0) await Bun.sleep(1)
      return version()
    },
    lockDatabase: () => lock(world.databasePath),
    async stop() {
      rows.close()
      await world.stop()
    },
  }
}

async function readTerms(world: World): Promise<PaymentTerms> {
  const demand = decodePaymentRequiredHeader((await get(world, 'next')).headers.get('payment-required') ?? '')
  const [accepted] = demand.accepts
  if (accepted === undefined) throw new Error('the wall offers no terms')
  return accepted
}

async function buy(world: World, wallet: Wallet, target: string): Promise<void> {
  const { status } = await get(world, `${target}?name=Ada&message=hi`, await sign(world, wallet, target))
  if (status !== 200) throw new Error(`the stage could not buy ${target}: ${status}`)
}

/** Leaves a block held: the facilitator fails before it does anything, so the outcome stays in doubt. */
async function hold(world: World, wallet: Wallet, target: string): Promise<void> {
  world.facilitator.settle.next('error-before')
  const { status } = await get(world, target, await sign(world, wallet, target))
  if (status !== 503) throw new Error(`the stage could not hold ${target}: ${status}`)
}

/** Has somebody buy a block, and answers it while the facilitator is at the settlement. */
async function beginBuying(world: World, target: string): Promise<string> {
  const payment = await sign(world, await world.wallet(), target)
  const before = world.facilitator.settle.count()
  world.facilitator.settle.next('hang-before')
  void get(world, target, payment).catch(() => {})
  while (world.facilitator.settle.count() === before) await Bun.sleep(5)
  return target
}

async function sellToContract(world: World, coord: string, bytecode: `0x${string}`): Promise<string> {
  const wallet = await world.wallet()
  await buy(world, wallet, coord)
  await world.network.client.setCode({ address: wallet.address, bytecode })
  return coord
}

async function buyOnce(world: World, terms: PaymentTerms): Promise<Payload> {
  const payload = await newPayload(await world.wallet(), terms)
  const { status } = await get(world, 'next', headerOf(payload))
  if (status !== 200) throw new Error(`the stage could not use a payment: ${status}`)
  return payload
}

/** Has a payment settled that the wall never heard of. */
async function spendDirectly(world: World, terms: PaymentTerms): Promise<Payload> {
  const paymentPayload = await newPayload(await world.wallet(), terms)
  const response = await fetch(`${world.network.facilitatorUrl}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: terms }),
  })
  const answer = (await response.json()) as { success?: boolean }
  if (answer.success !== true) throw new Error(`the stage could not spend a payment: ${JSON.stringify(answer)}`)
  await takeBack(world)
  return paymentPayload
}

/** Moves a dollar that belongs to no sale out again, so that the books can be held against the sales. */
async function takeBack({ network, payTo }: World): Promise<void> {
  const { client } = network
  await client.impersonateAccount({ address: payTo })
  await client.setBalance({ address: payTo, value: parseEther('1') })
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'transfer', args: [newWallet().address, 1_000_000n] })
  const hash = await client.sendUnsignedTransaction({ from: payTo, to: dollarAddress, data })
  await client.waitForTransactionReceipt({ hash })
}

/** A payment as the PAYMENT-SIGNATURE header. */
export const headerOf = (payload: unknown): string => Buffer.from(JSON.stringify(payload)).toString('base64')

function lock(path: string): () => void {
  const holder = new Database(path)
  holder.run('PRAGMA busy_timeout = 2000')
  holder.run('BEGIN IMMEDIATE')
  return () => {
    holder.run('ROLLBACK')
    holder.close()
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
