import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseSignature, type Hex } from 'viem'
import { hashMessage } from 'viem/utils'
import { loadFastestKeys } from '../../../server/adapters/wallets/recover.ts'
import { createViemWallets } from '../../../server/adapters/wallets/wallets.ts'
import type { Address } from '../../../server/domain/purchase/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import { createWallet, type Wallet } from '../../../server/local/wallets.ts'
import type { Wallets } from '../../../server/ports.ts'
import artefact from '../../support/chain/contract-wallet/artefact.json' with { type: 'json' }
import { compileFactory } from '../../support/chain/contract-wallet/compile.ts'
import {
  encodeDeployCall,
  installFactory,
  wrapForOwner,
  type ContractWallets,
} from '../../support/chain/contract-wallet/deploy.ts'
import { createRequestSender, startOddEndpoints, type Rule } from '../../support/chain/odd-endpoint.ts'
import { toLowerAddress, createOffer, signOffer } from '../../support/chain/signing.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { scaleLimit } from '../../support/machine.ts'
import { testWallets } from '../ports/wallets.contract.ts'

// Goal: a signature belongs to a wallet or to nobody, and a query never throws. Method: keys with unusual signatures,
// and contract wallets on a real chain, honest and hostile.

const offer = createOffer()
const keys = await loadFastestKeys()
const texts = ['wall.test\nset_pixels v2', 'wall.test:443\nset_pixels v2'] as const
const [text, otherText] = texts
const FROM = '192.0.2.1'

let network: LocalNetwork
let contracts: ContractWallets
const oddEndpoint = startOddEndpoints(() => network.rpcUrl)
beforeAll(async () => {
  network = await startLocalNetwork()
  contracts = await installFactory(network.client)
})
afterAll(() => network.stop())

const openWalletsAt = (url: string, clock = createFakeClock(0)) =>
  createViemWallets(createRequestSender(url), offer, keys, clock)

// These wallets abandon a failing endpoint sooner than the service does.
const openImpatientWallets = (url: string) =>
  createViemWallets(createRequestSender(url, { chainCallTimeoutMs: scaleLimit(500) }), offer, keys, createFakeClock(0))

/** Checks a signature of one of the texts, on the network directly or through an endpoint that follows `rules`. */
const checkSignature = (wallet: string, signature: Hex, rules?: Readonly<Record<string, Rule>>) =>
  findSignedDigest(
    rules === undefined ? openWalletsAt(network.rpcUrl) : openImpatientWallets(oddEndpoint(rules).url),
    toLowerAddress(wallet),
    signature,
    FROM,
  )

/** Returns the digest that `signer` signed, or the reason why there is none. */
async function findSignedDigest(wallets: Wallets, signer: Address, signature: Hex, from: string) {
  const answer = await wallets.findSigner([signer], texts, signature, from)
  return typeof answer === 'string' ? answer : answer.digest
}

const toSigner = (wallet: Wallet) => ({
  address: toLowerAddress(wallet.address),
  sign: (message: string) => wallet.signMessage({ message }),
})

testWallets('viem', async () => ({
  wallets: openWalletsAt(network.rpcUrl),
  owner: toSigner(createWallet()),
  stranger: toSigner(createWallet()),
  createPayment: () => signOffer(createWallet(), offer),
  createForgedPayment: () => signOffer(createWallet(), offer, { payer: toLowerAddress(createWallet().address) }),
}))

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const encodeWord = (value: bigint) => value.toString(16).padStart(64, '0')

/** A wallet's signature of the text, split into its parts. */
async function splitSignature(signer: Wallet) {
  const signature = await signer.signMessage({ message: text })
  const { r, s, yParity } = parseSignature(signature)
  return { signer, signature, r, s, yParity, rs: signature.slice(2, 130) }
}

/** Creates wallets until a signature has the given recovery bit, as about half of all signatures do. */
async function findSignerWithBit(bit: number): ReturnType<typeof splitSignature> {
  const parts = await splitSignature(createWallet())
  return parts.yParity === bit ? parts : await findSignerWithBit(bit)
}

