import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { PaymentPayload } from '@x402/core/types'
import { type Address, encodeFunctionData, type EncodeFunctionDataParameters, type Hex } from 'viem'
import { type FindingKind, verify, wall, type WallReport } from '../../../server/client/wall.ts'
import { localChainId } from '../../../server/local/chain.ts'
import { dollarAbi, dollarAddress, dollarCode, minterAddress } from '../../../server/local/token/contracts.ts'
import type { DeedsPage, SaleDeed } from '../../../shared/contract/deeds.ts'
import type { FeedPage, Sale } from '../../../shared/contract/feed.ts'
import { AUTHORIZATION_TYPES, networks, PRIMARY_TYPE } from '../../../shared/usdc.ts'
import { COLS } from '../../../shared/wall.ts'
import { truncateWallet } from '../../../shared/wallet.ts'
import { createFacilitatorClient, createOneDollarTerms, signPayment } from '../../support/chain/payments.ts'
import { orderArea, signArea } from '../../support/e2e/area-orders.ts'
import { buyBlock } from '../../support/e2e/buyer.ts'
import { runCommand } from '../../support/e2e/command.ts'
import { startWorld, type World } from '../../support/e2e/world.ts'
import { readOutput } from '../../support/output-of.ts'
import { createFlatPng } from '../../support/picture-files.ts'
import { createScratchFolder } from '../../support/scratch-folder.ts'
import { readBody, createClient } from '../../support/service/client.ts'
import { waitUntil } from '../../support/wait.ts'

// Goal: anybody can verify a wall against the chain, and verify reports every lie. Method: the real wall, chain and
// facilitator, and a proxy that changes the responses of the wall.

const scratch = createScratchFolder()

let world: World
let foreign: { readonly tx: string; readonly nonce: string; readonly wallet: string }
let failed: string
beforeAll(async () => {
  world = await startWorld()
  foreign = await payInAnotherToken()
  const transfer = { functionName: 'transfer', args: [world.payTo, 10n ** 30n] } as const
  failed = await sendCall(minterAddress, dollarAddress, transfer)
  await sellSamples()
})
afterAll(() => world.stop())

const MAIN = join(import.meta.dir, '../../../server/client/cli/main.ts')

const readDeeds = async () =>
  readBody(createClient(world).api.deeds.get({ query: { after: 0, owedAfter: 0, limit: 100 } }))

/** Our client, with a new wallet that has this many dollars. */
async function createFundedBuyer(dollars: number) {
  const account = await world.network.createFundedWallet(dollars)
  return wall(world.url, { account, folder: join(scratch, account.address), maxDollars: dollars.toFixed(2) })
}

const settlePayment = (payload: PaymentPayload) =>
  createFacilitatorClient(world.network.facilitatorUrl).settle(payload, payload.accepted)

const readNonce = ({ payload }: PaymentPayload) => (payload as { authorization: { nonce: Hex } }).authorization.nonce

let credited: { readonly payer: Address; readonly nonce: Hex }

/**
 * Creates a credit: the payment for a tall area settles after a row across the whole wall was sold, so no space is left
 * for the area.
 */
async function creditArea(): Promise<void> {
  const tall = { at: '7,0', w: 1, h: 90 }
  const payer = await world.createFundedWallet(90)
  const payment = await signArea(world, payer, tall)
  world.facilitator.settle.queueFaults('refused-recipient')
  expect((await orderArea(world, tall, payment)).status).toBe(402)
  await (await createFundedBuyer(160)).buyArea({ at: '0,20', w: 160, h: 1, message: 'a row' })
  const payload = JSON.parse(atob(payment)) as PaymentPayload
  expect(await settlePayment(payload)).toMatchObject({ success: true })
  credited = { payer: payer.address, nonce: readNonce(payload) }
  await waitUntil(async () => (await readDeeds()).owed.length === 1)
}

/** Pays a dollar without an order; the operator records the payment as stray. */
async function payWithoutOrder(): Promise<void> {
  const payer = await world.network.createFundedWallet(1)
  const payload = await signPayment(payer, createOneDollarTerms(world.payTo))
  expect(await settlePayment(payload)).toMatchObject({ success: true })
  const noted = runCommand(world.settings, world.folder, 'resolve', payer.address, readNonce(payload), '--stray')
  expect(await noted).toMatchObject({ status: 0 })
}

