/** The chain through viem: what became of an authorization, read at one block and looked up by payer and nonce. */

import pLimit from 'p-limit'
import {
  BaseError,
  ContractFunctionZeroDataError,
  createPublicClient,
  defineChain,
  HttpRequestError,
  http,
  LimitExceededRpcError,
  numberToHex,
  pad,
  parseAbi,
  toEventSelector,
  type Chain as ViemChain,
  type PublicClient,
} from 'viem'
import type { Address, Hash, Payment, PaymentKey, UnixSeconds } from '../domain/payment.ts'
import type { Verdict } from '../domain/purchase.ts'
import type { Chain, ChainHealth, Receipts } from '../ports.ts'
import type { Network } from '../x402/network.ts'
import type { Offer } from '../x402/terms.ts'
import { fetchBounded } from './bounded-fetch.ts'
import { within } from './deadline.ts'
import { broadcaster, transfersTo } from './transfers.ts'

const CALL_TIMEOUT_MS = 3000

// The largest answer there can be is the receipt of a transaction that is nothing but events.
const ANSWER_MAX_BYTES = 8 * 1024 * 1024

// Public endpoints turn away who asks too much at once.
const CALLS_AT_ONCE = 32
const CALLS_WAITING_MAX = 512

// A question takes several calls, and each may be made twice.
const DEADLINE_MS = 8000

// Providers cap how many blocks one log query may span.
const LOG_WINDOW = 1000n
const LOG_WINDOWS_MAX = 200

// How many of the newest blocks a reorganisation may replace by fewer.
const REORGANISED_MAX = 64n

// How far past the end of an authorization the newest block must be where the endpoint has no safe block to read.
const UNSAFE_MARGIN_SECONDS = 60n

/** The token's functions that are called. */
const token = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
])

// The first topics of the events that are looked for, as Circle's FiatTokenV2 declares them.
const USED = toEventSelector('AuthorizationUsed(address,bytes32)')
const CANCELLED = toEventSelector('AuthorizationCanceled(address,bytes32)')
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

const MULTICALL: Address = '0xca11bde05977b3631167028862be2a173976ca11'

// viem's own come with all other chains there are, which would hold up each start.
const chains: Readonly<Record<Network, ViemChain>> = {
  'eip155:8453': chainOf(8453, 'Base', 'https://mainnet.base.org'),
  'eip155:84532': chainOf(84_532, 'Base Sepolia', 'https://sepolia.base.org'),
}

function chainOf(id: number, name: string, publicUrl: string): ViemChain {
  return defineChain({
    id,
    name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [publicUrl] } },
    contracts: { multicall3: { address: MULTICALL } },
  })
}

/** A client for a network; without an address, the network's public endpoint. */
export function chainClient(network: Network, rpcUrl?: string): PublicClient {
  return createPublicClient({
    chain: chains[network],
    // A contract could otherwise send us to an address of its choice (EIP-3668).
    ccipRead: false,
    // viem's own timeout ends with the headers of an answer.
    transport: http(rpcUrl, { fetchFn: boundedCalls(), timeout: 0, retryCount: 1 }),
  }) as PublicClient
}

/** Calls to one endpoint, each bounded in time and size, and in how many there are. */
function boundedCalls() {
  const limit = pLimit(CALLS_AT_ONCE)
  const bounds = { timeoutMs: CALL_TIMEOUT_MS, maxBytes: ANSWER_MAX_BYTES }
  return async (input: string | URL | Request, init: RequestInit = {}) => {
    if (limit.pendingCount >= CALLS_WAITING_MAX) throw new RangeError('too many calls wait for the chain endpoint')
    return await limit(() => fetchBounded(input, init, bounds))
  }
}

