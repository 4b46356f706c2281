import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { decodeFunctionResult, encodeFunctionResult, multicall3Abi, pad, type Hex } from 'viem'
import { createViemChain } from '../../../server/adapters/chain/chain.ts'
import { openEndpoints } from '../../../server/adapters/chain/endpoints.ts'
import type { Payment } from '../../../server/domain/purchase/payment.ts'
import { startLocalNetwork, type LocalNetwork } from '../../../server/local/network.ts'
import { multicallAddress } from '../../../server/local/token/contracts.ts'
import type { Chain, Clock } from '../../../server/ports.ts'
import { startLoopbackServers } from '../../support/chain/loopback.ts'
import {
  createBlockRangeRule,
  type OddEndpoint,
  type Rule,
  startOddEndpoints,
  createRequestSender,
} from '../../support/chain/odd-endpoint.ts'
import { createOffer, signOffer, submitCall, encodeTransfer } from '../../support/chain/signing.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createWalletAddress } from '../../support/samples.ts'
import { readHeadFor } from '../ports/chain.contract.ts'

// Goal: payments are found through the kinds of endpoints that operators use. Method: a real chain behind endpoints
// that rate-limit or reject calls, lag behind or lack old state, alone and in lists; the tests count their calls.

const offer = createOffer()
const UNSPENT = { kind: 'unspent' } as const
const SILENT = { kind: 'silent' } as const

let network: LocalNetwork
const serve = startLoopbackServers()
const oddEndpoint = startOddEndpoints(() => network.rpcUrl)
beforeAll(async () => {
  network = await startLocalNetwork({ idle: true })
})
afterAll(() => network.stop())

/** Opens the chain through a list of endpoints. */
function openChainThrough(
  endpoints: readonly OddEndpoint[],
  clock: Clock = createFakeClock(0),
  callsPerSecond?: number,
): Chain {
  const urls = endpoints.map(({ url }) => url)
  return createViemChain(openEndpoints('eip155:8453', urls, { clock, callsPerSecond }), offer)
}

/** The rules of an endpoint of Arbitrum, where contracts see the block height of another chain. */
const ofArbitrum: Readonly<Record<string, Rule>> = {
  eth_chainId: () => ({ result: '0xa4b1' }),
  eth_call: async ([call], ask) => {
    const answer = (await ask()) as Hex
    if ((call as { to: Hex }).to.toLowerCase() !== multicallAddress.toLowerCase()) return { result: answer }
    const request = { abi: multicall3Abi, functionName: 'aggregate3' } as const
    const [, ...others] = decodeFunctionResult({ ...request, data: answer })
    const height = { success: true, returnData: pad('0x01') }
    return { result: encodeFunctionResult({ ...request, result: [height, ...others] }) }
  },
}

async function createPayment(): Promise<Payment> {
  const payer = await network.createFundedWallet(2)
  const { timestamp } = await network.client.getBlock()
  return await signOffer(payer, offer, { validBefore: timestamp + 100_000n })
}

const submitPayment = (payment: Payment) => submitCall(network.client, encodeTransfer(payment))

const refuseMethod: Rule = () => ({ error: { code: -32_601, message: 'the method does not exist' } })

/** The rule of an endpoint that serves state only for the latest block. */
const answerOnlyLatest: Rule = async ([, at], ask) =>
  at === 'latest' ? { result: await ask() } : { error: { code: -32_000, message: 'missing trie node' } }

const refuseMulticall: Rule = async ([call], ask) =>
  (call as { to: Hex }).to.toLowerCase() === multicallAddress.toLowerCase()
    ? { error: { code: -32_600, message: 'not allowed' } }
    : { result: await ask() }