/** Runs the verify command as a user types it. */
async function runVerify(url = world.url, rpc = world.network.rpcUrl, ...args: string[]) {
  const command = [process.execPath, MAIN, 'verify', url, '--rpc', rpc, '--folder', scratch]
  const env = { PATH: Bun.env['PATH'] ?? '' }
  return await readOutput(Bun.spawn([...command, ...args], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }))
}

/** Makes the sales that the tests verify. */
async function sellSamples(): Promise<void> {
  await (await createFundedBuyer(1)).buy('3,4', { name: 'Ada', message: 'hello', px: '2a'.repeat(100) })
  await (
    await createFundedBuyer(1)
  ).buy('5,5', { message: 'signed', link: 'https://ada.example/', px: '2b'.repeat(100) })
  await (
    await createFundedBuyer(6)
  ).buyArea({ at: '50,60', w: 3, h: 2, image: createFlatPng(64, 32, '#ff0000'), message: 'red' })
  await buyBlock(world, await world.createFundedWallet(), '8,8')
  await creditArea()
  await payWithoutOrder()
  await world.network.fund(world.payTo, 0.000005)
  expect(await runCommand(world.settings, world.folder, 'hide', '3,4', '--message')).toMatchObject({ status: 0 })
  // Lets time pass on the chain, so that payments without a deed are old enough to be reported.
  await world.network.client.increaseTime({ seconds: 660 })
  await world.network.client.mine({ blocks: 12 })
}

const SUMMARY =
  '169 blocks, 169 dollars, each block paid for by the wallet in its deed, 167 bound to the words and picture that were bought, 1 credit open, no dollar without a deed, no deed without a dollar.'

test('verify finds nothing wrong on a wall with an unbound purchase, a credit, stray money and a hidden block, but counts each of them', async () => {
  const { code, out, err } = await runVerify()
  expect([code, err]).toEqual([0, ''])
  expect(
    out
      .replace(/blocks \d+ to \d+/, 'blocks A to B')
      .trim()
      .split('\n'),
  ).toEqual([
    '1 block bought without binding the payment to the order.',
    '1 order not checked against the nonce, because the operator hides some of the content.',
    '1 payment without a purchase, noted by the wall: 1 dollar.',
    '1 other transfer to the wall’s addresses, of a kind that cannot buy a block.',
    'Searched Base for payments in blocks A to B.',
    SUMMARY,
  ])
})

type Canvas = { readonly blocks: readonly { readonly i: number; readonly a: number }[] }

type DeedsRead = Omit<DeedsPage, 'deeds'> & { readonly deeds: readonly object[] }

/** The changes that a lie makes to the responses of the wall. */
type Lie = {
  readonly changeDeed?: (deed: SaleDeed) => object | undefined // of the deed at `place`
  readonly changePage?: (page: DeedsRead) => object
  readonly changeSale?: (sale: Sale) => Sale
  readonly changeCanvas?: (canvas: Canvas) => object
}

/** Starts a wall that lies; a lie about a deed or a sale applies only to the block or area at `place`. */
function startLyingWall(place: string, { changeDeed, changePage, changeSale, changeCanvas }: Lie) {
  const readPlace = ({ blocks }: SaleDeed) => ('coord' in blocks ? blocks.coord : blocks.at)
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const answer = await fetch(world.url + pathname + search)
      // Terms and errors stay as they are: if the wall is busy and returns 503, verify must be able to read again.
      if (!answer.ok) return answer
      const body = await answer.json()
      if (pathname === '/api/canvas' && changeCanvas !== undefined) return Response.json(changeCanvas(body as Canvas))
      if (pathname === '/api/feed' && changeSale !== undefined) {
        const { sales, ...rest } = body as FeedPage
        return Response.json({ ...rest, sales: sales.map((it) => (it.coord === place ? changeSale(it) : it)) })
      }
      if (pathname !== '/api/deeds') return Response.json(body)
      const { deeds, ...rest } = body as DeedsPage
      const altered = deeds.flatMap((it) =>
        readPlace(it) === place && changeDeed !== undefined ? (changeDeed(it) ?? []) : [it],
      )
      return Response.json(
        changePage === undefined ? { ...rest, deeds: altered } : changePage({ ...rest, deeds: altered }),
      )
    },
  })
}

const ANYBODY = `0x${'12'.repeat(20)}` as const
const SEPOLIA_DOLLAR = networks['eip155:84532'].token.address
const OTHER_TOKEN = `0x${'70'.repeat(20)}` as const