/** Makes the chain port. Each question is answered within eight seconds. */
export function viemChain(client: PublicClient, { terms, assetName, assetVersion }: Offer): Chain {
  return {
    read: (key) => within(DEADLINE_MS, () => read(client, terms.asset, key).catch(() => 'silent' as const), 'silent'),
    verdict: (payment, head, named) =>
      within<Verdict>(DEADLINE_MS, (late) => verdict(client, payment, head, named, late).catch(() => SILENT), SILENT),
    fault: () =>
      within<ChainHealth>(
        DEADLINE_MS,
        () => fault(client, terms.network, terms.asset, assetName, assetVersion).catch(() => SILENT),
        SILENT,
      ),
    transfersTo: (payTo, from) =>
      within<Receipts | 'silent'>(
        DEADLINE_MS,
        () => transfersTo(client, terms.asset, payTo, from).catch(() => 'silent' as const),
        'silent',
      ),
    broadcaster: (tx) => within(DEADLINE_MS, () => broadcaster(client, tx).catch(() => 'silent' as const), 'silent'),
  }
}

const SILENT = { kind: 'silent' } as const

async function read(client: PublicClient, asset: Address, key: PaymentKey) {
  const { number } = await blockAt(client, 'latest')
  return { head: number, spent: await isSpent(client, asset, key, number) }
}

async function verdict(
  client: PublicClient,
  payment: Payment,
  head: bigint,
  named: Hash | undefined,
  late: AbortSignal,
): Promise<Verdict> {
  const latest = await blockAt(client, 'latest')
  // Endpoints behind a balancer can be older than what was read before; such a one knows nothing.
  if (latest.number < head) return SILENT
  if (await isSpent(client, payment.accepted.asset, payment, latest.number)) {
    const byName = named === undefined ? SILENT : await whomItPaid(client, payment, named).catch(() => SILENT)
    const end = byName.kind === 'silent' ? await howSpent(client, payment, head, latest.number, late) : byName
    return await settledBy(client, payment, latest, end)
  }
  const expired = await isExpired(client, payment, latest.timestamp)
  return expired
    ? { kind: 'void', why: 'the authorization expired without being used', final: true }
    : { kind: 'unspent' }
}

/** An end is final once a block that will not be replaced shows it; which is asked only when the authorization's time is over. */
async function settledBy(client: PublicClient, payment: Payment, latest: Height, verdict: Verdict): Promise<Verdict> {
  if ((verdict.kind !== 'paid' && verdict.kind !== 'void') || latest.timestamp <= payment.validBefore) return verdict
  const safe = await safeBlock(client)
  const isSafe =
    safe === undefined
      ? latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS
      : await isSpent(client, payment.accepted.asset, payment, safe.number)
  return isSafe ? { ...verdict, final: true } : verdict
}

type Height = { readonly number: bigint; readonly timestamp: UnixSeconds }

/** Reads a block; throws when the endpoint names one without height or time. */
async function blockAt(client: PublicClient, blockTag: 'latest' | 'safe'): Promise<Height> {
  const { number, timestamp }: { number: unknown; timestamp: unknown } = await client.getBlock({ blockTag })
  if (typeof number !== 'bigint' || typeof timestamp !== 'bigint') throw new TypeError('a block without height or time')
  return { number, timestamp }
}

const isSpent = (client: PublicClient, asset: Address, { payer, nonce }: PaymentKey, blockNumber: bigint) =>
  client.readContract({
    address: asset,
    abi: token,
    functionName: 'authorizationState',
    args: [payer, nonce],
    blockNumber,
  })

/** Whether an authorization that is unspent at the newest block can never be spent, even if the newest blocks are replaced. */
async function isExpired(client: PublicClient, payment: Payment, now: UnixSeconds): Promise<boolean> {
  if (now <= payment.validBefore) return false
  const safe = await safeBlock(client)
  if (safe === undefined) return now > payment.validBefore + UNSAFE_MARGIN_SECONDS
  if (safe.timestamp <= payment.validBefore) return false
  return !(await isSpent(client, payment.accepted.asset, payment, safe.number))
}

/** The newest block that will not be replaced; `undefined` where the endpoint has no such notion. */
async function safeBlock(client: PublicClient): Promise<Height | undefined> {
  try {
    return await blockAt(client, 'safe')
  } catch (error) {
    const isTrouble = (cause: unknown) => cause instanceof HttpRequestError || cause instanceof LimitExceededRpcError
    if (!(error instanceof BaseError) || error.walk(isTrouble) !== null) throw error
    return undefined
  }
}