describe("a key's signature", () => {
  const owner = createWallet()
  const digest = hashMessage(text)

  test('the digest of a signed text is its EIP-191 digest', async () => {
    expect(await checkSignature(owner.address, await owner.signMessage({ message: text }))).toBe(digest)
    const other = await owner.signMessage({ message: otherText })
    expect(await checkSignature(owner.address, other)).toBe(hashMessage(otherText))
  })

  test('the key that made a signature is found without a query to the chain', async () => {
    const silent: Record<string, Rule> = { '*': () => 'hang' }
    expect(await checkSignature(owner.address, await owner.signMessage({ message: text }), silent)).toBe(digest)
  })

  test('a key’s signature is accepted with a recovery bit of 0 or 1, in upper-case hex, or with the larger s', async () => {
    const { signature, r, s, yParity, rs } = await splitSignature(owner)
    const twin: Hex = `${r}${encodeWord(ORDER - BigInt(s))}${yParity === 0 ? '1c' : '1b'}`
    expect(await checkSignature(owner.address, `0x${rs}0${yParity}`)).toBe(digest)
    expect(await checkSignature(owner.address, `0x${signature.slice(2).toUpperCase()}`)).toBe(digest)
    expect(await checkSignature(owner.address, twin)).toBe(digest)
  })

  // Each form is tried with both recovery bits, because it may pass with only one of them.
  test.each([0, 1])('a signature in an unsupported form has no signer (recovery bit %i)', async (bit) => {
    const { signer, signature, r, s, yParity, rs } = await findSignerWithBit(bit)
    const odd: Record<string, Hex> = {
      'another line break': await signer.signMessage({ message: text.replace('\n', '\r\n') }),
      'typed data': await signer.signTypedData(typedText),
      'v 26': `0x${rs}1a`,
      'v 29': `0x${rs}1d`,
      'v 37': `0x${rs}25`,
      'the other v': `0x${rs}0${1 - yParity}`,
      '64 bytes': `${r}${encodeWord(BigInt(s) | (BigInt(yParity) << 255n))}`,
      '66 bytes': `${signature}00`,
      'half a byte': `${signature}0`,
      'half a byte short': `0x${signature.slice(2, -1)}`,
      'all ones': `0x${'ff'.repeat(65)}`,
      'r of zero': `0x${encodeWord(0n)}${s.slice(2)}1b`,
      's of zero': `${r}${encodeWord(0n)}1b`,
      'r of the order': `0x${encodeWord(ORDER)}${s.slice(2)}1b`,
      's beyond the order': `${r}${encodeWord(ORDER + 1n)}1b`,
      'no bytes': '0x',
      'not hex': '0xzz',
      'a line feed': `${signature}\n` as Hex,
      '4 KB': `0x${'ab'.repeat(4096)}`,
      'EIP-8010 bytes': `0x${'80'.repeat(200)}${'8010'.repeat(16)}`,
    }
    for (const [name, bytes] of Object.entries(odd))
      expect({ name, digest: await checkSignature(signer.address, bytes) }).toEqual({ name, digest: 'not-signed' })
  })
})

const typedText = {
  domain: { name: 'wall.test' },
  types: { Text: [{ name: 'text', type: 'string' }] },
  primaryType: 'Text',
  message: { text },
} as const