/** Pays the wall’s price in a token that anybody can mint; returns the facts of the payment. */
async function payInAnotherToken() {
  const payer = await world.network.createFundedWallet(0)
  await world.network.client.setCode({ address: OTHER_TOKEN, bytecode: dollarCode })
  await sendCall(minterAddress, OTHER_TOKEN, { functionName: 'mint', args: [payer.address, 1_000_000n] })
  const [from, to, value, validAfter, validBefore] = [payer.address, world.payTo, 1_000_000n, 0n, 10n ** 10n]
  const nonce = `0x${'5e'.repeat(32)}` as const
  const signature = await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: localChainId, verifyingContract: OTHER_TOKEN },
    types: AUTHORIZATION_TYPES,
    primaryType: PRIMARY_TYPE,
    message: { from, to, value, validAfter, validBefore, nonce },
  })
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  const tx = await sendCall(minterAddress, OTHER_TOKEN, { functionName: 'transferWithAuthorization', args })
  return { tx, nonce, wallet: truncateWallet(from) }
}

/** Calls a token; returns the mined transaction, which may have failed. */
async function sendCall(from: Address, to: Address, call: TokenCall): Promise<Hex> {
  const { client } = world.network
  const data = encodeFunctionData({ abi: dollarAbi, ...call } as EncodeFunctionDataParameters<typeof dollarAbi>)
  const hash = await client.sendUnsignedTransaction({ from, to, data, gas: 200_000n })
  await client.waitForTransactionReceipt({ hash })
  return hash
}

type TokenCall = { readonly functionName: string; readonly args: readonly unknown[] }

const changeOrder = (change: object) => (deed: SaleDeed) =>
  ({ ...deed, order: { ...deed.order, ...change } }) as SaleDeed

const NOWHERE = `0x${'ab'.repeat(32)}`

/** Each lie, the place that it is about, and the kinds of findings that verify must report. */
const lies: readonly (readonly [lie: string, place: string, Lie, finds: readonly FindingKind[]])[] = [
  [
    'a deed without a payment',
    '8,8',
    { changeDeed: (it) => ({ ...it, nonce: NOWHERE }) },
    ['no_payment', 'payment_without_deed'],
  ],
  [
    'a transaction that does not exist',
    '8,8',
    { changeDeed: (it) => ({ ...it, tx: NOWHERE, nonce: NOWHERE }) },
    ['not_on_chain', 'payment_without_deed'],
  ],
  [
    'a payment in another transaction',
    '8,8',
    { changeDeed: (it) => ({ ...it, tx: NOWHERE }) },
    ['another_transaction'],
  ],
  [
    'a transaction that failed',
    '8,8',
    { changeDeed: (it) => ({ ...it, tx: failed, nonce: NOWHERE }) },
    ['failed_transaction', 'payment_without_deed'],
  ],
  [
    'a payment in another token',
    '8,8',
    { changeDeed: (it) => ({ ...it, ...foreign }) },
    ['another_token', 'another_owner', 'payment_without_deed'],
  ],
  [
    'a payment for two deeds',
    '8,8',
    {
      changePage: (page) => ({
        ...page,
        deeds: [...page.deeds, ...page.deeds.slice(0, 1).map((it) => ({ ...it, seq: 170, blocks: { coord: '9,9' } }))],
      }),
    },
    ['payment_used_twice', 'order_changed'],
  ],
  [
    'a deed with another payer',
    '8,8',
    { changeDeed: (it) => ({ ...it, wallet: '0x1234…abcd' }) },
    ['another_payer', 'another_owner'],
  ],
  ['a deed with another amount', '8,8', { changeDeed: (it) => ({ ...it, amount: '2000000' }) }, ['another_amount']],
  [
    'a deed with another receiving address',
    '8,8',
    { changeDeed: (it) => ({ ...it, payTo: ANYBODY }) },
    ['another_address'],
  ],
  [
    'a page with an address that is not the wall’s',
    '8,8',
    { changePage: (it) => ({ ...it, payTo: [ANYBODY] }) },
    Array(7).fill('another_address'),
  ],
  ['an order with another message', '5,5', { changeDeed: changeOrder({ message: 'forged' }) }, ['order_changed']],
  ['an order without its link', '5,5', { changeDeed: changeOrder({ link: undefined }) }, ['order_changed']],
  ['an order with another picture', '5,5', { changeDeed: changeOrder({ px: '01'.repeat(100) }) }, ['order_changed']],
  [
    'an order with other pixels',
    '50,60',
    { changeDeed: changeOrder({ pixels: `sha256:${'1'.repeat(64)}` }) },
    ['order_changed'],
  ],
  ['an order at another position', '5,5', { changeDeed: changeOrder({ block: '5,6' }) }, ['order_changed']],
  [
    'a deed without an order',
    '5,5',
    { changeDeed: (it) => ({ ...it, order: undefined, salt: undefined }) },
    ['order_changed'],
  ],
  [
    'a sale with another message in the feed',
    '5,5',
    { changeSale: (it) => ({ ...it, m: 'forged' }) },
    ['order_changed'],
  ],
  [
    'a sale with another picture in the feed',
    '51,61',
    { changeSale: (it) => ({ ...it, px: btoa('\u0007'.repeat(100)) }) },
    ['order_changed'],
  ],
  [
    'a deed left out',
    '8,8',
    { changeDeed: () => undefined },
    ['sale_without_deed', 'block_without_deed', 'payment_without_deed'],
  ],
  [
    'a credit left out',
    '8,8',
    { changePage: (it) => ({ ...it, owed: it.owed.filter(({ tx }) => tx === null) }) },
    ['payment_without_deed'],
  ],
  [
    'stray money left out',
    '8,8',
    { changePage: (it) => ({ ...it, owed: it.owed.filter(({ tx }) => tx !== null) }) },
    ['payment_without_deed'],
  ],
  [
    'a page that states another network',
    '8,8',
    { changePage: (it) => ({ ...it, network: 'eip155:84532' }) },
    ['another_network'],
  ],
  [
    'a page that states another token',
    '8,8',
    { changePage: (it) => ({ ...it, asset: OTHER_TOKEN }) },
    ['another_network'],
  ],
  [
    'a block that nobody paid for',
    '8,8',
    { changeCanvas: (it) => ({ ...it, blocks: [...it.blocks, { ...it.blocks[0], i: 9 }] }) },
    ['block_without_deed'],
  ],
  ['a sold block that is not shown', '8,8', { changeCanvas: removeBlock }, ['block_not_shown']],
]