/** The rules of an endpoint that lags by `behind` blocks, in its block number and in calls at `latest`. */
function createLaggingRules(behind: bigint): Readonly<Record<string, Rule>> {
  const readLaggingHeight = async () =>
    `0x${((await network.client.getBlockNumber({ cacheTime: 0 })) - behind).toString(16)}`
  return {
    eth_call: async ([call, tag], ask) => {
      if (tag !== 'latest') return { result: await ask() }
      const { data: returned } = await network.client.call({
        ...(call as { to: Hex; data: Hex }),
        blockNumber: BigInt(await readLaggingHeight()),
      })
      return { result: returned }
    },
    eth_blockNumber: async () => ({ result: await readLaggingHeight() }),
  }
}

describe('one endpoint', () => {
  test('an endpoint gets 3 calls for a sale before the buyer gets a response, and one call for the first check afterwards', async () => {
    const endpoint = oddEndpoint()
    const chain = openChainThrough([endpoint])
    await chain.checkHealth()
    const payment = await createPayment()
    const before = endpoint.countCalls()
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(endpoint.countCalls() - before).toBe(3)
    await network.client.mine({ blocks: 1 })
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
    expect(endpoint.countCalls() - before).toBe(4)
  })

  test('an endpoint gets two calls for the last check of a sale, so a sale costs 6 calls in total', async () => {
    const endpoint = oddEndpoint()
    const chain = openChainThrough([endpoint])
    const payer = await network.createFundedWallet(2)
    const { timestamp } = await network.client.getBlock()
    const payment = await signOffer(payer, offer, { validBefore: timestamp + 300n })
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    await network.client.increaseTime({ seconds: 400 })
    await network.client.mine({ blocks: 300 })
    await chain.checkHealth()
    const before = endpoint.countCalls()
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx, final: true })
    expect(endpoint.countCalls() - before).toBe(2)
  })

  test('many reads in one turn of the event loop are combined into one call to the endpoint', async () => {
    const endpoint = oddEndpoint()
    const chain = openChainThrough([endpoint])
    await chain.checkHealth()
    const payments = await Promise.all(Array.from({ length: 30 }, createPayment))
    const before = endpoint.countCalls()
    const statuses = await Promise.all(payments.map((payment) => chain.readPaymentStatus(payment, 0n)))
    expect(statuses).toEqual(payments.map(() => UNSPENT))
    expect(endpoint.countCalls() - before).toBe(1)
  })

  test('an endpoint that rejects multicalls gets single calls', async () => {
    const endpoint = oddEndpoint({ eth_call: refuseMulticall })
    const chain = openChainThrough([endpoint])
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    expect(await chain.readPaymentStatus(payment, head)).toEqual(UNSPENT)
    const tx = await submitPayment(payment)
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(await chain.checkHealth()).toMatchObject({ kind: 'none' })
  })

  test('on Arbitrum, whose contracts see the block heights of Ethereum, payments are found, and health reports that the wall no longer sells there', async () => {
    const endpoints = openEndpoints('eip155:42161', [oddEndpoint(ofArbitrum).url], { clock: createFakeClock(0) })
    const chain = createViemChain(endpoints, { ...offer, terms: { ...offer.terms, network: 'eip155:42161' } })
    const what = 'this wall no longer sells on eip155:42161; what was sold there stays sold'
    expect(await chain.checkHealth()).toEqual({ kind: 'fault', what })
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    expect(head).toBe(await network.client.getBlockNumber({ cacheTime: 0 }))
    const tx = await submitPayment(payment)
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
    const arrived = await chain.readTransfers(offer.terms.payTo, head)
    expect(arrived).toMatchObject({ transfers: [{ tx }], isAll: true })
  })

  test('through an endpoint without old state, a payment is found by its event, however few blocks of events the endpoint serves per call', async () => {
    const payment = await createPayment()
    const head = await readHeadFor(openChainThrough([oddEndpoint()]), payment)
    await network.client.mine({ blocks: 40 })
    const tx = await submitPayment(payment)
    for (const limit of [5, 10, 10_000]) {
      const endpoint = oddEndpoint({ eth_call: answerOnlyLatest, eth_getLogs: createBlockRangeRule(limit) })
      expect(await openChainThrough([endpoint]).readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
    }
  })

  test('if an endpoint serves no event logs, a payment is found in the receipts of its block, and health reports the missing logs', async () => {
    const endpoint = oddEndpoint({ eth_getLogs: refuseMethod })
    const chain = openChainThrough([endpoint])
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    await network.client.mine({ blocks: 20 })
    const tx = await submitPayment(payment)
    await network.client.mine({ blocks: 20 })
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
    expect(await chain.readTransfers(payment.to, head)).toBe('silent')
    const { host } = new URL(endpoint.url)
    expect(await chain.checkHealth()).toMatchObject({
      kind: 'none',
      lacks: `the chain endpoint ${host} does not serve event logs`,
    })
  })

  test('health reports an endpoint that serves the event logs of only a few blocks per call', async () => {
    const chain = openChainThrough([oddEndpoint({ eth_getLogs: createBlockRangeRule(10) })])
    expect(await chain.checkHealth()).toMatchObject({
      kind: 'none',
      lacks: expect.stringMatching(
        /^the chain endpoint 127\.0\.0\.1:\d+ serves event logs of at most \d blocks per call$/,
      ),
    })
  })

  test('while an endpoint is rate-limiting us, reads do not call it, and health reports its host but not the secrets in its URL', async () => {
    const clock = createFakeClock(0)
    let isBusy = true
    const endpoint = oddEndpoint({ '*': async (_, ask) => (isBusy ? 'busy' : { result: await ask() }) })
    const secret = `${endpoint.url.replace('//', '//user:hush@')}/key-hush`
    const chain = createViemChain(openEndpoints('eip155:8453', [secret], { clock }), offer)
    const payment = await createPayment()
    expect(await chain.readAuthorization(payment)).toBe('silent')
    const asked = endpoint.countCalls()
    expect(await chain.readAuthorization(payment)).toBe('silent')
    expect(await chain.readPaymentStatus(payment, 0n)).toEqual(SILENT)
    expect(endpoint.countCalls()).toBe(asked)
    const { host } = new URL(endpoint.url)
    expect(await chain.checkHealth()).toEqual({
      kind: 'silent',
      what: `the chain endpoint ${host} is rate-limiting us (429)`,
    })
    isBusy = false
    clock.advance(300_000)
    expect(await chain.readAuthorization(payment)).toMatchObject({ spent: false })
  })

  test('a settled payment counts as paid even if the endpoint fails to return its safe block', async () => {
    const payer = await network.createFundedWallet(2)
    const { timestamp } = await network.client.getBlock()
    const payment = await signOffer(payer, offer, { validBefore: timestamp + 300n })
    const head = await readHeadFor(openChainThrough([oddEndpoint()]), payment)
    const tx = await submitPayment(payment)
    await network.client.increaseTime({ seconds: 400 })
    await network.client.mine({ blocks: 1 })
    const failOnSafe: Rule = async (params, ask) =>
      params.includes('safe') ? { error: { code: -32_005, message: 'limit exceeded' } } : { result: await ask() }
    const chain = openChainThrough([oddEndpoint({ eth_call: failOnSafe, eth_getBlockByNumber: failOnSafe })])
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
  })
})