/** Finds the event that ended an authorization; an endpoint that shows none has not caught up with itself. */
async function howSpent(
  client: PublicClient,
  payment: Payment,
  head: bigint,
  latest: bigint,
  late: AbortSignal,
): Promise<Verdict> {
  // It was unspent at `head`, so a use in an older block is of a reorganisation since.
  const start = head < REORGANISED_MAX ? 0n : head - REORGANISED_MAX
  for (let window = 0n; window < LOG_WINDOWS_MAX && !late.aborted; window++) {
    const from = start + window * LOG_WINDOW
    if (from > latest) break
    const to = from + LOG_WINDOW - 1n < latest ? from + LOG_WINDOW - 1n : latest
    const [end] = await endsBetween(client, payment, from, to)
    if (end === undefined) continue
    if (end.topics[0] === CANCELLED) return { kind: 'void', why: 'the authorization was cancelled' }
    return end.transactionHash === null ? SILENT : await whomItPaid(client, payment, end.transactionHash)
  }
  return SILENT
}

/** The events by which an authorization ended, of which the token lets there be only one. */
function endsBetween(client: PublicClient, { accepted, payer, nonce }: Payment, from: bigint, to: bigint) {
  const topics = [[USED, CANCELLED], pad(payer), nonce]
  const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
  return client.request({ method: 'eth_getLogs', params: [{ address: accepted.asset, topics, ...range }] })
}

/**
 * Whether the token's very next event after `AuthorizationUsed` is the transfer that was signed, as Circle's token
 * orders them. Both are looked for in the receipt alone, since a block replaced meanwhile numbers its events anew.
 */
async function whomItPaid(client: PublicClient, payment: Payment, hash: Hash): Promise<Verdict> {
  const { logs } = await client.getTransactionReceipt({ hash })
  const topicsOf = (at: number) => {
    const log = logs[at]
    return log?.address.toLowerCase() === payment.accepted.asset ? log.topics.join().toLowerCase() : undefined
  }
  const used = [USED, pad(payment.payer), payment.nonce].join()
  const at = logs.findIndex((_, index) => topicsOf(index) === used)
  if (at === -1) return SILENT
  const signed = [TRANSFER, pad(payment.payer), pad(payment.to)].join()
  const isOurs = topicsOf(at + 1) === signed && BigInt(logs[at + 1]?.data ?? 0) === payment.amount
  if (!isOurs) return { kind: 'void', why: 'the authorization was used for another transfer' }
  return { kind: 'paid', tx: hash.toLowerCase() as Hash }
}

async function fault(
  client: PublicClient,
  network: string,
  address: Address,
  name: string,
  version: string,
): Promise<ChainHealth> {
  const chainId = await client.getChainId()
  if (`eip155:${chainId}` !== network)
    return { kind: 'fault', what: `the chain endpoint serves eip155:${chainId}, not ${network}` }
  const code = await client.getCode({ address })
  if (code === undefined || code === '0x') return { kind: 'fault', what: 'the token is not deployed on this chain' }
  const read = (functionName: 'name' | 'version') => client.readContract({ address, abi: token, functionName })
  const words = await Promise.all([read('name'), read('version')]).catch(wordless)
  if (words[0] === name && words[1] === version) return { kind: 'none' }
  return { kind: 'fault', what: 'the token has another name or version than the one payers sign for' }
}

// What JSON-RPC calls a contract that refused, as opposed to an endpoint that failed.
const REVERTED = 3

/** A contract that is no such token has no words; any other trouble is thrown on. */
function wordless(error: unknown): readonly string[] {
  const isContracts = (cause: unknown) =>
    cause instanceof ContractFunctionZeroDataError ||
    (cause instanceof Error && 'code' in cause && cause.code === REVERTED)
  if (error instanceof BaseError && error.walk(isContracts) !== null) return []
  throw error
}