function removeBlock(canvas: Canvas) {
  return { ...canvas, blocks: canvas.blocks.filter(({ i }) => i !== 8 * COLS + 8) }
}

async function verifyLyingWall(place: string, lie: Lie, folder: string): Promise<WallReport> {
  const wall = startLyingWall(place, lie)
  try {
    return await verify(wall.url, { rpc: [world.network.rpcUrl], folder: join(scratch, folder) })
  } finally {
    await wall.stop()
  }
}

// Each verification waits before it reads again, so all of them run in parallel.
let reports: readonly Promise<WallReport>[] | undefined

test.each(lies.map((lie, at) => [...lie, at] as const))(
  'verify finds %s on a wall, and reports nothing else',
  async (_, __, ___, finds, at) => {
    reports ??= lies.map(([name, place, lie]) => verifyLyingWall(place, lie, name))
    const { findings } = (await reports[at]) as WallReport
    expect(findings.map(({ kind }) => kind)).toEqual([...finds])
  },
)

test('the verify command prints each finding on its own line, and exits with status 1', async () => {
  const wall = startLyingWall('8,8', { changeDeed: (it) => ({ ...it, amount: '2000000' }) })
  const { code, out } = await runVerify(wall.url.href)
  await wall.stop()
  const { deeds } = await readDeeds()
  const { tx = '' } = deeds.find(({ blocks }) => 'coord' in blocks && blocks.coord === '8,8') ?? {}
  const [finding = '', ...others] = out.trim().split('\n')
  expect([code, finding]).toEqual([1, `another_amount: deed 9 (8,8): it says 2.00, but 1.00 was paid, in ${tx}`])
  expect(others.at(-1)).toEndWith('1 credit open, no dollar without a deed, 1 deed without a dollar.')
})

test('verify --json prints every count', async () => {
  const { code, out } = await runVerify(world.url, world.network.rpcUrl, '--json')
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    {
      url: world.url,
      network: 'eip155:8453',
      findings: [],
      blocks: 169,
      amount: '169000000',
      bound: 167,
      unbound: 1,
      hiddenOrders: 1,
      credits: { open: 1, paidBack: 0, notProved: 0 },
      noted: 1,
      notedAmount: '1000000',
      plain: 1,
      young: 0,
    },
  ])
})

