import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { encodeFunctionData, parseAbi, parseEther, toHex, type Address, type Hex } from 'viem'
import { base, baseSepolia } from 'viem/chains'
import { createViemChain } from '../../../server/adapters/chain/chain.ts'
import { MULTICALL, openEndpoints } from '../../../server/adapters/chain/endpoints.ts'
import { systemClock as clock } from '../../../server/adapters/clock.ts'
import type { Hash, Payment } from '../../../server/domain/purchase/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import { dollarAbi, dollarAddress, multicallAddress } from '../../../server/local/token/contracts.ts'
import { createWallet, type Wallet } from '../../../server/local/wallets.ts'
import type { Chain } from '../../../server/ports.ts'
import { TIMES } from '../../../server/times.ts'
import type { Offer } from '../../../server/x402/terms.ts'
import {
  createBlockRangeRule,
  startOddEndpoint,
  type Oddity,
  type Rule,
  startOddEndpoints,
} from '../../support/chain/odd-endpoint.ts'
import {
  toLowerAddress,
  createOffer,
  signOffer,
  signCancel,
  submit,
  encodeTransfer,
  STRANGER,
} from '../../support/chain/signing.ts'
import { testChain, readHeadFor } from '../ports/chain.contract.ts'

// Goal: the status of an authorization is either correct or unknown (silent). Method: a real chain on which
// authorizations end in every way, queried directly and through a misbehaving endpoint.

const offer = createOffer()
const SILENT = { kind: 'silent' } as const

let network: LocalNetwork
let chain: Chain
const oddEndpoint = startOddEndpoints(() => network.rpcUrl)
beforeAll(async () => {
  network = await startLocalNetwork({ idle: true })
  chain = openChainAt(network.rpcUrl)
})
afterAll(() => network.stop())

const openChainAt = (url: string, seller: Offer = offer, times = TIMES) =>
  createViemChain(openEndpoints('eip155:8453', [url], { clock, times }), seller)

/** The chain through an endpoint that follows `rules`. */
const openChainThrough = (rules: Readonly<Record<string, Rule>>) => openChainAt(oddEndpoint(rules).url)

test.each([
  ['eip155:8453', base],
  ['eip155:84532', baseSepolia],
] as const)('%s is queried at the endpoint that viem uses, unless the settings say otherwise', (name, known) => {
  const { all } = openEndpoints(name, [], { clock })
  expect(all.map(({ host }) => host)).toEqual([new URL(known.rpcUrls.default.http[0]).host])
  expect(MULTICALL).toBe(known.contracts.multicall3.address)
})

const payers = new Map<Address, Wallet>()

/** A payment that is valid for five minutes of the chain's time, which the tests advance. */
async function createPayment(): Promise<Payment> {
  const payer = await network.createFundedWallet(3)
  payers.set(toLowerAddress(payer.address), payer)
  const { timestamp } = await network.client.getBlock()
  return await signOffer(payer, offer, { validBefore: timestamp + 300n })
}

function findPayer({ payer }: Payment): Wallet {
  const wallet = payers.get(payer)
  if (wallet === undefined) throw new Error(`${payer} is not a payer of these tests`)
  return wallet
}

const submitPayment = (payment: Payment) => submit(network.client, encodeTransfer(payment))

/** The payer sends money without an authorization. */
async function transferDirectly({ payer, to }: Payment, amount: bigint): Promise<Hash> {
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'transfer', args: [to, amount] })
  return await submit(network.client, data, dollarAddress, payer)
}

async function cancel(payment: Payment): Promise<void> {
  const signature = await signCancel(findPayer(payment), payment.nonce)
  const args = [payment.payer, payment.nonce, signature] as const
  await submit(network.client, encodeFunctionData({ abi: dollarAbi, functionName: 'cancelAuthorization', args }))
}

/** The payer signs the same nonce again, for a transfer that differs by `changes`. */
const signAgain = (payment: Payment, changes: Partial<Payment>) => {
  const { nonce, validBefore } = payment
  return signOffer(findPayer(payment), offer, { nonce, validBefore, ...changes })
}

/** Submits several calls of the dollar contract in one transaction. */
function submitBatch(calls: readonly Hex[]): Promise<Hash> {
  const abi = parseAbi(['function aggregate3((address target, bool allowFailure, bytes callData)[] calls)'])
  const args = [calls.map((callData) => ({ target: dollarAddress, allowFailure: false, callData }))] as const
  return submit(network.client, encodeFunctionData({ abi, functionName: 'aggregate3', args }), multicallAddress)
}

/** The node's safe block is 32 blocks behind the newest. */
const SAFE_BEHIND = 32