describe('a contract wallet', () => {
  test('a contract wallet counts as the signer of any of the allowed texts if its code accepts the signature', async () => {
    const owner = createWallet()
    const wallet = await contracts.deploy(owner)
    expect(await checkSignature(wallet, await owner.signMessage({ message: text }))).toBe(hashMessage(text))
    expect(await checkSignature(wallet, await owner.signMessage({ message: otherText }))).toBe(hashMessage(otherText))
    expect(await checkSignature(wallet, await owner.signMessage({ message: 'another' }))).toBe('not-signed')
    expect(await checkSignature(wallet, await createWallet().signMessage({ message: text }))).toBe('not-signed')
    expect(await checkSignature(wallet, '0x1234')).toBe('not-signed')
  })

  test('if a contract wallet and a key may both sign, the signer is found, whatever the order of the two', async () => {
    const [owner, key] = [createWallet(), createWallet()]
    const wallet = await contracts.deploy(owner)
    const wallets = openWalletsAt(network.rpcUrl)
    for (const signers of [
      [wallet, toLowerAddress(key.address)],
      [toLowerAddress(key.address), wallet],
    ]) {
      const checkSigner = async (signer: Wallet) =>
        await wallets.findSigner(signers, texts, await signer.signMessage({ message: text }), FROM)
      expect(await checkSigner(owner)).toEqual({ by: wallet, digest: hashMessage(text) })
      expect(await checkSigner(key)).toEqual({ by: toLowerAddress(key.address), digest: hashMessage(text) })
      expect(await checkSigner(createWallet())).toBe('not-signed')
    }
  })

  test('a contract wallet is not called if the key of another allowed signer made the signature', async () => {
    const [owner, key] = [createWallet(), createWallet()]
    const wallet = await contracts.deploy(owner)
    const silent = openWalletsAt(oddEndpoint({ '*': () => 'hang' }).url)
    const signature = await key.signMessage({ message: text })
    expect(await silent.findSigner([wallet, toLowerAddress(key.address)], texts, signature, FROM)).toHaveProperty(
      'by',
      toLowerAddress(key.address),
    )
  })

  test('a contract wallet can accept signatures in its own format', async () => {
    // Returns EIP-1271's magic value, the word 0x1626ba7e, for every query.
    const wallet = await contracts.createAccountWithCode('0x631626ba7e60e01b60005260206000f3')
    expect(await checkSignature(wallet, `0x${'12'.repeat(40)}`)).toBe(hashMessage(text))
  })

  test('a contract wallet counts as not having signed if its code reverts, uses up all gas, or returns nothing or a wrong value', async () => {
    const signature = await createWallet().signMessage({ message: text })
    for (const bytecode of ['0x60006000fd', '0x5b600056', '0x00', '0x600160005260206000f3', '0xfe'] as const)
      expect(await checkSignature(await contracts.createAccountWithCode(bytecode), signature)).toBe('not-signed')
  })

  test('if the endpoint fails or hangs, a contract wallet’s signature counts as unchecked, and not as invalid', async () => {
    const owner = createWallet()
    const wallet = await contracts.deploy(owner)
    const signature = await owner.signMessage({ message: text })
    const failing = (['hang', 'stall', 'busy'] as const).map((how) => ({ '*': () => how }))
    const rules = [...failing, { '*': () => ({ error: { code: -32603, message: 'no' } }) }]
    const answers = await Promise.all(rules.map((rule) => checkSignature(wallet, signature, rule)))
    expect(answers).toEqual(rules.map(() => 'silent'))
  })

  test('a contract wallet that is not deployed yet can sign if the signature contains the call that deploys it', async () => {
    const owner = createWallet()
    const wallet = await contracts.readWalletAddress(owner)
    const wrapSignature = async (signer: Wallet, data?: Hex) =>
      wrapForOwner(await signer.signMessage({ message: text }), owner, data)
    expect(await checkSignature(wallet, await wrapSignature(owner))).toBe(hashMessage(text))
    expect(await checkSignature(wallet, await owner.signMessage({ message: text }))).toBe('not-signed')
    expect(await checkSignature(wallet, await wrapSignature(createWallet()))).toBe('not-signed')
    expect(await checkSignature(wallet, await wrapSignature(owner, encodeDeployCall(createWallet())))).toBe(
      'not-signed',
    )
    expect(await network.client.getCode({ address: wallet })).toBeUndefined()
  })

  test('a signature of a deployed contract wallet may also contain a deployment call, which is not made', async () => {
    const owner = createWallet()
    const wallet = await contracts.deploy(owner)
    const strangersCall = `0x${'c0ffee'.repeat(12)}` as const
    const seen: string[] = []
    const recordCall: Rule = async (params, ask) => {
      seen.push(JSON.stringify(params))
      return { result: await ask() }
    }
    const signature = wrapForOwner(await owner.signMessage({ message: text }), owner, strangersCall)
    expect(await checkSignature(wallet, signature, { eth_call: recordCall })).toBe(hashMessage(text))
    expect(seen).toHaveLength(1)
    expect(seen[0]).not.toContain('c0ffeec0ffee')
  })

  test('a signature that contains the deployment call of another contract does not count as a signature by a wallet without a contract', async () => {
    const [key, thief] = [createWallet(), createWallet()]
    const signature = await thief.signMessage({ message: text })
    expect(await checkSignature(key.address, wrapForOwner(signature, thief))).toBe('not-signed')
  })
})

