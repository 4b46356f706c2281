import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { encodeFunctionData, getAddress, parseAbi, parseSignature, type Hex } from 'viem'
import { hashMessage, serializeErc6492Signature } from 'viem/utils'
import { chainClient } from '../../server/adapters/chain.ts'
import { fastestKeys } from '../../server/adapters/recover.ts'
import { viemWallets } from '../../server/adapters/wallets.ts'
import type { Address } from '../../server/domain/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../server/local/network.ts'
import { newWallet, type Wallet } from '../../server/local/wallets.ts'
import { walletsContract } from '../ports/wallets.contract.ts'
import artefact from './contract-wallet/artefact.json' with { type: 'json' }
import { compileFactory } from './contract-wallet/compile.ts'
import { startOddEndpoint, type OddEndpoint, type Rule } from './odd-endpoint.ts'
import { lower, newOffer, sign } from './signing.ts'

// Goal: a signature is a wallet's or nobody's, and asking never fails. Method: keys that sign oddly, and contract wallets
// on a real chain, honest and hostile.

const offer = newOffer()
const keys = await fastestKeys()
const texts = ['wall.test\nset_pixels v2', 'wall.test:443\nset_pixels v2'] as const
const [text, otherText] = texts

let network: LocalNetwork
const endpoints: OddEndpoint[] = []
beforeAll(async () => {
  network = await startLocalNetwork()
  await network.client.setCode({ address: factoryAddress, bytecode: `0x${artefact.deployedBytecode}` })
})
afterAll(async () => {
  await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
  await network.stop()
})

const walletsAt = (url: string) => viemWallets(chainClient('eip155:8453', url), offer, keys)

/** Asks about the texts on the network, or through an endpoint that follows `rules`. */
const signed = (wallet: string, signature: Hex, rules?: Readonly<Record<string, Rule>>) =>
  walletsAt(rules === undefined ? network.rpcUrl : oddEndpoint(rules).url).signed(lower(wallet), texts, signature)

function oddEndpoint(rules: Readonly<Record<string, Rule>>): OddEndpoint {
  const endpoint = startOddEndpoint(network.rpcUrl, rules)
  endpoints.push(endpoint)
  return endpoint
}

const signerOf = (wallet: Wallet) => ({
  address: lower(wallet.address),
  sign: (message: string) => wallet.signMessage({ message }),
})

walletsContract('viem', async () => ({
  wallets: walletsAt(network.rpcUrl),
  owner: signerOf(newWallet()),
  stranger: signerOf(newWallet()),
  payment: () => sign(newWallet(), offer),
  forged: () => sign(newWallet(), offer, { payer: lower(newWallet().address) }),
}))

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const word = (value: bigint) => value.toString(16).padStart(64, '0')

/** A wallet's signature of the text, in its parts. */
async function partsBy(signer: Wallet) {
  const signature = await signer.signMessage({ message: text })
  const { r, s, yParity } = parseSignature(signature)
  return { signer, signature, r, s, yParity, rs: signature.slice(2, 130) }
}

/** The same of some wallet whose signature has that recovery bit; every other one does. */
async function signerWithBit(bit: number): ReturnType<typeof partsBy> {
  const parts = await partsBy(newWallet())
  return parts.yParity === bit ? parts : await signerWithBit(bit)
}

