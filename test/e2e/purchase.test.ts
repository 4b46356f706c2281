import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { wrapAxiosWithPayment } from '@x402/axios'
import { x402Client } from '@x402/core/client'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import { Agents } from '../../shared/contract/agent.ts'
import type { AreaReceipt } from '../../shared/contract/area-order.ts'
import { Deed, Receipt } from '../../shared/contract/block.ts'
import { Canvas } from '../../shared/contract/canvas.ts'
import { Sale } from '../../shared/contract/feed.ts'
import { PALETTE } from '../../shared/palette.ts'
import { formatEditMessage, formatRegisterMessage } from '../../shared/signing.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import { buyBlock, fetchBlock, createPayingClient, signBlockPayment } from '../support/e2e/buyer.ts'
import { waitForCanvas, readCanvas, readFeed } from '../support/e2e/read-wall.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { createFlatPng } from '../support/picture-files.ts'
import { listCoords } from '../support/samples.ts'

// Goal: stock clients of each kind buy blocks and areas in parallel, and all readers see the same. Method: one
// real process on a file, a real chain and real clients; the books must balance to the dollar at the end.

let world: World
shareWorld((opened) => void (world = opened), { SETTLE_TIMEOUT_MS: '20000', VERIFY_TIMEOUT_MS: '20000' })

const px = '0102'.repeat(50)

test('a stock client with its default spend cap buys a block, and every read shows the same sale', async () => {
  const wallet = await world.createFundedWallet(5)
  const client = new x402Client().register('eip155:8453', new ExactEvmScheme(wallet))
  const address = `${world.url}/blocks/10,20?name=Ada&framework=eliza&message=hello&link=https://example.org/&px=${px}`
  const response = await wrapFetchWithPayment(fetch, client)(address)
  expect(response.status).toBe(200)
  const receipt = Value.Parse(Receipt, await response.json())
  const paid = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  const { tx, claimedAt } = receipt.deed

  expect(receipt.deed).toMatchObject({
    block: { coord: '10,20', index: 3210 },
    wallet: wallet.address,
    name: 'Ada',
    framework: 'eliza',
    message: 'hello',
    link: 'https://example.org/',
    painted: true,
    price: { amount: '1.00', asset: 'USDC', network: 'eip155:8453' },
  })
  expect(paid).toMatchObject({ success: true, payer: wallet.address, transaction: tx, network: 'eip155:8453' })
  expect(await world.readBalance(wallet)).toBe(4)
  expect(await world.network.client.getTransactionReceipt({ hash: tx as `0x${string}` })).toMatchObject({
    status: 'success',
  })

  const owner = { name: 'Ada', wallet: truncateWallet(wallet.address), framework: 'eliza' }
  const pixels = Uint8Array.fromHex(px).toBase64()
  const deed = Value.Parse(Deed, await (await fetchBlock(world, '10,20')).json())
  expect(deed).toEqual({
    state: 'claimed',
    block: { coord: '10,20', index: 3210 },
    owner,
    claimedAt,
    settled: true,
    tx,
    message: 'hello',
    link: 'https://example.org/',
    pixels,
  })

  const [sale] = (await readFeed(world)).slice(-1)
  expect(Value.Parse(Sale, sale)).toMatchObject({
    i: 3210,
    coord: '10,20',
    t: claimedAt,
    agent: owner,
    m: 'hello',
    px: pixels,
  })

  const canvas = Value.Parse(Canvas, await readCanvas(world))
  expect(canvas.palette).toEqual([...PALETTE])
  const block = canvas.blocks.find(({ i }) => i === 3210)
  expect(block).toMatchObject({ t: claimedAt, m: 'hello', l: 'https://example.org/', px: pixels })
  expect(canvas.agents[block?.a ?? -1]).toMatchObject({ ...owner, blocks: 1 })

  const agents = Value.Parse(Agents, await (await fetch(`${world.url}/api/agents`)).json())
  expect(agents.agents.at(-1)).toMatchObject({
    ...owner,
    blocks: 1,
    firstSeenAt: claimedAt,
    link: 'https://example.org/',
  })
})

test('an owner repaints its block and sets its name with signatures alone', async () => {
  const wallet = await world.createFundedWallet()
  const host = new URL(world.url).hostname
  await buyBlock(world, wallet, '11,20')

  const edit = { pixels: px.toUpperCase(), message: 'repainted', link: null }
  const ts = Date.now()
  const signature = await wallet.signMessage({ message: formatEditMessage(host, '11,20', ts, edit) })
  const painted = await putJson(`${world.url}/blocks/11,20`, { ts, signature, ...edit })
  expect(painted).toMatchObject({ status: 200, body: { updated: true, deed: { message: 'repainted', link: null } } })

  const identity = { name: 'Babbage', framework: null }
  const signed = await wallet.signMessage({ message: formatRegisterMessage(host, wallet.address, ts, identity) })
  const named = await putJson(`${world.url}/api/agents/me`, {
    wallet: wallet.address,
    ts,
    signature: signed,
    ...identity,
  })
  expect(named).toMatchObject({ status: 200, body: { updated: true, agent: { name: 'Babbage', blocks: 1 } } })

  const canvas = await waitForCanvas(world, ({ agents }) => agents.some(({ name }) => name === 'Babbage'))
  const block = canvas.blocks.find(({ i }) => i === 20 * 160 + 11)
  expect(block).toMatchObject({ m: 'repainted', px: Uint8Array.fromHex(px).toBase64() })
  expect(canvas.agents[block?.a ?? -1]).toMatchObject({ name: 'Babbage' })
})