describe('queries that anybody can cause', () => {
  const junk = `0x${'12'.repeat(65)}` as const
  const createUnknownAddress = () => toLowerAddress(createWallet().address)
  const repeatTimes = <T>(count: number, work: (at: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(at)))
  const countAnswers = (answers: readonly string[], answer: string) => answers.filter((each) => each === answer).length

  test('at most 10 payers per second are looked up, and beyond that a signature stays undecided unless the key of its payer made it', async () => {
    const endpoint = oddEndpoint()
    const clock = createFakeClock(0)
    const wallets = openWalletsAt(endpoint.url, clock)
    const payment = await signOffer(createWallet(), offer)
    const checkManyPayers = () =>
      repeatTimes(60, () => wallets.checkPaymentSignature({ ...payment, payer: createUnknownAddress() }))
    // The limit allows three look-ups immediately, and seven more per second.
    for (const inAll of [3, 6, 9]) {
      const answers = await checkManyPayers()
      expect(countAnswers(answers, 'not-signed')).toBe(3)
      expect(countAnswers(answers, 'busy')).toBe(57)
      expect(endpoint.countCalls('eth_getCode')).toBe(inAll)
      clock.advance(450)
    }
    expect(endpoint.countCalls('eth_call')).toBe(0)
    expect(await wallets.checkPaymentSignature(payment)).toBe('signed')
    expect(endpoint.countCalls('eth_getCode')).toBe(9)
  })

  test('the code of a payer is looked up once for many payments, and again after ten seconds, because a contract may be deployed by then', async () => {
    const endpoint = oddEndpoint()
    const clock = createFakeClock(0)
    const wallets = openWalletsAt(endpoint.url, clock)
    const owner = createWallet()
    const payer = await contracts.readWalletAddress(owner)
    const payment = await signOffer(owner, offer, { payer })
    expect(
      new Set(await repeatTimes(100, () => wallets.checkPaymentSignature({ ...payment, signature: junk }))),
    ).toEqual(new Set(['not-signed']))
    expect(endpoint.countCalls('eth_getCode')).toBe(1)
    await contracts.deploy(owner)
    clock.advance(10_000)
    expect(await wallets.checkPaymentSignature(payment)).toBe('signed')
  })

  test('a contract gets one call per signature, whatever its code does', async () => {
    const endpoint = oddEndpoint()
    const wallets = openWalletsAt(endpoint.url)
    const codes = ['0x60006000fd', '0x5b600056', '0xfe'] as const
    for (const [at, bytecode] of codes.entries()) {
      expect(await findSignedDigest(wallets, await contracts.createAccountWithCode(bytecode), junk, `from ${at}`)).toBe(
        'not-signed',
      )
      expect(endpoint.countCalls('eth_call')).toBe(at + 1)
    }
  })

  test('during a flood of payments by unknown payers, the wall still checks what the owner of a contract wallet signs', async () => {
    const owner = createWallet()
    const wallet = await contracts.deploy(owner)
    const wallets = openWalletsAt(network.rpcUrl)
    const payment = await signOffer(createWallet(), offer)
    await repeatTimes(60, () => wallets.checkPaymentSignature({ ...payment, payer: createUnknownAddress() }))
    expect(await findSignedDigest(wallets, wallet, await owner.signMessage({ message: text }), FROM)).toBe(
      hashMessage(text),
    )
  })

  test('a flood of 100 signatures for one contract causes 6 calls, and the owners of that contract and of others are still served', async () => {
    const endpoint = oddEndpoint()
    const wallets = openWalletsAt(endpoint.url)
    const [named, other] = [createWallet(), createWallet()]
    const [wallet, otherWallet] = [await contracts.deploy(named), await contracts.deploy(other)]
    const answers = await repeatTimes(100, () => findSignedDigest(wallets, wallet, junk, 'flood'))
    expect(countAnswers(answers, 'not-signed')).toBe(6)
    expect(countAnswers(answers, 'busy')).toBe(94)
    expect(endpoint.countCalls('eth_call')).toBe(6)
    const signAsOwner = async (owner: Wallet) => await owner.signMessage({ message: text })
    expect(await findSignedDigest(wallets, wallet, await signAsOwner(named), 'home')).toBe(hashMessage(text))
    expect(await findSignedDigest(wallets, otherWallet, await signAsOwner(other), FROM)).toBe(hashMessage(text))
  })

  test('a flood of signatures for one contract from a hundred addresses delays the owner of the contract only until those addresses are treated as suspicious', async () => {
    const clock = createFakeClock(0)
    const wallets = openWalletsAt(network.rpcUrl, clock)
    const owner = createWallet()
    const wallet = await contracts.deploy(owner)
    const signature = await owner.signMessage({ message: text })
    const answers: string[] = []
    for (let second = 0; second < 120; second += 1) {
      await repeatTimes(100, (at) => findSignedDigest(wallets, wallet, junk, `flood ${at}`))
      // The owner sends as often as Retry-After allows.
      if (second % 2 === 0) answers.push(await findSignedDigest(wallets, wallet, signature, 'home'))
      clock.advance(1000)
    }
    expect(new Set(answers)).toEqual(new Set(['busy', hashMessage(text)]))
    expect(new Set(answers.slice(-20))).toEqual(new Set([hashMessage(text)]))
  })

  test('a flood of unknown payers does not delay a payer whose signature was accepted before', async () => {
    const clock = createFakeClock(0)
    const wallets = openWalletsAt(network.rpcUrl, clock)
    const createPayer = async () => {
      const owner = createWallet()
      return await signOffer(owner, offer, { payer: await contracts.deploy(owner) })
    }
    const honest = await createPayer()
    expect(await wallets.checkPaymentSignature(honest)).toBe('signed')
    const checkUnknownPayer = async () => wallets.checkPaymentSignature({ ...(await createPayer()), signature: junk })
    for (let answer = await checkUnknownPayer(); answer !== 'busy'; answer = await checkUnknownPayer()) {
      expect(answer).toBe('not-signed')
      clock.advance(100)
    }
    expect(await wallets.checkPaymentSignature(honest)).toBe('signed')
  })
})

