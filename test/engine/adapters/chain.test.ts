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
  signCancellation,
  submitCall,
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

/** Opens the chain through an endpoint that follows `rules`. */
const openChainThrough = (rules: Readonly<Record<string, Rule>>) => openChainAt(oddEndpoint(rules).url)

test.each([
  ['eip155:8453', base],
  ['eip155:84532', baseSepolia],
] as const)('without configured endpoints, %s is queried at the endpoint that viem uses', (name, known) => {
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

const submitPayment = (payment: Payment) => submitCall(network.client, encodeTransfer(payment))

/** Sends an amount from the payer to the payee without an authorization, and returns the transaction. */
async function transferDirectly({ payer, to }: Payment, amount: bigint): Promise<Hash> {
  const data = encodeFunctionData({ abi: dollarAbi, functionName: 'transfer', args: [to, amount] })
  return await submitCall(network.client, data, dollarAddress, payer)
}

async function cancelAuthorization(payment: Payment): Promise<void> {
  const signature = await signCancellation(findPayer(payment), payment.nonce)
  const args = [payment.payer, payment.nonce, signature] as const
  await submitCall(network.client, encodeFunctionData({ abi: dollarAbi, functionName: 'cancelAuthorization', args }))
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
  return submitCall(network.client, encodeFunctionData({ abi, functionName: 'aggregate3', args }), multicallAddress)
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
  createPayment,
  settle: submitPayment,
  transferDirectly,
  cancelAuthorization,
  spendElsewhere: async (payment) => {
    await submitPayment(await signAgain(payment, { to: toLowerAddress(STRANGER) }))
  },
  expire: () => passTime(301, SAFE_BEHIND + 2),
}))

