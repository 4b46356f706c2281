/** Reads the chain through JSON-RPC endpoints of the user's choice, in batches. */

import { setTimeout as wait } from 'node:timers/promises'
import { concat, createClient, http, numberToHex, pad, toFunctionSelector } from 'viem'
import { toLowerHex, TRANSFER } from '../../../shared/chain/arrivals.ts'
import type { Network } from '../../../shared/usdc.ts'
import { WallError } from '../wall-error.ts'
import type { Hex, TransactionReceipt } from './chain-facts.ts'

/** The maximum number of calls in one request. */
export const BATCH_MAX = 100

// How many blocks of events one call covers, and how many calls one request contains: most public endpoints accept
// these numbers.
const WINDOW = 10_000n
const WINDOWS_AT_ONCE = 10

// A rejected query is split into this many parts and repeated.
const SMALLER = 4

const TIMEOUT_MS = 30_000

// Public endpoints limit calls per second, some with errors that viem does not know.
const PAUSES_MS = [0, 1000]

/** A chain to query. Every call throws a `WallError` if no endpoint responds. */
export type ChainReader = {
  /** The number of requests made so far. */
  readonly countRequests: () => number
  readonly readHead: () => Promise<{ readonly height: bigint; readonly time: number }>
  /** The receipts of transactions, in the same order; `null` for a transaction that no endpoint knows. */
  readReceipts(txs: readonly Hex[], onward: (done: number) => void): Promise<readonly (TransactionReceipt | null)[]>
  /** How much of a token a wallet holds, in atomic units. */
  readBalance(token: string, wallet: string): Promise<bigint>
  /** The times of blocks, in Unix milliseconds. */
  readTimes(heights: readonly bigint[]): Promise<readonly number[]>
  /**
   * Yields the transactions that moved a token to any of `payees` between the heights `from` and `to`, range by range.
   */
  findTransfers(token: Hex, payees: readonly Hex[], from: bigint, to: bigint): AsyncGenerator<Stretch>
}

/** The transactions found up to a height. */
export type Stretch = { readonly txs: readonly Hex[]; readonly through: bigint }

type Endpoint = ReturnType<typeof createEndpoint>

function createEndpoint(url: string, onRequest: () => void) {
  const transport = http(url, { batch: { batchSize: BATCH_MAX }, timeout: TIMEOUT_MS, onFetchRequest: onRequest })
  return { host: new URL(url).host, client: createClient({ transport }) }
}

/** Connects to a network. Throws a `WallError` if an endpoint serves another network, or no endpoint responds. */
export async function openChain(urls: readonly string[], network: Network): Promise<ChainReader> {
  const chainId = Number(network.slice('eip155:'.length))
  let requests = 0
  const named = urls.map((url) => createEndpoint(url, () => void requests++))
  const ids = await Promise.allSettled(named.map(({ client }) => client.request({ method: 'eth_chainId' })))
  const endpoints = named.filter((_, at) => ids[at]?.status === 'fulfilled')
  const wrong = named.find((_, at) => ids[at]?.status === 'fulfilled' && Number(ids[at].value) !== chainId)
  if (wrong !== undefined) throw createSilenceError(`${wrong.host} does not serve the wall’s chain, ${chainId}`)
  if (endpoints.length === 0) throw createSilenceError(`no endpoint responds (${listHosts(named)})`)
  return {
    countRequests: () => requests,
    readHead: () => queryFirst(endpoints, readBlock('latest')),
    readReceipts: (txs, onward) => fetchReceipts(endpoints, txs, onward),
    readBalance: (token, wallet) => queryFirst(endpoints, fetchBalance(token as Hex, wallet as Hex)),
    async readTimes(heights) {
      const blocks = await queryEach(endpoints, heights, (endpoint, height) => readBlock(numberToHex(height))(endpoint))
      return blocks.map(({ time }) => time)
    },
    findTransfers: (token, payees, from, to) => readTransfers(endpoints, { token, payees, from, to }),
  }
}

/** The first successful response of an endpoint; if all endpoints fail, tries them a second time after a pause. */
async function queryFirst<R>(endpoints: readonly Endpoint[], ask: (endpoint: Endpoint) => Promise<R>): Promise<R> {
  for (const pauseMs of PAUSES_MS) {
    await wait(pauseMs)
    for (const endpoint of endpoints) {
      const answer = await ask(endpoint).then(
        (value) => ({ value }),
        () => undefined,
      )
      if (answer !== undefined) return answer.value
    }
  }
  throw createSilenceError(`no endpoint responds (${listHosts(endpoints)})`)
}

