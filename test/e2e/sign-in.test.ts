import { beforeAll, describe, expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { getAddress, type Hex } from 'viem'
import { wall } from '../../server/client/wall.ts'
import { newWallet, type Wallet } from '../../server/local/wallets.ts'
import { type ContractWallets, factoryAddress, placeFactory, wrapped } from '../support/chain/contract-wallet/deploy.ts'
import { ENGINES, shareWorld, type World } from '../support/e2e/world.ts'
import { sendWhile } from '../support/wait.ts'

// Goal: a stock x402 client that only pays and signs in buys, repaints and names itself, whatever its wallet is. Method: a real
// chain with real contracts, and the client's own extension; nothing of ours signs or reads a demand.

type Signed = { readonly message: string }
type Signer = { readonly address: `0x${string}`; signMessage(signed: Signed): Promise<Hex> }

/** The stock client, which signs in by `signer`. */
const fetchAs = (signer: Signer, client = new x402Client()) =>
  wrapFetchWithPayment(
    fetch,
    client.registerExtension(
      createSIWxClientExtension({ signers: [{ ...signer, address: getAddress(signer.address) }] }),
    ),
  )

describe.each(ENGINES)('on %s', (engine) => {
  let world: World
  let contracts: ContractWallets
  shareWorld((opened) => void (world = opened), engine, {}, { allowedFactories: [factoryAddress] })
  beforeAll(async () => {
    contracts = await placeFactory(world.network.client)
  })

  /** Buys a block by a key, with a painter if there is one. */
  async function bought(coord: string, painter?: string): Promise<Wallet> {
    const owner = await world.wallet(1)
    const client = new x402Client().register('eip155:8453', new ExactEvmScheme(owner))
    const query = painter === undefined ? '' : `?painter=${painter}`
    expect((await wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/${coord}${query}`)).status).toBe(200)
    return owner
  }

  const post = (as: Signer, path: string, body: object) =>
    sendWhile(503, () =>
      fetchAs(as)(world.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )

  async function repaints(as: Signer, coord: string): Promise<void> {
    const response = await post(as, `/blocks/${coord}`, { message: `by ${as.address}`.slice(0, 30) })
    expect([response.status, await response.json()]).toMatchObject([200, { updated: true }])
    const stranger = newWallet()
    const theirs = await post({ ...as, signMessage: (signed) => stranger.signMessage(signed) }, `/blocks/${coord}`, {
      message: 'mine',
    })
    expect([theirs.status, await theirs.json()]).toMatchObject([401, { error: 'unauthorized' }])
    const deed = await (await fetch(`${world.url}/blocks/${coord}`)).json()
    expect(deed).toMatchObject({ message: `by ${as.address}`.slice(0, 30) })
  }

  test('a key repaints its block and names itself', async () => {
    const owner = await bought('1,1')
    await repaints(owner, '1,1')
    const named = await post(owner, '/api/agents/me', { name: 'Ada' })
    expect([named.status, await named.json()]).toMatchObject([200, { updated: true, agent: { name: 'Ada' } }])
    expect(await world.dollarsOf(owner)).toBe(0)
  })

  test('our client repaints for a wallet that only signs in, and says so when it does not', async () => {
    const owner = await bought('4,1')
    const it = wall(world.url, { signIn: fetchAs(owner) })
    expect(await it.repaint('4,1', { message: 'by our client' })).toMatchObject({ deed: { message: 'by our client' } })
    const pixels = new Uint8Array(100).fill(7)
    expect(await it.repaintArea('4,1,1x1', { pixels })).toMatchObject({ updated: true, blocks: 1 })
    const unable = wall(world.url, { signIn: () => Promise.reject(new Error('no such extension')) })
    await expect(unable.repaint('4,1', { message: 'no' })).rejects.toMatchObject({ code: 'sign_in_failed' })
  })

  test('a contract wallet repaints (EIP-1271)', async () => {
    const owner = newWallet()
    const address = await contracts.deploy(owner)
    await bought('2,1', address)
    await repaints({ address, signMessage: (signed) => owner.signMessage(signed) }, '2,1')
  })

  test('a contract wallet that is not deployed yet repaints (EIP-6492)', async () => {
    const owner = newWallet()
    const address = await contracts.addressOf(owner)
    await bought('3,1', address)
    const signMessage = async (signed: Signed) => wrapped(await owner.signMessage(signed), owner)
    await repaints({ address, signMessage }, '3,1')
    expect(await world.network.client.getCode({ address })).toBeUndefined()
  })
})