describe('several endpoints', () => {
  test.each<[string, Readonly<Record<string, Rule>>]>([
    ['rejects calls', { '*': () => 'busy' }],
    ['fails', { '*': () => ({ error: { code: -32_603, message: 'internal error' } }) }],
    ['returns malformed data', { '*': () => ({ result: 'nonsense' }) }],
    ['serves another chain', { eth_chainId: () => ({ result: '0x1' }) }],
  ])('the second endpoint is used if the first one %s', async (_, rules) => {
    const [first, second] = [oddEndpoint(rules), oddEndpoint()]
    const chain = openChainThrough([first, second])
    const payment = await createPayment()
    const head = await readHeadFor(chain, payment)
    const tx = await submitPayment(payment)
    expect(await chain.readPaymentStatus(payment, head, tx)).toEqual({ kind: 'paid', tx })
    expect(await chain.readTransfers(payment.to, head)).not.toBe('silent')
    expect(second.countCalls('eth_call')).toBeGreaterThan(0)
  })

  test('an endpoint that failed is used last, until a probe of it succeeds', async () => {
    let isDown = true
    const first = oddEndpoint({
      '*': async (_, ask) => (isDown ? { error: { code: -32_603, message: '' } } : { result: await ask() }),
    })
    const chain = openChainThrough([first, oddEndpoint()])
    const payment = await createPayment()
    await chain.readAuthorization(payment)
    isDown = false
    const before = first.countCalls()
    await chain.readAuthorization(payment)
    expect(first.countCalls()).toBe(before)
    expect(await chain.checkHealth()).toMatchObject({ kind: 'none' })
    await chain.readAuthorization(payment)
    expect(first.countCalls('eth_call')).toBeGreaterThan(0)
  })

  test('an endpoint that lags behind is not believed when it reports that a payment is missing', async () => {
    const [late, level] = [oddEndpoint(createLaggingRules(3n)), oddEndpoint()]
    const payment = await createPayment()
    const ahead = openChainThrough([level, late])
    const head = await readHeadFor(ahead, payment)
    await network.client.mine({ blocks: 5 })
    const chain = openChainThrough([late, level])
    await chain.checkHealth()
    expect(await chain.readAuthorization(payment)).toEqual({ head: head + 5n, spent: false })
    const tx = await submitPayment(payment)
    expect(await chain.readAuthorization(payment)).toMatchObject({ spent: true })
    expect(await chain.readPaymentStatus(payment, head)).toEqual({ kind: 'paid', tx })
    const alone = openChainThrough([late])
    expect(await alone.readPaymentStatus(payment, head + 6n)).toEqual(SILENT)
  })

  test('health reports the problem of one endpoint even if another one works', async () => {
    const [first, second] = [oddEndpoint({ '*': () => 'busy' }), oddEndpoint()]
    const { host } = new URL(first.url)
    expect(await openChainThrough([first, second]).checkHealth()).toMatchObject({
      kind: 'none',
      lacks: `the chain endpoint ${host} is rate-limiting us (429)`,
    })
  })
})