/** Queries each item, with fewer items per request if the endpoints reject a request. */
async function queryEach<Item, R>(
  endpoints: readonly Endpoint[],
  items: readonly Item[],
  ask: (endpoint: Endpoint, item: Item) => Promise<R>,
  onward: (done: number) => void = () => {},
): Promise<R[]> {
  const answers: R[] = []
  for (let size = BATCH_MAX; answers.length < items.length;) {
    const some = items.slice(answers.length, answers.length + size)
    try {
      answers.push(...(await queryFirst(endpoints, (endpoint) => Promise.all(some.map((item) => ask(endpoint, item))))))
      onward(answers.length)
    } catch (error) {
      if (size === 1) throw error
      size = Math.ceil(size / SMALLER)
    }
  }
  return answers
}

async function fetchReceipts(
  endpoints: readonly Endpoint[],
  txs: readonly Hex[],
  onward: (done: number) => void,
): Promise<readonly (TransactionReceipt | null)[]> {
  const receipts = await queryEach(endpoints, txs, readReceipt, onward)
  // An endpoint that lags or prunes may lack a receipt that another endpoint has.
  for (const other of endpoints.slice(1)) {
    const unknown = receipts.flatMap((receipt, at) => (receipt === null ? [at] : []))
    const found = await queryEach([other], unknown, (endpoint, at) => readReceipt(endpoint, txs[at] ?? '0x')).catch(
      () => [],
    )
    for (const [at, receipt] of found.entries()) receipts[unknown[at] ?? 0] = receipt
  }
  return receipts
}

const readReceipt = async ({ client }: Endpoint, hash: Hex) =>
  (await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as TransactionReceipt | null

const readBlock =
  (height: Hex | 'latest') =>
  async ({ client }: Endpoint) => {
    const block = await client.request({ method: 'eth_getBlockByNumber', params: [height, false] })
    if (block?.number === null || block?.number === undefined)
      throw new TypeError('the endpoint did not return the requested block')
    return { height: BigInt(block.number), time: Number(block.timestamp) * 1000 }
  }

const BALANCE_OF = toFunctionSelector('balanceOf(address)')

const fetchBalance =
  (to: Hex, wallet: Hex) =>
  async ({ client }: Endpoint) => {
    const data = concat([BALANCE_OF, pad(wallet)])
    return BigInt(await client.request({ method: 'eth_call', params: [{ to, data }, 'latest'] }))
  }

type Search = { readonly token: Hex; readonly payees: readonly Hex[]; readonly from: bigint; readonly to: bigint }

async function* readTransfers(
  endpoints: readonly Endpoint[],
  { token, payees, from, to }: Search,
): AsyncGenerator<Stretch> {
  const topics = [TRANSFER, null, payees.map((payee) => pad(payee))]
  const readLogs = async ({ client }: Endpoint, [first, last]: readonly [bigint, bigint]) => {
    const range = { fromBlock: numberToHex(first), toBlock: numberToHex(last) }
    return await client.request({ method: 'eth_getLogs', params: [{ address: token, topics, ...range }] })
  }
  let [size, atOnce] = [WINDOW, WINDOWS_AT_ONCE]
  for (let next = from; next <= to;) {
    const windows = splitRange(next, to, size).slice(0, atOnce)
    const found = await queryFirst(endpoints, (endpoint) =>
      Promise.all(windows.map((window) => readLogs(endpoint, window))),
    ).catch((error: unknown) => {
      if (atOnce === 1 && size === 1n) throw error
      // The endpoints reject either so many calls at once or such a large range of blocks.
      if (atOnce > 1) atOnce = 1
      else size = size > SMALLER ? size / BigInt(SMALLER) : 1n
    })
    if (found === undefined) continue
    const through = windows.at(-1)?.[1] ?? to
    yield { txs: found.flat().map((log) => toLowerHex(log.transactionHash ?? '0x')), through }
    next = through + 1n
  }
}

const splitRange = (from: bigint, to: bigint, size: bigint): readonly (readonly [bigint, bigint])[] =>
  Array.from({ length: WINDOWS_AT_ONCE }, (_, at) => from + BigInt(at) * size)
    .filter((first) => first <= to)
    .map((first) => [first, first + size - 1n < to ? first + size - 1n : to])

const listHosts = (endpoints: readonly Endpoint[]) => endpoints.map(({ host }) => host).join(', ')

const createSilenceError = (message: string) =>
  new WallError({ kind: 'unavailable', code: 'chain_unavailable', message: `Cannot check the chain: ${message}.` })
