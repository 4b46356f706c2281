import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { x402Client } from '@x402/core/client'
import { decodePaymentResponseHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { Agents } from '../../shared/contract/agent.ts'
import { Deed, Receipt } from '../../shared/contract/block.ts'
import { Canvas } from '../../shared/contract/canvas.ts'
import { Sale } from '../../shared/contract/feed.ts'
import { PALETTE } from '../../shared/palette.ts'
import { editMessage, registerMessage } from '../../shared/signing.ts'
import { truncatedWallet } from '../../shared/wallet.ts'
import { buyBlock, get } from '../support/e2e/buyer.ts'
import { canvasWhen, readCanvas, readFeed } from '../support/e2e/read-wall.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'

let world: World

describe('a wall on a file', () => {
  shareWorld((opened) => void (world = opened))

  const px = '0102'.repeat(50)

  test('a stock client with its default spend cap buys, and everyone tells the same story', async () => {
    const wallet = await world.wallet(5)
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
    expect(await world.dollarsOf(wallet)).toBe(4)
    expect(await world.network.client.getTransactionReceipt({ hash: tx as `0x${string}` })).toMatchObject({
      status: 'success',
    })

    const owner = { name: 'Ada', wallet: truncatedWallet(wallet.address), framework: 'eliza' }
    const pixels = Uint8Array.fromHex(px).toBase64()
    const deed = Value.Parse(Deed, await (await get(world, '10,20')).json())
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

  test('an owner repaints, and names itself, with signatures alone', async () => {
    const wallet = await world.wallet()
    const host = new URL(world.url).hostname
    await buyBlock(world, wallet, '11,20')

    const edit = { pixels: px.toUpperCase(), message: 'repainted', link: null }
    const ts = Date.now()
    const signature = await wallet.signMessage({ message: editMessage(host, '11,20', ts, edit) })
    const painted = await put(`${world.url}/blocks/11,20`, { ts, signature, ...edit })
    expect(painted).toMatchObject({ status: 200, body: { updated: true, deed: { message: 'repainted', link: null } } })

    const identity = { name: 'Babbage', framework: null }
    const signed = await wallet.signMessage({ message: registerMessage(host, wallet.address, ts, identity) })
    const named = await put(`${world.url}/api/agents/me`, {
      wallet: wallet.address,
      ts,
      signature: signed,
      ...identity,
    })
    expect(named).toMatchObject({ status: 200, body: { updated: true, agent: { name: 'Babbage', blocks: 1 } } })

    const canvas = await canvasWhen(world, ({ agents }) => agents.some(({ name }) => name === 'Babbage'))
    const block = canvas.blocks.find(({ i }) => i === 20 * 160 + 11)
    expect(block).toMatchObject({ m: 'repainted', px: Uint8Array.fromHex(px).toBase64() })
    expect(canvas.agents[block?.a ?? -1]).toMatchObject({ name: 'Babbage' })
  })
})

async function put(address: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(address, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}