async function putJson(address: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(address, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

test('the stock fetch client posts a picture, pays once and owns the area', async () => {
  const wallet = await world.createFundedWallet(20)
  const image = createFlatPng(120, 90, '#ff0000').toBase64()
  const response = await wrapFetchWithPayment(fetch, createPayingClient(wallet))(`${world.url}/areas`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ at: '20,20', w: 4, h: 3, image, name: 'Ada' }),
  })
  expect(response.status).toBe(200)
  const receipt = (await response.json()) as AreaReceipt
  expect(receipt).toMatchObject({
    area: '20,20,4x3',
    blocks: listCoords('20,20,4x3'),
    deed: { wallet: wallet.address, name: 'Ada', painted: true, price: { amount: '12.00' } },
  })
  const { transaction } = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
  expect(transaction).toBe(receipt.deed.tx)
  expect(await world.readBalance(wallet)).toBe(8)
})

test('the stock axios client buys an area with a POST request', async () => {
  const wallet = await world.createFundedWallet(4)
  // The axios client is older than the rest of the SDK, but knows the same schemes.
  type OlderClient = Parameters<typeof wrapAxiosWithPayment>[1]
  const client = wrapAxiosWithPayment(axios.create(), createPayingClient(wallet) as unknown as OlderClient)
  const { status, data } = await client.post<AreaReceipt>(`${world.url}/areas`, { at: '30,20', w: 2, h: 1 })
  expect([status, data.area]).toEqual([200, '30,20,2x1'])
  expect(await world.readBalance(wallet)).toBe(2)
})

test('one signed request sent ten times in parallel, and again after a restart, buys one block with one charge and one receipt', async () => {
  const payer = await world.createFundedWallet(5)
  const payment = await signBlockPayment(world, payer)
  const settlesBefore = world.facilitator.settle.countCalls()
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetchBlock(world, 'next', payment)))
  await world.restart()
  answers.push(await fetchBlock(world, 'next', payment))
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(bodies).size).toBe(1)
  const responses = answers.map(({ headers }) => decodePaymentResponseHeader(headers.get('payment-response') ?? ''))
  expect(new Set(responses.map(({ transaction }) => transaction)).size).toBe(1)
  expect(world.facilitator.settle.countCalls() - settlesBefore).toBe(1)
  expect(await world.readBalance(payer)).toBe(4)
})

// To make a client use version 1 of x402, the headers of version 2 are hidden, as if the server supported only version
// 1.
/** A `fetch` that hides the headers of version 2, and records which payment headers it sent. */
function createOlderFetch(sent: string[]): typeof fetch {
  const fetchAndRecord = async (input: string | URL | Request, init?: RequestInit) => {
    const request = input instanceof Request ? new Request(input, init) : new Request(input.toString(), init)
    for (const name of ['x-payment', 'payment-signature']) if (request.headers.has(name)) sent.push(name)
    const response = await fetch(request)
    const headers = new Headers(response.headers)
    headers.delete('payment-required')
    headers.delete('payment-response')
    return new Response(response.body, { status: response.status, headers })
  }
  return Object.assign(fetchAndRecord, { preconnect: fetch.preconnect })
}

test('a client of x402 version 1 buys a block with a name and a message, for one dollar', async () => {
  const wallet = await world.createFundedWallet(2)
  const sent: string[] = []
  const client = new x402Client().registerV1('base', new ExactEvmSchemeV1(wallet))
  const pay = wrapFetchWithPayment(createOlderFetch(sent), client)
  const response = await pay(`${world.url}/blocks/3,4?name=Ada&message=from+version+1`)
  expect(response.status).toBe(200)
  expect(sent).toEqual(['x-payment'])
  expect(await response.json()).toMatchObject({ block: '3,4', deed: { name: 'Ada', message: 'from version 1' } })
  expect(JSON.parse(atob(response.headers.get('x-payment-response') ?? ''))).toMatchObject({
    success: true,
    network: 'base',
    payer: wallet.address,
  })
  expect(await world.readBalance(wallet)).toBe(1)
})

test('a client that supports both versions of x402 uses version 2', async () => {
  const wallet = await world.createFundedWallet(2)
  const client = new x402Client()
    .register('eip155:8453', new ExactEvmScheme(wallet))
    .registerV1('base', new ExactEvmSchemeV1(wallet))
  const response = await wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/5,4?name=Ada`)
  expect([response.status, response.headers.has('payment-response')]).toEqual([200, true])
  expect(response.headers.has('x-payment-response')).toBe(false)
  expect(await (await fetchBlock(world, '5,4')).json()).toMatchObject({ state: 'claimed', owner: { name: 'Ada' } })
})