async function passTime(seconds: number, blocks: number): Promise<void> {
  await network.client.increaseTime({ seconds })
  await network.client.mine({ blocks })
}

async function createStoppedEndpoint(): Promise<string> {
  const { url, stop } = startOddEndpoint(network.rpcUrl, {})
  await stop()
  return url
}

testChain('viem', async () => ({
  chain,
  gone: openChainAt(await createStoppedEndpoint()),
  foreign: openChainThrough({ eth_chainId: () => ({ result: '0x1' }) }),
  payment: createPayment,
  settle: submitPayment,
  give: transferDirectly,
  cancel,
  spendElsewhere: async (payment) => {
    await submitPayment(await signAgain(payment, { to: toLowerAddress(STRANGER) }))
  },
  expire: () => passTime(301, SAFE_BEHIND + 2),
}))

describe('payments that share a transaction', () => {
  test('many payments in one transaction are each paid by it, but not a payment for another payee', async () => {
    const [first, second, astray] = [await createPayment(), await createPayment(), await createPayment()]
    const head = await readHeadFor(chain, first)
    const elsewhere = await signAgain(astray, { to: toLowerAddress(STRANGER) })
    const tx = await submitBatch([encodeTransfer(first), encodeTransfer(elsewhere), encodeTransfer(second)])
    expect(await chain.readPaymentStatus(first, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus(second, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus(astray, head)).toMatchObject({ kind: 'void' })
  })
})

describe('the transaction that a facilitator named', () => {
  test('the transaction that a facilitator named is read before any range of blocks', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    const endpoint = oddEndpoint()
    expect(await openChainAt(endpoint.url).readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(endpoint.countCalls('eth_getLogs')).toBe(0)
  })

  test('a transaction that a facilitator named proves nothing: the real one is found without it', async () => {
    const [payment, other] = [await createPayment(), await createPayment()]
    const head = await readHeadFor(chain, payment)
    const astray = await submitPayment(other)
    const invented = toHex(1n, { size: 32 })
    for (const named of [astray, invented])
      expect(await chain.readPaymentStatus(payment, head, named)).toEqual({ kind: 'unspent' })
    const tx = await submitPayment(payment)
    for (const named of [astray, invented])
      expect(await chain.readPaymentStatus(payment, head, named)).toEqual({ kind: 'paid', tx })
  })
})

/** The maximum range of blocks of some endpoints. */
const LIMITS = [1, 5, 10, 500, 10_000]

describe('a nonce spent on another transfer', () => {
  const elsewhere = { kind: 'void', why: 'the authorization was used for another transfer' } as const

  test('a nonce spent on another payee or amount is not a payment to the wall', async () => {
    for (const changes of [{ to: toLowerAddress(STRANGER) }, { amount: 999_999n }, { amount: 1_000_001n }]) {
      const payment = await createPayment()
      const head = await readHeadFor(chain, payment)
      await submitPayment(await signAgain(payment, changes))
      expect(await chain.readPaymentStatus(payment, head)).toEqual(elsewhere)
    }
  })

  test('only the event right after a nonce is its transfer: a dollar later in the transaction does not pay for it', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const { payer, to, amount } = payment
    await network.client.setBalance({ address: payer, value: parseEther('1') })
    const approve = [multicallAddress, amount] as const
    await submit(
      network.client,
      encodeFunctionData({ abi: dollarAbi, functionName: 'approve', args: approve }),
      dollarAddress,
      payer,
    )
    const astray = encodeTransfer(await signAgain(payment, { to: toLowerAddress(STRANGER) }))
    const args = [payer, to, amount] as const
    await submitBatch([astray, encodeFunctionData({ abi: dollarAbi, functionName: 'transferFrom', args })])
    expect(await network.readBalance(payer)).toBe(1_000_000n)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(elsewhere)
  })
})

describe('an authorization past its end', () => {
  const expired = { kind: 'void', why: 'the authorization expired without being used', final: true } as const
  const unspent = { kind: 'unspent' } as const

  test('an expired authorization counts as spendable until no block before its end can be replaced', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(400, SAFE_BEHIND - 5)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(unspent)
    await network.client.mine({ blocks: 10 })
    expect(await chain.readPaymentStatus(payment, head)).toEqual(expired)
  })

  test('an expired authorization counts as paid once a longer one with its nonce has paid, even in a block that may be replaced', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(400, SAFE_BEHIND + 5)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(expired)
    const tx = await submitPayment(await signAgain(payment, { validBefore: payment.validBefore + 1000n }))
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  })

  test('an expired authorization gets one more minute if the endpoint knows no safe block', async () => {
    const safeless = [
      openChainThrough(createSafeAnswer({ error: { code: -32602, message: 'unknown block tag' } })),
      openChainThrough(createSafeAnswer({ error: { code: -32000, message: 'safe block not found' } })),
      openChainThrough(createSafeAnswer({ result: null })),
    ]
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await network.client.setNextBlockTimestamp({ timestamp: payment.validBefore + 60n })
    await network.client.mine({ blocks: 1 })
    for (const safelessChain of safeless) expect(await safelessChain.readPaymentStatus(payment, head)).toEqual(unspent)
    await network.client.setNextBlockTimestamp({ timestamp: payment.validBefore + 61n })
    await network.client.mine({ blocks: 1 })
    for (const safelessChain of safeless) expect(await safelessChain.readPaymentStatus(payment, head)).toEqual(expired)
  })

  test('an expired authorization stays open while the endpoint fails to return its safe block', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(1000, SAFE_BEHIND + 1)
    const busy = openChainThrough(createSafeAnswer({ error: { code: -32005, message: 'limit exceeded' } }))
    expect(await busy.readPaymentStatus(payment, head)).toEqual(SILENT)
    const blank = openChainThrough(createSafeAnswer({ result: {} }))
    expect(await blank.readPaymentStatus(payment, head)).toEqual(SILENT)
  })

  /** An endpoint that misbehaves only about its safe block. */
  const createSafeAnswer = (answer: Oddity): Readonly<Record<string, Rule>> => ({
    eth_getBlockByNumber: async ([tag], ask) => (tag === 'safe' ? answer : { result: await ask() }),
    eth_call: async ([, tag], ask) => (tag === 'safe' ? answer : { result: await ask() }),
  })
})