describe('a budget of calls per second', () => {
  test('with a limit of 5 calls per second, an endpoint gets at most 5 calls in any second', async () => {
    const clock = createFakeClock(0)
    const beats: number[] = []
    const endpoint = oddEndpoint({
      '*': async (_, ask) => {
        beats.push(clock.elapsed())
        return { result: await ask() }
      },
    })
    const chain = openChainThrough([endpoint], clock, 5)
    const payments = await Promise.all(Array.from({ length: 12 }, createPayment))
    for (const payment of payments) expect(await chain.readAuthorization(payment)).toMatchObject({ spent: false })
    for (const at of beats) expect(beats.filter((beat) => beat >= at && beat < at + 1000).length).toBeLessThanOrEqual(5)
    expect(beats).toHaveLength(13)
  })
})

describe('the cost of an endpoint is limited:', () => {
  const createBalanceAnswer = (value: string) => Response.json({ jsonrpc: '2.0', id: 1, result: value })

  const requestBalance = (url: string) => createRequestSender(url)('eth_getBalance', [createWalletAddress(1), 'latest'])

  test('a redirect from an endpoint is not followed', async () => {
    let followed = 0
    const elsewhere = serve(() => {
      followed += 1
      return createBalanceAnswer('0x1')
    })
    for (const status of [301, 302, 307, 308])
      await expect(requestBalance(serve(() => Response.redirect(elsewhere, status)))).rejects.toThrow()
    expect(followed).toBe(0)
  })

  test('a response of 10 MB from an endpoint is rejected, and one of 1 MB is accepted', async () => {
    const padded = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' }).padEnd(10_000_000)
    await expect(requestBalance(serve(() => new Response(padded)))).rejects.toThrow()
    expect(await requestBalance(serve(() => new Response(padded.slice(0, 1_000_000))))).toBe('0x1')
  })
})