describe('a payment', () => {
  test('a payment that a key signed counts as signed without a call to the chain, but does not count as signed once it is altered', async () => {
    const silent = openWalletsAt(oddEndpoint({ '*': () => 'busy' }).url)
    const { checkPaymentSignature: signedPayment } = openWalletsAt(network.rpcUrl)
    const payment = await signOffer(createWallet(), offer)
    const changed = [
      { amount: 999_999n },
      { to: toLowerAddress(createWallet().address) },
      { payer: toLowerAddress(createWallet().address) },
      { validAfter: 1n },
      { validBefore: payment.validBefore + 1n },
      { nonce: toLowerAddress(hashMessage('other')) },
      { accepted: { ...payment.accepted, network: 'eip155:84532' } },
      { accepted: { ...payment.accepted, network: 'solana:mainnet' } },
      { accepted: { ...payment.accepted, asset: toLowerAddress(createWallet().address) } },
      { signature: '0x' as const },
    ]
    expect(await silent.checkPaymentSignature(payment)).toBe('signed')
    for (const change of changed) expect(await signedPayment({ ...payment, ...change })).toBe('not-signed')
  })

  test('a payment by a contract wallet counts as signed if the contract accepts the signature, whether the contract is deployed or not', async () => {
    const [owner, later] = [createWallet(), createWallet()]
    const wallets = openWalletsAt(network.rpcUrl)
    const payer = await contracts.deploy(owner)
    const good = await signOffer(owner, offer, { payer })
    const undeployed = await signOffer(later, offer, { payer: await contracts.readWalletAddress(later) })
    const counterfactual = { ...undeployed, signature: wrapForOwner(undeployed.signature, later) }
    const bad = await signOffer(createWallet(), offer, { payer })
    for (const [payment, answer, forToken] of [
      [good, 'signed', 'signed'],
      [counterfactual, 'signed', 'not-signed'],
      [{ ...good, signature: wrapForOwner(good.signature, owner) }, 'signed', 'signed'],
      [bad, 'not-signed', 'not-signed'],
    ] as const) {
      expect(await wallets.checkPaymentSignature(payment)).toBe(answer)
      expect(await openWalletsAt(network.rpcUrl).checkTokenSignature(payment)).toBe(forToken)
    }
    // The payment may have deployed the contract, so the cached absence of code is not used.
    await contracts.deploy(later)
    expect(await wallets.checkPaymentSignature(undeployed)).toBe('signed')
  })

  test('a payment signed by the key of an account with code is admitted, but is valid for the token only if the code accepts the signature', async () => {
    const [delegated, shut] = [createWallet(), createWallet()]
    await contracts.delegateAccount(delegated)
    // Code that accepts no signature.
    await network.client.setCode({ address: shut.address, bytecode: '0x60006000fd' })
    for (const [payer, taken] of [
      [delegated, 'signed'],
      [shut, 'not-signed'],
    ] as const) {
      const payment = await signOffer(payer, offer)
      expect(await openWalletsAt(oddEndpoint({ '*': () => 'busy' }).url).checkPaymentSignature(payment)).toBe('signed')
      expect(await openWalletsAt(network.rpcUrl).checkTokenSignature(payment)).toBe(taken)
    }
  })

  test('a payment’s signature is valid for the token only in the one form that the token accepts', async () => {
    const wallets = openWalletsAt(network.rpcUrl)
    const payment = await signOffer(createWallet(), offer)
    const { r, s, yParity } = parseSignature(payment.signature)
    const signatures: Record<string, Hex> = {
      'its own': payment.signature,
      'v from 0': `${r}${s.slice(2)}0${yParity}`,
      'the larger s': `${r}${encodeWord(ORDER - BigInt(s))}${yParity === 0 ? '1c' : '1b'}`,
    }
    for (const [name, signature] of Object.entries(signatures)) {
      expect(await wallets.checkPaymentSignature({ ...payment, signature })).toBe('signed')
      const taken = await wallets.checkTokenSignature({ ...payment, signature })
      expect({ name, taken }).toEqual({ name, taken: name === 'its own' ? 'signed' : 'not-signed' })
    }
  })

  test('the signature of a payment stays undecided while the chain cannot be queried about its payer', async () => {
    const owner = createWallet()
    const payment = await signOffer(owner, offer, { payer: await contracts.deploy(owner) })
    const rejectCall: Rule = () => ({ error: { code: -32_005, message: 'limit exceeded' } })
    for (const rules of [
      { '*': () => 'busy' as const },
      { eth_call: rejectCall },
      { eth_call: () => ({ result: '0x' }) },
    ]) {
      const wallets = openWalletsAt(oddEndpoint(rules).url)
      expect(await wallets.checkPaymentSignature(payment)).toBe('silent')
      expect(await wallets.checkTokenSignature(payment)).toBe('silent')
      expect(await findSignedDigest(wallets, payment.payer, payment.signature, FROM)).toBe('silent')
    }
  })
})

test('the committed bytecode matches the compiled contract wallet', async () => {
  expect(await compileFactory()).toEqual(artefact)
})