describe('an endpoint that fails', () => {
  test('an endpoint that hangs, stops half-way, redirects or is slow counts as silent within the time limit', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await submitPayment(payment)
    const answerSlowly: Rule = async (_, ask) => {
      await Bun.sleep(500)
      return { result: await ask() }
    }
    const openImpatientChain = (rule: Rule) =>
      openChainAt(oddEndpoint({ '*': rule }).url, offer, { ...TIMES, chainCallTimeoutMs: 600, chainDeadlineMs: 1500 })
    const failing = (['hang', 'stall', 'busy'] as const).map((how) => openImpatientChain(() => how))
    const silent = Promise.all(
      failing.map((there) =>
        Promise.all([there.read(payment), there.readPaymentStatus(payment, head), there.checkHealth()]),
      ),
    )
    const late = openImpatientChain(answerSlowly).readPaymentStatus(payment, head)
    expect(await silent).toEqual(failing.map(() => ['silent', SILENT, expect.objectContaining(SILENT)]))
    expect(await late).toEqual(SILENT)
  })

  test('an endpoint that fails once gets the call again', async () => {
    const payment = await createPayment()
    let calls = 0
    const shaky = openChainThrough({
      '*': async (_, ask) =>
        calls++ === 0 ? { error: { code: -32603, message: 'internal error' } } : { result: await ask() },
    })
    expect(await shaky.read(payment)).toMatchObject({ spent: false })
  })

  test('an endpoint that returns malformed data counts as silent', async () => {
    const payment = await createPayment()
    for (const result of [null, {}, 'block', 7, { number: '0x10' }, { timestamp: '0x10' }]) {
      const nonsense = openChainThrough({ eth_getBlockByNumber: () => ({ result }), eth_call: () => ({ result }) })
      expect(await nonsense.read(payment)).toBe('silent')
      expect(await nonsense.readPaymentStatus(payment, 0n)).toEqual(SILENT)
    }
    const emptyAnswers = openChainThrough({ eth_call: () => ({ result: '0x' }) })
    expect(await emptyAnswers.read(payment)).toBe('silent')
    expect(await emptyAnswers.readPaymentStatus(payment, 0n)).toEqual(SILENT)
  })
})

describe('an endpoint with inconsistent data', () => {
  test('an endpoint without the event of a spent authorization counts as silent', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await submitPayment(payment)
    expect(await openChainThrough({ eth_getLogs: () => ({ result: [] }) }).readPaymentStatus(payment, head)).toEqual(
      SILENT,
    )
    expect(
      await openChainThrough({ eth_getTransactionReceipt: () => ({ result: null }) }).readPaymentStatus(payment, head),
    ).toEqual(SILENT)
  })

  test('an endpoint whose receipt and log differ counts as silent', async () => {
    const [payment, other] = [await createPayment(), await createPayment()]
    const head = await readHeadFor(chain, payment)
    await submitPayment(payment)
    const hash = await submitPayment(other)
    const mixed = openChainThrough({
      eth_getLogs: async (_, ask) => {
        const logs = (await ask()) as readonly object[]
        return { result: logs.map((log) => ({ ...log, transactionHash: hash })) }
      },
    })
    expect(await mixed.readPaymentStatus(payment, head)).toEqual(SILENT)
  })

  test('a payment is found after a reorganisation gave its events other numbers', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    const renumbered = openChainThrough({
      eth_getLogs: async (_, ask) => {
        const logs = (await ask()) as readonly object[]
        return { result: logs.map((log) => ({ ...log, logIndex: '0x63' })) }
      },
    })
    expect(await renumbered.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  })
})