describe("a key's signature", () => {
  const owner = newWallet()
  const digest = hashMessage(text)

  test('has the EIP-191 digest of the text that was signed', async () => {
    expect(await signed(owner.address, await owner.signMessage({ message: text }))).toBe(digest)
    const other = await owner.signMessage({ message: otherText })
    expect(await signed(owner.address, other)).toBe(hashMessage(otherText))
  })

  test('is told without asking the chain', async () => {
    const silent: Record<string, Rule> = { '*': () => 'hang' }
    expect(await signed(owner.address, await owner.signMessage({ message: text }), silent)).toBe(digest)
  })

  test('may count its recovery bit from 0, be written in capitals, or be the twin with the larger s', async () => {
    const { signature, r, s, yParity, rs } = await partsBy(owner)
    const twin: Hex = `${r}${word(ORDER - BigInt(s))}${yParity === 0 ? '1c' : '1b'}`
    expect(await signed(owner.address, `0x${rs}0${yParity}`)).toBe(digest)
    expect(await signed(owner.address, `0x${signature.slice(2).toUpperCase()}`)).toBe(digest)
    expect(await signed(owner.address, twin)).toBe(digest)
  })

  // With either recovery bit, since a form may pass for one of them only.
  test.each([0, 1])('in any other form is nobody’s (%i)', async (bit) => {
    const { signer, signature, r, s, yParity, rs } = await signerWithBit(bit)
    const odd: Record<string, Hex> = {
      'lines joined otherwise': await signer.signMessage({ message: text.replace('\n', '\r\n') }),
      'typed data': await signer.signTypedData(typedText),
      'v 26': `0x${rs}1a`,
      'v 29': `0x${rs}1d`,
      'v 37': `0x${rs}25`,
      'the other v': `0x${rs}0${1 - yParity}`,
      '64 bytes': `${r}${word(BigInt(s) | (BigInt(yParity) << 255n))}`,
      '66 bytes': `${signature}00`,
      'half a byte': `${signature}0`,
      'half a byte short': `0x${signature.slice(2, -1)}`,
      'all ones': `0x${'ff'.repeat(65)}`,
      'r of zero': `0x${word(0n)}${s.slice(2)}1b`,
      's of zero': `${r}${word(0n)}1b`,
      'r of the order': `0x${word(ORDER)}${s.slice(2)}1b`,
      's beyond the order': `${r}${word(ORDER + 1n)}1b`,
      'no bytes': '0x',
      'no hex': '0xzz',
      'a line feed': `${signature}\n` as Hex,
      '4 KB': `0x${'ab'.repeat(4096)}`,
      'EIP-8010 bytes': `0x${'80'.repeat(200)}${'8010'.repeat(16)}`,
    }
    for (const [name, bytes] of Object.entries(odd))
      expect({ name, digest: await signed(signer.address, bytes) }).toEqual({ name, digest: 'not-signed' })
  })
})

const typedText = {
  domain: { name: 'wall.test' },
  types: { Text: [{ name: 'text', type: 'string' }] },
  primaryType: 'Text',
  message: { text },
} as const

const factoryAddress = getAddress('0x00000000000000000000000000000000000fac70')
const factoryAbi = parseAbi(['function deploy(address owner) returns (address)'])

const deployCall = (owner: Wallet) =>
  encodeFunctionData({ abi: factoryAbi, functionName: 'deploy', args: [owner.address] })

/** Where the contract wallet of `owner` is, or will be. */
async function contractOf(owner: Wallet): Promise<Address> {
  const args = [owner.address] as const
  const call = { address: factoryAddress, abi: factoryAbi, functionName: 'deploy', args } as const
  return lower((await network.client.simulateContract(call)).result)
}

async function deployed(owner: Wallet): Promise<Address> {
  const address = await contractOf(owner)
  const from = lower(newWallet().address)
  await network.client.setBalance({ address: from, value: 10n ** 18n })
  const transaction = { from, to: factoryAddress, data: deployCall(owner), gas: 1_000_000n }
  const hash = await network.client.sendUnsignedTransaction(transaction)
  await network.client.waitForTransactionReceipt({ hash })
  return address
}

/** A wallet address whose code is `bytecode`. */
async function walletRunning(bytecode: Hex): Promise<Address> {
  const address = lower(newWallet().address)
  await network.client.setCode({ address, bytecode })
  return address
}