const unasked: readonly (readonly [why: string, args: () => readonly [url: string, rpc?: string], says: string])[] = [
  ['no endpoint of the chain responds', () => [world.url, 'http://127.0.0.1:9'], 'no endpoint responds (127.0.0.1:9)'],
  ['the address is not that of a wall', () => [world.network.rpcUrl], 'There is no wall at'],
  ['the endpoint is not given as a URL', () => [world.url, 'mainnet'], '--rpc must be an http or https URL'],
]

test.each(unasked)('if %s, the verify command exits with status 2', async (_, args, says) => {
  const [url, rpc] = args()
  const { code, out, err } = await runVerify(url, rpc)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(says)
})

test('verify fails with chain_unavailable if the endpoint serves a different chain from the one that the wall states', async () => {
  const lie = { changePage: (it: DeedsRead) => ({ ...it, network: 'eip155:84532', asset: SEPOLIA_DOLLAR }) }
  await expect(verifyLyingWall('8,8', lie, 'sepolia')).rejects.toMatchObject({ code: 'chain_unavailable' })
})

test('the operator’s books and verify agree on the sales, amounts, credits and stray payments of the wall', async () => {
  const { out, status } = await runCommand(world.settings, world.folder, 'books', '--json')
  const report = await verify(world.url, { rpc: [world.network.rpcUrl], folder: join(scratch, 'books') })
  expect([status, report.findings]).toEqual([0, []])
  expect(JSON.parse(out)).toMatchObject({
    balances: true,
    claimed: report.blocks,
    received: `${report.amount + 90_000_000n}`,
    owed: '90000000',
    credits: Array.from({ length: report.credits.open }, () => ({ amount: '90000000', paidOut: null })),
    stray: Array.from({ length: report.noted + report.plain }, () => ({})),
    orphans: [],
  })
})

test('with --since, verify looks up on the chain only the deeds after the given deed number, but still compares all deeds with each other', async () => {
  const options = { rpc: [world.network.rpcUrl], folder: join(scratch, 'since') }
  const report = await verify(world.url, { ...options, since: 9 })
  expect(report).toMatchObject({ findings: [], blocks: 160, amount: 160_000_000n, bound: 160 })
})

test('verify caches the payments that it reads from the chain, and reads them again only with --all', async () => {
  await world.network.client.mine({ blocks: 1000 })
  const options = { rpc: [world.network.rpcUrl], folder: join(scratch, 'kept') }
  const countPaymentRequests = async (all: boolean) => (await verify(world.url, { ...options, all })).requests.payments
  // One call reads the chain’s id, one reads the newest block, and one reads the receipts unless they are stored.
  expect([
    await countPaymentRequests(false),
    await countPaymentRequests(false),
    await countPaymentRequests(true),
  ]).toEqual([3, 2, 3])
})

test('verify counts a credit as paid back only if the transaction that the wall states repaid all of it', async () => {
  const { client } = world.network
  const sendRefund = async (amount: bigint) => {
    const call = { functionName: 'transfer', args: [credited.payer, amount] }
    return await sendCall(world.payTo, dollarAddress, call)
  }
  await client.impersonateAccount({ address: world.payTo })
  await client.setBalance({ address: world.payTo, value: 10n ** 18n })
  const [part, whole] = [await sendRefund(1_000_000n), await sendRefund(90_000_000n)]
  const noted = await runCommand(
    world.settings,
    world.folder,
    'resolve',
    credited.payer,
    credited.nonce,
    '--paid-out',
    whole,
  )
  expect(noted).toMatchObject({ status: 0 })
  const options = { rpc: [world.network.rpcUrl], folder: join(scratch, 'refunds') }
  const honest = await verify(world.url, options)
  expect(honest).toMatchObject({ findings: [], credits: { open: 0, paidBack: 1, notProved: 0 } })
  const createRefundLie = (paidOut: string) => ({
    changePage: (it: DeedsRead) => ({
      ...it,
      owed: it.owed.map((one) => (one.tx === null ? one : { ...one, paidOut })),
    }),
  })
  for (const tx of [part, NOWHERE])
    expect(await verifyLyingWall('8,8', createRefundLie(tx), tx)).toMatchObject({
      credits: { open: 0, paidBack: 0, notProved: 1 },
    })
})
