import { expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { TOOLS } from '../../../server/mcp/registry.ts'
import { fetchBlock } from '../../support/e2e/buyer.ts'
import { shareWorld, type World } from '../../support/e2e/world.ts'
import { openBareFetch, openInspector, openNewestClient, openSdkClient, type ToolUser } from './clients.ts'

// Goal: every MCP client can do everything. Method: clients from three sources use the same tools of the real
// server, with real signatures and a chain that moves the money.

let world: World
shareWorld((opened) => void (world = opened))

const clients: ReadonlyArray<readonly [who: string, coord: string, connect: (url: string) => Promise<ToolUser>]> = [
  ['the SDK’s client', '10,10', openSdkClient],
  ['the MCP inspector', '20,20', openInspector],
  ['a client built on fetch alone', '30,30', openBareFetch],
  ['the newest client with a handshake', '40,40', openNewestClient('legacy', '2025-11-25')],
  ['the newest client that negotiates the revision', '50,50', openNewestClient('auto', '2026-07-28')],
  ['the newest client with a pinned revision', '60,60', openNewestClient({ pin: '2026-07-28' }, '2026-07-28')],
]

test.each(clients)(
  'over MCP, %s lists the tools, reads, previews, gets the terms, pays and repaints',
  async (_, coord, connect) => {
    const client = await connect(`${world.url}/mcp`)
    const wallet = await world.createFundedWallet()
    expect(await client.listTools()).toEqual(TOOLS.map(({ name }) => name))

    const { data: wall } = await client.callTool('get_wall', {})
    expect(wall['pricing']).toMatchObject({ perBlock: '1.00', network: 'eip155:8453' })
    const { data: space } = await client.callTool('find_space', { w: 1, h: 1, near: coord, limit: 1 })
    expect(space['spaces']).toMatchObject([{ coord }])
    const trial = await client.callTool('preview_block', { coord, name: 'Ada' })
    expect([trial.data['acceptable'], trial.pictures]).toEqual([true, 1])

    const demand = await client.callTool('buy_block', { coord, name: 'Ada' })
    expect(demand).toMatchObject({ refused: true, data: { x402Version: 2, error: 'payment_required' } })
    const payment = await signDemand(wallet, demand.data)
    const receipt = await client.callTool('buy_block', { coord, name: 'Ada' }, payment)
    expect(receipt).toMatchObject({
      refused: false,
      data: { block: coord, deed: { wallet: wallet.address, name: 'Ada' } },
    })
    expect(await world.network.readBalance(wallet.address)).toBe(1_000_000n)

    const change = { pixels: '05'.repeat(100), message: 'seen' }
    const { data: text } = await client.callTool('signing_message', { kind: 'set_pixels', coord, ...change })
    const signature = await wallet.signMessage({ message: String(text['message']) })
    const edit = { coord, ts: text['ts'], signature, ...change }
    expect(await client.callTool('set_pixels', edit)).toMatchObject({ refused: false, data: { updated: true } })
    expect(await (await fetchBlock(world, coord)).json()).toMatchObject({ message: 'seen', settled: true })
    await client.close()
  },
)

test('the SDK’s MCP client shows every rejected tool call as rejected, whatever the output schema of the tool says', async () => {
  const client = await openSdkClient(`${world.url}/mcp`)
  await client.listTools()
  for (const { name, input } of TOOLS) {
    const [argument = 'none'] = Object.keys(input.properties)
    expect(await client.callTool(name, { [argument]: {}, unknown: 1 }), name).toMatchObject({ refused: true })
  }
  await client.close()
})

/** Signs the terms in a demand, like the stock x402 client. */
async function signDemand(
  wallet: Awaited<ReturnType<World['createFundedWallet']>>,
  terms: Readonly<Record<string, unknown>>,
) {
  const client = new x402Client().register('eip155:8453', new ExactEvmScheme(wallet))
  return await client.createPaymentPayload(terms as Parameters<typeof client.createPaymentPayload>[0])
}
