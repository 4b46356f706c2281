import { beforeAll, describe, expect, test } from 'bun:test'
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { getAddress, type Hex } from 'viem'
import { newWallet, type Wallet } from '../../server/local/wallets.ts'
import { editMessage } from '../../shared/signing.ts'
import { truncatedWallet } from '../../shared/wallet.ts'
import {
  type ContractWallets,
  deployCall,
  factoryAddress,
  placeFactory,
  wrapped,
} from '../support/chain/contract-wallet/deploy.ts'
import { get, type Payer, settled, sign } from '../support/e2e/buyer.ts'
import { shareWorld, type World } from '../support/e2e/world.ts'
import { sendWhile, waitUntil } from '../support/wait.ts'

// Goal: whoever pays by a contract gets what others get, from the demand to the repaint. Method: real contracts, factory and
// facilitator, and the stock client with a signer whose address is the contract's.

let world: World
let contracts: ContractWallets

shareWorld((opened) => void (world = opened), 'SQLite', {}, { allowedFactories: [factoryAddress] })
beforeAll(async () => {
  contracts = await placeFactory(world.network.client)
})

/** Who pays by an account, and signs texts for it. */
type Holder = { readonly payer: Payer; signText(message: string): Promise<Hex> }

/** A signature of a contract wallet, as its owner's client makes it. */
type Form = (signature: Hex, owner: Wallet) => Hex
const plain: Form = (signature) => signature

const holderOf = (address: `0x${string}`, owner: Wallet, form: Form = plain): Holder => ({
  payer: { address, signTypedData: async (typed) => form(await owner.signTypedData(typed as never), owner) },
  signText: (message) => owner.signMessage({ message }),
})

/** A contract wallet on the chain (EIP-1271). */
async function deployed(dollars = 1): Promise<Holder> {
  const owner = newWallet()
  const address = await contracts.deploy(owner)
  await world.network.fund(address, dollars)
  return holderOf(address, owner)
}

/** A contract wallet that is deployed by its first payment (EIP-6492). */
async function undeployed(form: Form = wrapped): Promise<Holder> {
  const owner = newWallet()
  const address = await contracts.addressOf(owner)
  await world.network.fund(address, 1)
  return holderOf(address, owner, form)
}

/** A key's account that has delegated to code (EIP-7702). */
async function delegated(): Promise<Holder> {
  const account = await world.wallet(1)
  await contracts.delegate(account)
  return holderOf(account.address, account)
}

const buy = ({ payer }: Holder, target: string) => {
  const client = new x402Client().register('eip155:8453', new ExactEvmScheme(payer))
  return wrapFetchWithPayment(fetch, client)(`${world.url}/blocks/${target}`)
}

/** Sends a change until it is looked at: so many contracts in a row as here are asked only by and by. */
async function repaint(target: string, signText: Holder['signText']): Promise<Response> {
  const [host, ts, fields] = [new URL(world.url).hostname, Date.now(), { message: 'repainted' }]
  const signature = await signText(editMessage(host, target, ts, fields))
  const body = JSON.stringify({ ts, signature, ...fields })
  const headers = { 'content-type': 'application/json' }
  return await sendWhile(503, () => fetch(`${world.url}/blocks/${target}`, { method: 'PUT', headers, body }))
}

const codeOf = async (response: Response) => ((await response.json()) as { readonly error: unknown }).error