describe('payments that share a transaction', () => {
  test('each payment in a shared transaction counts as paid by that transaction, except one whose nonce was used to pay another payee', async () => {
    const [first, second, astray] = [await createPayment(), await createPayment(), await createPayment()]
    const head = await readHeadFor(chain, first)
    const elsewhere = await signAgain(astray, { to: toLowerAddress(STRANGER) })
    const tx = await submitBatch([encodeTransfer(first), encodeTransfer(elsewhere), encodeTransfer(second)])
    expect(await chain.readPaymentStatus(first, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus(second, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus(astray, head)).toMatchObject({ kind: 'void' })
  })
})

describe('the transaction that a facilitator reported', () => {
  test('the transaction that a facilitator reported is read first, so no range of blocks is searched', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    const endpoint = oddEndpoint()
    expect(await openChainAt(endpoint.url).readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(endpoint.countCalls('eth_getLogs')).toBe(0)
  })

  test('a wrong transaction that a facilitator reports proves nothing, and the right transaction is still found', async () => {
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

/** Limits of endpoints on the number of blocks in one query for events. */
const LIMITS = [1, 5, 10, 500, 10_000]

describe('a nonce spent on another transfer', () => {
  const elsewhere = { kind: 'void', why: 'the authorization was used for another transfer' } as const

  test('a payment is void if its nonce was spent on a transfer to another payee or of another amount', async () => {
    for (const changes of [{ to: toLowerAddress(STRANGER) }, { amount: 999_999n }, { amount: 1_000_001n }]) {
      const payment = await createPayment()
      const head = await readHeadFor(chain, payment)
      await submitPayment(await signAgain(payment, changes))
      expect(await chain.readPaymentStatus(payment, head)).toEqual(elsewhere)
    }
  })

  test('only the transfer right after the event of a nonce counts for that nonce, so a later transfer in the same transaction does not count as the payment', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const { payer, to, amount } = payment
    await network.client.setBalance({ address: payer, value: parseEther('1') })
    const approve = [multicallAddress, amount] as const
    await submitCall(
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

describe('an authorization after its expiry', () => {
  const expired = { kind: 'void', why: 'the authorization expired without being used', final: true } as const
  const unspent = { kind: 'unspent' } as const

  test('an expired authorization counts as spendable until no block before its expiry can be replaced', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(400, SAFE_BEHIND - 5)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(unspent)
    await network.client.mine({ blocks: 10 })
    expect(await chain.readPaymentStatus(payment, head)).toEqual(expired)
  })

  test('an expired authorization counts as paid once an authorization with the same nonce and a later expiry has paid, even in a block that may be replaced', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(400, SAFE_BEHIND + 5)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(expired)
    const tx = await submitPayment(await signAgain(payment, { validBefore: payment.validBefore + 1000n }))
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  })

  test('if the endpoint knows no safe block, an authorization counts as spendable for one more minute after its expiry', async () => {
    const safeless = [
      openChainThrough(createSafeBlockRules({ error: { code: -32602, message: 'unknown block tag' } })),
      openChainThrough(createSafeBlockRules({ error: { code: -32000, message: 'safe block not found' } })),
      openChainThrough(createSafeBlockRules({ result: null })),
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

  test('the status of an expired authorization is unknown while the endpoint fails to return its safe block', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await passTime(1000, SAFE_BEHIND + 1)
    const busy = openChainThrough(createSafeBlockRules({ error: { code: -32005, message: 'limit exceeded' } }))
    expect(await busy.readPaymentStatus(payment, head)).toEqual(SILENT)
    const blank = openChainThrough(createSafeBlockRules({ result: {} }))
    expect(await blank.readPaymentStatus(payment, head)).toEqual(SILENT)
  })

  /** The rules of an endpoint that returns `answer` for its safe block, and is honest otherwise. */
  const createSafeBlockRules = (answer: Oddity): Readonly<Record<string, Rule>> => ({
    eth_getBlockByNumber: async ([tag], ask) => (tag === 'safe' ? answer : { result: await ask() }),
    eth_call: async ([, tag], ask) => (tag === 'safe' ? answer : { result: await ask() }),
  })
})

describe('an endpoint that fails', () => {
  test('an endpoint that hangs, stalls in the middle of a response, rate-limits us or is too slow counts as silent within the time limit', async () => {
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
        Promise.all([there.readAuthorization(payment), there.readPaymentStatus(payment, head), there.checkHealth()]),
      ),
    )
    const late = openImpatientChain(answerSlowly).readPaymentStatus(payment, head)
    expect(await silent).toEqual(failing.map(() => ['silent', SILENT, expect.objectContaining(SILENT)]))
    expect(await late).toEqual(SILENT)
  })

  test('a call that fails once is retried', async () => {
    const payment = await createPayment()
    let calls = 0
    const shaky = openChainThrough({
      '*': async (_, ask) =>
        calls++ === 0 ? { error: { code: -32603, message: 'internal error' } } : { result: await ask() },
    })
    expect(await shaky.readAuthorization(payment)).toMatchObject({ spent: false })
  })

  test('an endpoint that returns malformed data counts as silent', async () => {
    const payment = await createPayment()
    for (const result of [null, {}, 'block', 7, { number: '0x10' }, { timestamp: '0x10' }]) {
      const nonsense = openChainThrough({ eth_getBlockByNumber: () => ({ result }), eth_call: () => ({ result }) })
      expect(await nonsense.readAuthorization(payment)).toBe('silent')
      expect(await nonsense.readPaymentStatus(payment, 0n)).toEqual(SILENT)
    }
    const emptyAnswers = openChainThrough({ eth_call: () => ({ result: '0x' }) })
    expect(await emptyAnswers.readAuthorization(payment)).toBe('silent')
    expect(await emptyAnswers.readPaymentStatus(payment, 0n)).toEqual(SILENT)
  })
})

describe('an endpoint with inconsistent data', () => {
  test('an endpoint that returns no event or no receipt of a spent authorization counts as silent', async () => {
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

  test('an endpoint whose event logs and receipts contradict each other counts as silent', async () => {
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

  test('a payment is found even if a reorganisation changed the log indexes of its events', async () => {
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

test('a payment that was seen in a block counts as cancelled if a reorganisation replaced that block by one with a cancellation', async () => {
  const payment = await createPayment()
  const head = await readHeadFor(chain, payment)
  const before = await network.client.snapshot()
  const tx = await submitPayment(payment)
  expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  await network.client.revert({ id: before })
  await cancelAuthorization(payment)
  expect(await chain.readPaymentStatus(payment, head)).toMatchObject({ kind: 'void' })
})

test('a payment that settled many blocks after it was signed is found by queries that each cover no more blocks than the endpoint serves per call', async () => {
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

test('transfers spread over many blocks are read in ranges that the endpoint serves, and none is missed', async () => {
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
    const txs: Hash[] = []
    for (let next = from; ;) {
      const page = await narrow.readTransfers(payee, next)
      if (page === 'silent') throw new Error('the chain is silent')
      txs.push(...page.transfers.map(({ tx }) => tx))
      next = page.next
      if (page.isAll) break
    }
    expect(txs).toEqual(to)
  }
})

test('two transfers in one transaction are each listed with their own authorization', async () => {
  const [first, second] = [await createPayment(), await createPayment()]
  const from = (await readHeadFor(chain, first)) + 1n
  const tx = await submitBatch([encodeTransfer(first), encodeTransfer(second)])
  const page = await chain.readTransfers(first.to, from)
  expect(page === 'silent' ? page : page.transfers.map(({ nonce, tx: by }) => [nonce, by])).toEqual([
    [first.nonce, tx],
    [second.nonce, tx],
  ])
})

describe('tokens that the wall cannot use', () => {
  const token = {
    kind: 'fault',
    what: 'the token’s name or version differs from that in the payments that payers sign',
  } as const

  test('health reports a fault if the token is not deployed', async () => {
    const there = toLowerAddress(createWallet().address)
    const elsewhere = openChainAt(network.rpcUrl, { ...offer, terms: { ...offer.terms, asset: there } })
    const what = 'the token is not deployed on this chain'
    expect(await elsewhere.checkHealth()).toEqual({ kind: 'fault', what })
  })

  test('health reports a fault if the name or version of the token differs from the one that payers sign for', async () => {
    expect(await openChainAt(network.rpcUrl, { ...offer, assetName: 'USDC' }).checkHealth()).toEqual(token)
    expect(await openChainAt(network.rpcUrl, { ...offer, assetVersion: '1' }).checkHealth()).toEqual(token)
  })

  test('health reports a fault if the token’s contract has no name', async () => {
    const there = toLowerAddress(multicallAddress)
    expect(
      await openChainAt(network.rpcUrl, { ...offer, terms: { ...offer.terms, asset: there } }).checkHealth(),
    ).toEqual(token)
    expect(await openChainThrough({ eth_call: () => ({ result: '0x' }) }).checkHealth()).toEqual(token)
  })

  test('health reports a failing endpoint as silent, and not as a fault of the token', async () => {
    const trouble = { error: { code: -32603, message: 'internal error' } }
    for (const method of ['eth_chainId', 'eth_call'])
      expect(await openChainThrough({ [method]: () => trouble }).checkHealth()).toMatchObject(SILENT)
  })
})

test('one query for events covers both the use and the cancellation of an authorization', async () => {
  const payment = await createPayment()
  const head = await readHeadFor(chain, payment)
  await cancelAuthorization(payment)
  const endpoint = oddEndpoint()
  await openChainAt(endpoint.url).readPaymentStatus(payment, head)
  expect(endpoint.countCalls('eth_getLogs')).toBe(1)
})