test('a payment that settled much later is found with queries within the range that the endpoint serves', async () => {
  const payment = await createPayment()
  const head = await readHeadFor(chain, payment)
  await network.client.mine({ blocks: 100 })
  const tx = await submitPayment(payment)
  await network.client.mine({ blocks: 100 })
  for (const limit of LIMITS) {
    const narrow = openChainThrough({ eth_getLogs: createBlockRangeRule(limit) })
    expect(await narrow.checkHealth()).toMatchObject({ kind: 'none' })
    expect(await narrow.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  }
})

test('transfers over many blocks are read in ranges that the endpoint serves, and none is missed', async () => {
  const payee = toLowerAddress(createWallet().address)
  const payments = [await createPayment(), await createPayment(), await createPayment()]
  const from = (await readHeadFor(chain, payments[0] ?? (await createPayment()))) + 1n
  const to: Hash[] = []
  for (const payment of payments) {
    to.push(await submitPayment(await signAgain(payment, { to: payee })))
    await network.client.mine({ blocks: 30 })
  }
  for (const limit of LIMITS) {
    const narrow = openChainThrough({ eth_getLogs: createBlockRangeRule(limit) })
    const told: Hash[] = []
    for (let next = from; ;) {
      const page = await narrow.transfersTo(payee, next)
      if (page === 'silent') throw new Error('the chain is silent')
      told.push(...page.transfers.map(({ tx }) => tx))
      next = page.next
      if (page.isAll) break
    }
    expect(told).toEqual(to)
  }
})

test('two payments in one transaction are each found with their own authorization', async () => {
  const [first, second] = [await createPayment(), await createPayment()]
  const from = (await readHeadFor(chain, first)) + 1n
  const tx = await submitBatch([encodeTransfer(first), encodeTransfer(second)])
  const told = await chain.transfersTo(first.to, from)
  expect(told === 'silent' ? told : told.transfers.map(({ nonce, tx: by }) => [nonce, by])).toEqual([
    [first.nonce, tx],
    [second.nonce, tx],
  ])
})

describe('tokens that can never work', () => {
  const token = {
    kind: 'fault',
    what: 'the token’s name or version differs from the one that payers sign for',
  } as const

  test('a token that does not exist can never work', async () => {
    const there = toLowerAddress(createWallet().address)
    const elsewhere = openChainAt(network.rpcUrl, { ...offer, terms: { ...offer.terms, asset: there } })
    const what = 'the token is not deployed on this chain'
    expect(await elsewhere.checkHealth()).toEqual({ kind: 'fault', what })
  })

  test('a token with another name or version can never work', async () => {
    expect(await openChainAt(network.rpcUrl, { ...offer, assetName: 'USDC' }).checkHealth()).toEqual(token)
    expect(await openChainAt(network.rpcUrl, { ...offer, assetVersion: '1' }).checkHealth()).toEqual(token)
  })

  test('a contract without a name can never work', async () => {
    const there = toLowerAddress(multicallAddress)
    expect(
      await openChainAt(network.rpcUrl, { ...offer, terms: { ...offer.terms, asset: there } }).checkHealth(),
    ).toEqual(token)
    expect(await openChainThrough({ eth_call: () => ({ result: '0x' }) }).checkHealth()).toEqual(token)
  })

  test('a failing endpoint does not count as a token that can never work', async () => {
    const trouble = { error: { code: -32603, message: 'internal error' } }
    for (const method of ['eth_chainId', 'eth_call'])
      expect(await openChainThrough({ [method]: () => trouble }).checkHealth()).toMatchObject(SILENT)
  })
})

test('one query of events finds both ways in which an authorization ends', async () => {
  const payment = await createPayment()
  const head = await readHeadFor(chain, payment)
  await cancel(payment)
  const endpoint = oddEndpoint()
  await openChainAt(endpoint.url).readPaymentStatus(payment, head)
  expect(endpoint.countCalls('eth_getLogs')).toBe(1)
})