describe('a contract wallet', () => {
  test('signs by what its code accepts, whichever of the texts it is', async () => {
    const owner = newWallet()
    const wallet = await deployed(owner)
    expect(await signed(wallet, await owner.signMessage({ message: text }))).toBe(hashMessage(text))
    expect(await signed(wallet, await owner.signMessage({ message: otherText }))).toBe(hashMessage(otherText))
    expect(await signed(wallet, await owner.signMessage({ message: 'another' }))).toBe('not-signed')
    expect(await signed(wallet, await newWallet().signMessage({ message: text }))).toBe('not-signed')
    expect(await signed(wallet, '0x1234')).toBe('not-signed')
  })

  test('may take signatures of its own form', async () => {
    // Answers EIP-1271's yes, the word 0x1626ba7e, to every question.
    const wallet = await walletRunning('0x631626ba7e60e01b60005260206000f3')
    expect(await signed(wallet, `0x${'12'.repeat(40)}`)).toBe(hashMessage(text))
  })

  test('that reverts, burns all gas, answers nothing or something else has not signed', async () => {
    const signature = await newWallet().signMessage({ message: text })
    for (const bytecode of ['0x60006000fd', '0x5b600056', '0x00', '0x600160005260206000f3', '0xfe'] as const)
      expect(await signed(await walletRunning(bytecode), signature)).toBe('not-signed')
  })

  test('is not denied when the endpoint fails, and not waited for when it hangs', async () => {
    const owner = newWallet()
    const wallet = await deployed(owner)
    const signature = await owner.signMessage({ message: text })
    const failing = (['hang', 'stall', 'busy'] as const).map((how) => ({ '*': () => how }))
    const late: Rule = async (_, ask) => {
      await Bun.sleep(2000)
      return { result: await ask() }
    }
    const rules = [...failing, { '*': () => ({ error: { code: -32603, message: 'no' } }) }, { '*': late }]
    const answers = await Promise.all(rules.map((rule) => signed(wallet, signature, rule)))
    expect(answers).toEqual(rules.map(() => 'silent'))
  })

  test('that is not deployed yet signs with the call that will deploy it', async () => {
    const owner = newWallet()
    const wallet = await contractOf(owner)
    const wrapped = async (signer: Wallet, data = deployCall(owner)) =>
      serializeErc6492Signature({
        address: factoryAddress,
        data,
        signature: await signer.signMessage({ message: text }),
      })
    expect(await signed(wallet, await wrapped(owner))).toBe(hashMessage(text))
    expect(await signed(wallet, await owner.signMessage({ message: text }))).toBe('not-signed')
    expect(await signed(wallet, await wrapped(newWallet()))).toBe('not-signed')
    expect(await signed(wallet, await wrapped(owner, deployCall(newWallet())))).toBe('not-signed')
    expect(await network.client.getCode({ address: wallet })).toBeUndefined()
  })

  test('that is no contract is not vouched for by a deployment of something else', async () => {
    const [key, thief] = [newWallet(), newWallet()]
    const signature = await thief.signMessage({ message: text })
    const wrapped = serializeErc6492Signature({ address: factoryAddress, data: deployCall(thief), signature })
    expect(await signed(key.address, wrapped)).toBe('not-signed')
  })
})

test('only eight wallets are asked about on the chain at once', async () => {
  const wallet = await walletRunning('0x00')
  const gate = Promise.withResolvers<void>()
  const full = Promise.withResolvers<void>()
  let [running, most] = [0, 0]
  const counted: Rule = async (_, ask) => {
    running += 1
    most = Math.max(most, running)
    if (running === 8) full.resolve()
    await gate.promise
    running -= 1
    return { result: await ask() }
  }
  const wallets = walletsAt(oddEndpoint({ '*': counted }).url)
  const asked = Array.from({ length: 8 + 64 }, () => wallets.signed(wallet, texts, '0x1234'))
  await full.promise
  expect(await wallets.signed(wallet, texts, '0x1234')).toBe('busy')
  gate.resolve()
  await Promise.all(asked)
  expect(most).toBe(8)
})

describe('a payment', () => {
  test("is its payer's only as it was signed", async () => {
    const { signedPayment } = walletsAt(network.rpcUrl)
    const payment = await sign(newWallet(), offer)
    const changed = [
      { amount: 999_999n },
      { to: lower(newWallet().address) },
      { payer: lower(newWallet().address) },
      { validAfter: 1n },
      { validBefore: payment.validBefore + 1n },
      { nonce: lower(hashMessage('other')) },
      { accepted: { ...payment.accepted, network: 'eip155:84532' } },
      { accepted: { ...payment.accepted, asset: lower(newWallet().address) } },
      { signature: '0x' as const },
    ]
    expect(await signedPayment(payment)).toBe('signed')
    for (const change of changed) expect(await signedPayment({ ...payment, ...change })).toBe('not-signed')
  })

  test('that a contract wallet signed cannot be told without the chain', async () => {
    const owner = newWallet()
    const payment = await sign(owner, offer, { payer: await deployed(owner) })
    expect(await walletsAt(network.rpcUrl).signedPayment(payment)).toBe('not-signed')
  })
})

test('the committed code is what the contract wallet compiles to', async () => {
  expect(await compileFactory()).toEqual(artefact)
})
