import { beforeAll, describe, expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { getAddress, type Hex } from 'viem'
import { wall } from '../../server/client/wall.ts'
import { createWallet, type Wallet } from '../../server/local/wallets.ts'
import { truncateWallet } from '../../shared/wallet.ts'
import {
  type ContractWallets,
  encodeDeployCall,
  factoryAddress,
  installFactory,
  wrapForOwner,
} from '../support/chain/contract-wallet/deploy.ts'
import { fetchBlock, type Payer, sendUntilSettled, signBlockPayment } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { sendWhile, waitUntil } from '../support/wait.ts'

// Goal: contract wallets can do everything that keys can, from the demand to the repaint. Method: real contracts,
// factory and facilitator, and the stock client with a signer whose address is the contract's.

let world: World
let contracts: ContractWallets

shareWorld((opened) => void (world = opened), {}, { allowedFactories: [factoryAddress] })
beforeAll(async () => {
  contracts = await installFactory(world.network.client)
})

/** Pays with an account, and signs texts for it. */
type Holder = { readonly payer: Payer; signText(message: string): Promise<Hex> }

/** Turns the signature of an owner into a signature of the owner's contract wallet. */
type Form = (signature: Hex, owner: Wallet) => Hex
const keepSignature: Form = (signature) => signature

const createHolder = (address: `0x${string}`, owner: Wallet, form: Form = keepSignature): Holder => ({
  payer: { address, signTypedData: async (typed) => form(await owner.signTypedData(typed as never), owner) },
  signText: (message) => owner.signMessage({ message }),
})

/** A contract wallet on the chain (EIP-1271). */
async function deployHolder(dollars = 1): Promise<Holder> {
  const owner = createWallet()
  const address = await contracts.deploy(owner)
  await world.network.fund(address, dollars)
  return createHolder(address, owner)
}

/** A contract wallet that is deployed by its first payment (EIP-6492). */
async function createUndeployedHolder(form: Form = wrapForOwner): Promise<Holder> {
  const owner = createWallet()
  const address = await contracts.readWalletAddress(owner)
  await world.network.fund(address, 1)
  return createHolder(address, owner, form)
}

/** A key's account that has delegated to code (EIP-7702). */
async function createDelegatedHolder(): Promise<Holder> {
  const account = await world.createFundedWallet(1)
  await contracts.delegateAccount(account)
  return createHolder(account.address, account)
}

const buyBlock = ({ payer }: Holder, target: string) => {
  const client = new x402Client().register('eip155:8453', new ExactEvmScheme(payer))
  return wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/${target}`)
}

type SignMessage = (signed: { readonly message: string }) => Promise<Hex>

/** A `fetch` with the stock client, for a wallet that only signs in; it signs with `signMessage`. */
const createSigningFetch = (
  { payer: { address }, signText }: Holder,
  signMessage: SignMessage = ({ message }) => signText(message),
) => {
  const extension = createSIWxClientExtension({ signers: [{ address: getAddress(address), signMessage }] })
  return wrapFetchWithPayment(fetch, new x402Client().registerExtension(extension))
}

/**
 * Sends a change by `createSigningFetch`, and resends it while the response is 503, because so many contract queries in
 * a row are rate-limited.
 */
async function sendSignedIn(
  holder: Holder,
  path: string,
  change: object,
  signMessage?: SignMessage,
): Promise<Response> {
  const [send, headers] = [createSigningFetch(holder, signMessage), { 'content-type': 'application/json' }]
  return await sendWhile(503, () => send(world.url + path, { method: 'POST', headers, body: JSON.stringify(change) }))
}

const readErrorCode = async (response: Response) => ((await response.json()) as { readonly error: unknown }).error

describe.each([
  ['a contract wallet (EIP-1271)', '1,1', deployHolder],
  ['a contract wallet that its first payment deploys (EIP-6492)', '2,1', createUndeployedHolder],
  ['an account that has delegated to code (EIP-7702)', '3,1', createDelegatedHolder],
] as const)('%s', (_, target, newHolder) => {
  let holder: Holder
  beforeAll(async () => {
    holder = await newHolder()
  })

  test('a contract wallet buys a block with a stock client, and the deed of the block is public', async () => {
    const response = await buyBlock(holder, `${target}?message=bought`)
    expect(response.status).toBe(200)
    const { address } = holder.payer
    expect(await response.json()).toMatchObject({ block: target, owner: 'you', deed: { wallet: getAddress(address) } })
    expect(await world.network.readBalance(address)).toBe(0n)
    expect(await world.network.client.getCode({ address })).not.toBeUndefined()
    const deed = { owner: { wallet: truncateWallet(address) }, message: 'bought', settled: true }
    expect(await (await fetchBlock(world, target)).json()).toMatchObject(deed)
  })

  test('a contract wallet can repaint its block with a client that only signs in, and another wallet cannot repaint that block', async () => {
    const stranger = createWallet()
    const theirs = await sendSignedIn(holder, `/blocks/${target}`, { message: 'mine' }, stranger.signMessage)
    expect([theirs.status, await readErrorCode(theirs)]).toEqual([401, 'unauthorized'])
    const ours = await sendSignedIn(holder, `/blocks/${target}`, { message: 'signed in' })
    expect([ours.status, await ours.json()]).toMatchObject([200, { deed: { message: 'signed in' } }])
  })
})

test('a wallet with a key sets its name for free with a client that only signs in', async () => {
  const key = await world.createFundedWallet(1)
  const holder = createHolder(key.address, key)
  expect((await buyBlock(holder, '8,1')).status).toBe(200)
  const named = await sendSignedIn(holder, '/api/agents/me', { name: 'Ada' })
  expect([named.status, await named.json()]).toMatchObject([200, { updated: true, agent: { name: 'Ada' } }])
  expect(await world.readBalance(key)).toBe(0)
})

test('our client repaints for a wallet that only signs in, and reports a failed sign-in', async () => {
  const key = await world.createFundedWallet(1)
  const holder = createHolder(key.address, key)
  expect((await buyBlock(holder, '10,1')).status).toBe(200)
  const ours = wall(world.url, { signIn: createSigningFetch(holder) })
  expect(await ours.repaint('10,1', { message: 'by our client' })).toMatchObject({ deed: { message: 'by our client' } })
  const pixels = new Uint8Array(100).fill(7)
  expect(await ours.repaintArea('10,1,1x1', { pixels })).toMatchObject({ updated: true, blocks: 1 })
  const unable = wall(world.url, { signIn: () => Promise.reject(new Error('no such extension')) })
  await expect(unable.repaint('10,1', { message: 'no' })).rejects.toMatchObject({ code: 'sign_in_failed' })
})

test('a contract wallet that is not deployed paints with a client that only signs in (EIP-6492)', async () => {
  const [key, owner] = [await world.createFundedWallet(1), createWallet()]
  const address = await contracts.readWalletAddress(owner)
  expect((await buyBlock(createHolder(key.address, key), `9,1?painter=${address}`)).status).toBe(200)
  const signText = async (message: string) => wrapForOwner(await owner.signMessage({ message }), owner)
  const painted = await sendSignedIn({ ...createHolder(address, owner), signText }, '/blocks/9,1', {
    message: 'painted',
  })
  expect([painted.status, await painted.json()]).toMatchObject([200, { deed: { message: 'painted' } }])
  expect(await world.network.client.getCode({ address })).toBeUndefined()
})

describe('a payment by a contract wallet', () => {
  test('if the response to a payment by a contract wallet is lost, the resent payment buys one block for one dollar', async () => {
    const holder = await deployHolder(2)
    const payment = await signBlockPayment(world, holder.payer, '4,1')
    world.facilitator.settle.queueFaults('reset-after')
    expect([200, 503]).toContain((await fetchBlock(world, '4,1', payment)).status)
    const response = await sendUntilSettled(world, '4,1', payment)
    expect([response.status, (await response.json()) as object]).toMatchObject([200, { block: '4,1', owner: 'you' }])
    expect(await world.readBalance(holder.payer)).toBe(1)
  })

  test('if an earlier payment emptied a contract wallet, a newly signed payment gets the receipt of the earlier one', async () => {
    const holder = await deployHolder()
    const [first, second] = [
      await signBlockPayment(world, holder.payer, '7,1'),
      await signBlockPayment(world, holder.payer, '7,1'),
    ]
    world.facilitator.settle.setDefault('error-before')
    expect((await fetchBlock(world, '7,1', first)).status).toBe(503)
    world.facilitator.settle.setDefault('honest')
    const { address } = holder.payer
    await waitUntil(async () => (await world.network.readBalance(address)) === 0n)
    const response = await sendUntilSettled(world, '7,1', second)
    expect([response.status, (await response.json()) as object]).toMatchObject([200, { block: '7,1', owner: 'you' }])
  })

  test('if a facilitator calls a valid signature invalid, the response is 502, and the same payment can still buy the block', async () => {
    const holder = await deployHolder()
    const payment = await signBlockPayment(world, holder.payer, '5,1')
    world.facilitator.verify.queueFaults('bad-signature')
    const blind = await fetchBlock(world, '5,1', payment)
    expect([blind.status, await readErrorCode(blind)]).toEqual([502, 'facilitator_unavailable'])
    expect((await fetchBlock(world, '5,1', payment)).status).toBe(200)
  })

  test('a payment is rejected if the paying contract wallet did not sign it, or if the code of the paying account rejects the signature', async () => {
    const { payer } = await deployHolder()
    const shut = await world.createFundedWallet(1)
    await world.network.client.setCode({ address: shut.address, bytecode: '0x60006000fd' })
    for (const { payer: forger } of [createHolder(payer.address, createWallet()), createHolder(shut.address, shut)]) {
      const response = await sendUntilSettled(world, '6,1', await signBlockPayment(world, forger, '6,1'))
      expect([response.status, await readErrorCode(response)]).toEqual([402, 'payment_required'])
      expect(await world.readBalance(forger)).toBe(1)
    }
  })

  test('a payment by a wallet whose factory the facilitator does not allow is rejected and not charged', async () => {
    const { network } = world
    const elsewhere = createWallet().address
    await network.client.setCode({
      address: elsewhere,
      bytecode: (await network.client.getCode({ address: factoryAddress })) ?? '0x',
    })
    const holder = await createUndeployedHolder((signature, owner) =>
      wrapForOwner(signature, owner, encodeDeployCall(owner), elsewhere),
    )
    const response = await sendUntilSettled(world, '6,1', await signBlockPayment(world, holder.payer, '6,1'))
    expect(response.status).toBe(402)
    expect(await network.readBalance(holder.payer.address)).toBe(1_000_000n)
  })
})