describe.each([
  ['a contract wallet (EIP-1271)', '1,1', deployed],
  ['a contract wallet that its first payment deploys (EIP-6492)', '2,1', undeployed],
  ['an account that has delegated to code (EIP-7702)', '3,1', delegated],
] as const)('%s', (_, target, newHolder) => {
  let holder: Holder
  beforeAll(async () => {
    holder = await newHolder()
  })

  test('buys a block with a stock client, and everybody reads its deed', async () => {
    const response = await buy(holder, `${target}?message=bought`)
    expect(response.status).toBe(200)
    const { address } = holder.payer
    expect(await response.json()).toMatchObject({ block: target, owner: 'you', deed: { wallet: getAddress(address) } })
    expect(await world.network.balanceOf(address)).toBe(0n)
    expect(await world.network.client.getCode({ address })).not.toBeUndefined()
    const deed = { owner: { wallet: truncatedWallet(address) }, message: 'bought', settled: true }
    expect(await (await get(world, target)).json()).toMatchObject(deed)
  })

  test('repaints it, as nobody else can', async () => {
    const stranger = newWallet()
    const theirs = await repaint(target, (message) => stranger.signMessage({ message }))
    expect([theirs.status, await codeOf(theirs)]).toEqual([401, 'unauthorized'])
    const ours = await repaint(target, holder.signText)
    expect(ours.status).toBe(200)
    expect(await ours.json()).toMatchObject({ updated: true, deed: { message: 'repainted' } })
  })
})

describe('a payment by a contract wallet', () => {
  test('whose answer was lost is one block and one dollar', async () => {
    const holder = await deployed(2)
    const payment = await sign(world, holder.payer, '4,1')
    world.facilitator.settle.next('reset-after')
    expect([200, 503]).toContain((await get(world, '4,1', payment)).status)
    const response = await settled(world, '4,1', payment)
    expect([response.status, (await response.json()) as object]).toMatchObject([200, { block: '4,1', owner: 'you' }])
    expect(await world.dollarsOf(holder.payer)).toBe(1)
  })

  test('that emptied its wallet is handed over to a client that signs anew', async () => {
    const holder = await deployed()
    const [payment, anew] = [await sign(world, holder.payer, '7,1'), await sign(world, holder.payer, '7,1')]
    world.facilitator.settle.always('error-before')
    expect((await get(world, '7,1', payment)).status).toBe(503)
    world.facilitator.settle.always('honest')
    const { address } = holder.payer
    await waitUntil(async () => (await world.network.balanceOf(address)) === 0n)
    const response = await settled(world, '7,1', anew)
    expect([response.status, (await response.json()) as object]).toMatchObject([200, { block: '7,1', owner: 'you' }])
  })

  test('with a good signature that a blind facilitator calls bad is not the payer’s fault', async () => {
    const holder = await deployed()
    const payment = await sign(world, holder.payer, '5,1')
    world.facilitator.verify.next('bad-signature')
    const blind = await get(world, '5,1', payment)
    expect([blind.status, await codeOf(blind)]).toEqual([502, 'facilitator_unavailable'])
    expect((await get(world, '5,1', payment)).status).toBe(200)
  })

  test('is refused where the contract did not sign it, or its account’s code takes no signature of its key', async () => {
    const { payer } = await deployed()
    const shut = await world.wallet(1)
    await world.network.client.setCode({ address: shut.address, bytecode: '0x60006000fd' })
    for (const { payer: forger } of [holderOf(payer.address, newWallet()), holderOf(shut.address, shut)]) {
      const response = await settled(world, '6,1', await sign(world, forger, '6,1'))
      expect([response.status, await codeOf(response)]).toEqual([402, 'payment_required'])
      expect(await world.dollarsOf(forger)).toBe(1)
    }
  })

  test('is refused with its reason where its wallet comes from a factory that the facilitator does not call', async () => {
    const { network } = world
    const elsewhere = newWallet().address
    await network.client.setCode({
      address: elsewhere,
      bytecode: (await network.client.getCode({ address: factoryAddress })) ?? '0x',
    })
    const holder = await undeployed((signature, owner) => wrapped(signature, owner, deployCall(owner), elsewhere))
    const response = await settled(world, '6,1', await sign(world, holder.payer, '6,1'))
    expect(response.status).toBe(402)
    expect(await network.balanceOf(holder.payer.address)).toBe(1_000_000n)
  })
})
