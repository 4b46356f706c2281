import { afterAll, beforeAll, expect, test } from 'bun:test'
import { authorizationTypes } from '@x402/evm'
import { encodeFunctionData, parseSignature, type Hex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import artefacts from '../../../server/local/token/artefacts.json' with { type: 'json' }
import { compileContracts } from '../../../server/local/token/compile.ts'
import { dollarAbi, dollarAddress, minterAddress } from '../../../server/local/token/contracts.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import {
  toLowerAddress,
  createOffer,
  signOffer,
  STRANGER,
  submitCall,
  encodeTransfer,
} from '../../support/chain/signing.ts'

// Goal: the dollar of the embedded network behaves like USDC for payers and sellers. Method: calls of the real
// contract; the tests of the chain adapter cover that an authorization pays once, and never after a cancellation.

const offer = createOffer()

let network: LocalNetwork
beforeAll(async () => {
  network = await startLocalNetwork()
})
afterAll(() => network.stop())

test('the committed artefacts match the compiled sources', async () => {
  expect(await compileContracts()).toEqual(artefacts)
})

test('the typed ABI lists exactly the functions of the compiled dollar', () => {
  expect(dollarAbi.map(formatAbiItem).toSorted()).toEqual(artefacts.contracts.Dollar.abi.map(formatAbiItem).toSorted())
})

test('the local dollar has the name, symbol, version, decimals and domain separator of USDC on Base', async () => {
  const readContract = (functionName: 'name' | 'symbol' | 'version' | 'decimals' | 'DOMAIN_SEPARATOR' | 'MINTER') =>
    network.client.readContract({ address: dollarAddress, abi: dollarAbi, functionName })
  expect(await readContract('name')).toBe('USD Coin')
  expect(await readContract('symbol')).toBe('USDC')
  expect(await readContract('version')).toBe('2')
  expect(await readContract('decimals')).toBe(6)
  expect(await readContract('DOMAIN_SEPARATOR')).toBe(
    '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  )
  expect((await readContract('MINTER')).toString().toLowerCase()).toBe(minterAddress)
})

test('only the minter can mint dollars', async () => {
  const mint = encodeFunctionData({ abi: dollarAbi, functionName: 'mint', args: [STRANGER, 1n] })
  await expect(simulateCall(mint)).rejects.toThrow('caller is not the minter')
})

test('an authorization is valid only strictly after validAfter and strictly before validBefore', async () => {
  const payer = await network.createFundedWallet(3)
  const start = (await network.client.getBlock()).timestamp + 100n
  const transferAt = async (timestamp: bigint, validAfter: bigint, validBefore: bigint) => {
    const payment = await signOffer(payer, offer, { validAfter, validBefore })
    await network.client.setNextBlockTimestamp({ timestamp })
    return await submitCall(network.client, encodeTransfer(payment))
  }
  await expect(transferAt(start, start, 2n ** 40n)).rejects.toThrow('reverted')
  await expect(transferAt(start + 10n, 0n, start + 10n)).rejects.toThrow('reverted')
  expect(await transferAt(start + 20n, start + 19n, start + 21n)).toStartWith('0x')
})

test('only the payee can collect a payment with receiveWithAuthorization', async () => {
  const payer = await network.createFundedWallet(1)
  const payee = createWallet().address
  const nonce = toLowerAddress(generatePrivateKey())
  const message = { from: payer.address, to: payee, value: 1_000_000n, validAfter: 0n, validBefore: 2n ** 40n, nonce }
  const { TransferWithAuthorization } = authorizationTypes
  const signature = await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: dollarAddress },
    types: { ReceiveWithAuthorization: TransferWithAuthorization },
    primaryType: 'ReceiveWithAuthorization',
    message,
  })
  const args = [payer.address, payee, 1_000_000n, 0n, 2n ** 40n, nonce, signature] as const
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'receiveWithAuthorization', args })
  await expect(simulateCall(data)).rejects.toThrow('caller must be the payee')
  await submitCall(network.client, data, dollarAddress, toLowerAddress(payee))
  expect(await network.readBalance(payer.address)).toBe(0n)
})

test("the token rejects a malleated signature, another wallet's signature and altered terms", async () => {
  const genuine = await signOffer(await network.createFundedWallet(1), offer)
  const { payer, nonce, validBefore } = genuine
  const strangers = await signOffer(createWallet(), offer, { payer, nonce, validBefore })
  const refused: readonly Partial<Payment>[] = [
    { signature: malleateSignature(genuine.signature) },
    { signature: strangers.signature },
    { signature: '0x' },
    { amount: 999_999n },
    { to: STRANGER },
  ]
  for (const change of refused)
    await expect(simulateCall(encodeTransfer({ ...genuine, ...change }))).rejects.toThrow('invalid signature')
  await submitCall(network.client, encodeTransfer(genuine))
})

/** Returns the other valid signature of the same key for the same data: `s` becomes the curve's order minus `s`. */
function malleateSignature(signature: Hex): Hex {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { r, s, yParity } = parseSignature(signature)
  const mirrored = (order - BigInt(s)).toString(16).padStart(64, '0')
  return `${r}${mirrored}${yParity === 0 ? '1c' : '1b'}`
}

const simulateCall = (data: Hex) => network.client.call({ account: STRANGER, to: dollarAddress, data })

type AbiItem = {
  type: string
  name: string
  inputs: readonly { type: string; indexed?: boolean | undefined }[]
  outputs?: readonly { type: string }[] | undefined
  stateMutability?: string | undefined
}

function formatAbiItem({ type, name, inputs, outputs = [], stateMutability = '' }: AbiItem): string {
  const taken = inputs.map((input) => `${input.type}${input.indexed ? ' indexed' : ''}`).join()
  return `${type} ${name}(${taken}) ${stateMutability} (${outputs.map((output) => output.type).join()})`
}
