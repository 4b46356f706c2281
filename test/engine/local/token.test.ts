import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodeFunctionData, parseEther, parseEventLogs, parseSignature } from 'viem'
import type { Address, Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { startLocalNetwork } from '../../../server/local/network.ts'
import type { LocalNetwork } from '../../../server/local/network.ts'
import artefacts from '../../../server/local/token/artefacts.json' with { type: 'json' }
import { compileContracts } from '../../../server/local/token/compile.ts'
import { dollarAbi, dollarAddress, minterAddress } from '../../../server/local/token/contracts.ts'
import type { Wallet } from '../../../server/local/wallets.ts'

const payee: Address = '0x000000000000000000000000000000000000bEEF'
// Anyone may submit an authorization, so most tests send them from an account that is neither payer nor payee.
const relayer: Address = '0x00000000000000000000000000000000000057a6'
const forever = 2n ** 40n

let network: LocalNetwork
beforeAll(async () => {
  network = await startLocalNetwork()
  for (const address of [relayer, payee]) await network.client.setBalance({ address, value: parseEther('10') })
})
afterAll(() => network.stop())

test('the committed artefacts are what the sources compile to', async () => {
  expect(await compileContracts()).toEqual(artefacts)
})

test('the typed ABI lists exactly what the compiled dollar offers', () => {
  expect(dollarAbi.map(shape).toSorted()).toEqual(artefacts.contracts.Dollar.abi.map(shape).toSorted())
})

test('the dollar says of itself what USDC on Base says', async () => {
  const read = (functionName: 'name' | 'symbol' | 'version' | 'decimals' | 'DOMAIN_SEPARATOR' | 'MINTER') =>
    network.client.readContract({ address: dollarAddress, abi: dollarAbi, functionName })
  expect(await read('name')).toBe('USD Coin')
  expect(await read('symbol')).toBe('USDC')
  expect(await read('version')).toBe('2')
  expect(await read('decimals')).toBe(6)
  expect(await read('DOMAIN_SEPARATOR')).toBe('0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f')
  expect((await read('MINTER')).toString().toLowerCase()).toBe(minterAddress)
})

test('no one but the minter prints dollars', async () => {
  const mint = encodeFunctionData({ abi: dollarAbi, functionName: 'mint', args: [relayer, 1n] })
  await expect(simulate(relayer, mint)).rejects.toThrow('caller is not the minter')
})

test('a payment moves the dollars and reports its nonce directly before its transfer', async () => {
  const payer = await network.wallet(2)
  const authorization = terms(payer)
  const { status, logs } = await submit(
    pay(authorization, await sign(payer, 'TransferWithAuthorization', authorization)),
  )
  expect(status).toBe('success')
  expect(parseEventLogs({ abi: dollarAbi, logs }).map(({ eventName, args }) => ({ eventName, args }))).toEqual([
    { eventName: 'AuthorizationUsed', args: { authorizer: payer.address, nonce: authorization.nonce } },
    { eventName: 'Transfer', args: { from: payer.address, to: payee, value: 1_000_000n } },
  ])
  expect(await network.balanceOf(payer.address)).toBe(1_000_000n)
})

test('both forms of signature pay', async () => {
  const payer = await network.wallet(1)
  const authorization = terms(payer)
  const { r, s, yParity } = parseSignature(await sign(payer, 'TransferWithAuthorization', authorization))
  const args = [...list(authorization), 27 + yParity, r, s] as const
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'transferWithAuthorization', args })
  expect((await submit(data)).status).toBe('success')
  expect(await network.balanceOf(payer.address)).toBe(0n)
})

test('an authorization counts strictly after validAfter and strictly before validBefore', async () => {
  const payer = await network.wallet(3)
  const start = (await network.client.getBlock()).timestamp + 100n
  const at = async (timestamp: bigint, validAfter: bigint, validBefore: bigint) => {
    const authorization = { ...terms(payer), validAfter, validBefore }
    const data = pay(authorization, await sign(payer, 'TransferWithAuthorization', authorization))
    await network.client.setNextBlockTimestamp({ timestamp })
    return (await submit(data)).status
  }
  expect(await at(start, start, forever)).toBe('reverted')
  expect(await at(start + 10n, 0n, start + 10n)).toBe('reverted')
  expect(await at(start + 20n, start + 19n, start + 21n)).toBe('success')
})

test('a nonce pays once', async () => {
  const payer = await network.wallet(2)
  const data = pay(terms(payer), await sign(payer, 'TransferWithAuthorization', terms(payer)))
  expect((await submit(data)).status).toBe('success')
  await expect(simulate(relayer, data)).rejects.toThrow('authorization is used or canceled')
  expect((await submit(data)).status).toBe('reverted')
  expect(await network.balanceOf(payer.address)).toBe(1_000_000n)
})

test('a canceled nonce is spent without a payment', async () => {
  const payer = await network.wallet(1)
  const { nonce } = terms(payer)
  const signature = await sign(payer, 'CancelAuthorization', { authorizer: payer.address, nonce })
  const cancel = encodeFunctionData({
    abi: dollarAbi,
    functionName: 'cancelAuthorization',
    args: [payer.address, nonce, signature],
  })
  const { logs } = await submit(cancel)
  expect(parseEventLogs({ abi: dollarAbi, logs }).map((log) => log.eventName)).toEqual(['AuthorizationCanceled'])
  expect(await isSpent(payer.address, nonce)).toBe(true)
  const payment = pay(terms(payer), await sign(payer, 'TransferWithAuthorization', terms(payer)))
  await expect(simulate(relayer, payment)).rejects.toThrow('authorization is used or canceled')
})

test('a payment to be received is collected by its payee alone', async () => {
  const payer = await network.wallet(1)
  const signature = await sign(payer, 'ReceiveWithAuthorization', terms(payer))
  const args = [...list(terms(payer)), signature] as const
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'receiveWithAuthorization', args })
  await expect(simulate(relayer, data)).rejects.toThrow('caller must be the payee')
  expect((await submit(data, payee)).status).toBe('success')
  expect(await network.balanceOf(payer.address)).toBe(0n)
})

test("a signature's twin, a stranger's signature and altered terms are all refused", async () => {
  const payer = await network.wallet(1)
  const stranger = await network.wallet(1)
  const authorization = terms(payer)
  const genuine = await sign(payer, 'TransferWithAuthorization', authorization)
  const refused = [
    pay(authorization, twin(genuine)),
    pay(authorization, await sign(stranger, 'TransferWithAuthorization', authorization)),
    pay(authorization, '0x'),
    pay({ ...authorization, value: 999_999n }, genuine),
    pay({ ...authorization, to: relayer }, genuine),
  ]
  for (const data of refused) await expect(simulate(relayer, data)).rejects.toThrow('invalid signature')
  expect((await submit(pay(authorization, genuine))).status).toBe('success')
})

test('more than the payer holds does not move', async () => {
  const payer = await network.wallet(0.999999)
  const data = pay(terms(payer), await sign(payer, 'TransferWithAuthorization', terms(payer)))
  await expect(simulate(relayer, data)).rejects.toThrow('transfer amount exceeds balance')
})

test('a payer with code decides by its own code, and its key no longer counts', async () => {
  const payer = await network.wallet(2)
  const ownKey = await sign(payer, 'TransferWithAuthorization', terms(payer))
  // Answers zero to every question, and then EIP-1271's yes, the word 0x1626ba7e.
  await network.client.setCode({ address: payer.address, bytecode: '0x60206000f3' })
  await expect(simulate(relayer, pay(terms(payer), ownKey))).rejects.toThrow('invalid signature')
  await network.client.setCode({ address: payer.address, bytecode: '0x631626ba7e60e01b60005260206000f3' })
  expect((await submit(pay(terms(payer), '0x1234'))).status).toBe('success')
})

test('plain transfers and allowances work as in any token', async () => {
  await network.fund(relayer, 3)
  const before = await network.balanceOf(payee)
  await submit(encodeFunctionData({ abi: dollarAbi, functionName: 'transfer', args: [payee, 1_000_000n] }))
  await submit(encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args: [payee, 2_000_000n] }))
  const draw = encodeFunctionData({ abi: dollarAbi, functionName: 'transferFrom', args: [relayer, payee, 1_500_000n] })
  expect((await submit(draw, payee)).status).toBe('success')
  await expect(simulate(payee, draw)).rejects.toThrow('transfer amount exceeds allowance')
  expect((await network.balanceOf(payee)) - before).toBe(2_500_000n)
})

type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

const nonces = new Map<Address, Hex>()
function nonceOf(address: Address): Hex {
  const nonce = nonces.get(address) ?? generatePrivateKey()
  nonces.set(address, nonce)
  return nonce
}

function terms(payer: Wallet): Authorization {
  const nonce = nonceOf(payer.address)
  return { from: payer.address, to: payee, value: 1_000_000n, validAfter: 0n, validBefore: forever, nonce }
}

const list = ({ from, to, value, validAfter, validBefore, nonce }: Authorization) =>
  [from, to, value, validAfter, validBefore, nonce] as const

const payment = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

const types = {
  TransferWithAuthorization: payment,
  ReceiveWithAuthorization: payment,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

function sign(wallet: Wallet, primaryType: keyof typeof types, message: Record<string, unknown>): Promise<Hex> {
  const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: dollarAddress }
  return wallet.signTypedData<Record<string, unknown>, string>({ domain, types, primaryType, message })
}

/** The other signature of the same key over the same text: `s` mirrored at the curve's order. */
function twin(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { r, s, yParity } = parseSignature(signature)
  const mirrored = (order - BigInt(s)).toString(16).padStart(64, '0')
  return `${r}${mirrored}${yParity === 0 ? '1c' : '1b'}`
}

function pay(authorization: Authorization, signature: Hex): Hex {
  const args = [...list(authorization), signature] as const
  return encodeFunctionData({ abi: dollarAbi, functionName: 'transferWithAuthorization', args })
}

/** Sends a call whether or not it will revert, and returns its receipt. */
async function submit(data: Hex, from = relayer) {
  const hash = await network.client.sendUnsignedTransaction({ from, to: dollarAddress, data, gas: 500_000n })
  return network.client.waitForTransactionReceipt({ hash })
}

const simulate = (account: Address, data: Hex) => network.client.call({ account, to: dollarAddress, data })

const isSpent = (authorizer: Address, nonce: Hex) =>
  network.client.readContract({
    address: dollarAddress,
    abi: dollarAbi,
    functionName: 'authorizationState',
    args: [authorizer, nonce],
  })

type AbiItem = {
  type: string
  name: string
  inputs: readonly { type: string; indexed?: boolean | undefined }[]
  outputs?: readonly { type: string }[] | undefined
  stateMutability?: string | undefined
}

function shape({ type, name, inputs, outputs = [], stateMutability = '' }: AbiItem): string {
  const taken = inputs.map((input) => `${input.type}${input.indexed ? ' indexed' : ''}`).join()
  return `${type} ${name}(${taken}) ${stateMutability} (${outputs.map((output) => output.type).join()})`
}
