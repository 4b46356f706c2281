/** The chain through viem: what became of an authorization, read at one block and looked up by payer and nonce. */

import {
  BaseError,
  createPublicClient,
  HttpRequestError,
  http,
  parseAbi,
  TimeoutError,
  type Block,
  type Chain as ViemChain,
  type PublicClient,
  type TransactionReceipt,
} from 'viem'
import { base, baseSepolia } from 'viem/chains'
import type { Address, Hash, Payment } from '../domain/payment.ts'
import type { Verdict } from '../domain/purchase.ts'
import type { Chain } from '../ports.ts'
import type { Network } from '../x402/network.ts'
import type { Offer } from '../x402/terms.ts'

const CALL_TIMEOUT_MS = 3000

// Providers cap how many blocks one log query may span.
const LOG_WINDOW = 1000n
const LOG_WINDOWS_MAX = 200

// How far past the end of an authorization the newest block must be where the endpoint has no safe block to read.
const UNSAFE_MARGIN_SECONDS = 60n

/** The token's part that is read; events as Circle's FiatTokenV2 declares them. */
const token = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

const chains: Readonly<Record<Network, ViemChain>> = { 'eip155:8453': base, 'eip155:84532': baseSepolia }

/** A client for a network; without an address, the network's public endpoint. */
export function chainClient(network: Network, rpcUrl?: string): PublicClient {
  return createPublicClient({
    chain: chains[network],
    transport: http(rpcUrl, { timeout: CALL_TIMEOUT_MS, retryCount: 1 }),
  }) as PublicClient
}

/** Makes the chain port. */
export function viemChain(client: PublicClient, { terms, assetName, assetVersion }: Offer): Chain {
  return {
    async read({ payer, nonce }) {
      try {
        const { number } = await client.getBlock({ blockTag: 'latest' })
        return { head: number, spent: await isSpent(client, terms.asset, payer, nonce, number) }
      } catch {
        return 'silent'
      }
    },
    async verdict(payment, head) {
      try {
        return await verdict(client, payment, head)
      } catch {
        return { kind: 'silent' }
      }
    },
    async fault() {
      try {
        return await fault(client, terms.network, terms.asset, assetName, assetVersion)
      } catch {
        return { kind: 'silent' }
      }
    },
  }
}

async function verdict(client: PublicClient, payment: Payment, head: bigint): Promise<Verdict> {
  const latest = await client.getBlock({ blockTag: 'latest' })
  // Endpoints behind a balancer can be older than what was read before; such a one knows nothing.
  if (latest.number < head) return { kind: 'silent' }
  const { asset } = payment.accepted
  if (!(await isSpent(client, asset, payment.payer, payment.nonce, latest.number))) {
    const expired = await isExpired(client, payment, latest)
    return expired ? { kind: 'void', why: 'the authorization expired without being used' } : { kind: 'unspent' }
  }
  return await howSpent(client, payment, head, latest.number)
}

const isSpent = (client: PublicClient, asset: Address, payer: Address, nonce: Hash, blockNumber: bigint) =>
  client.readContract({
    address: asset,
    abi: token,
    functionName: 'authorizationState',
    args: [payer, nonce],
    blockNumber,
  })

/** Whether an authorization that is unspent at `latest` can never be spent, even if the newest blocks are replaced. */
async function isExpired(client: PublicClient, payment: Payment, latest: Block): Promise<boolean> {
  if (latest.timestamp <= payment.validBefore) return false
  const safe = await safeBlock(client)
  if (safe === undefined) return latest.timestamp > payment.validBefore + UNSAFE_MARGIN_SECONDS
  if (safe.timestamp <= payment.validBefore || safe.number === null) return false
  return !(await isSpent(client, payment.accepted.asset, payment.payer, payment.nonce, safe.number))
}

/** The newest block that will not be replaced; `undefined` where the endpoint has no such notion. */
async function safeBlock(client: PublicClient): Promise<Block | undefined> {
  try {
    return await client.getBlock({ blockTag: 'safe' })
  } catch (error) {
    const unreachable =
      error instanceof BaseError &&
      error.walk((cause) => cause instanceof HttpRequestError || cause instanceof TimeoutError) !== null
    if (unreachable) throw error
    return undefined
  }
}

/** Finds the event that ended an authorization; an endpoint that shows none has not caught up with itself. */
async function howSpent(client: PublicClient, payment: Payment, head: bigint, latest: bigint): Promise<Verdict> {
  const address = payment.accepted.asset
  const args = { authorizer: payment.payer, nonce: payment.nonce }
  for (let window = 0n; window < LOG_WINDOWS_MAX; window++) {
    const fromBlock = head + window * LOG_WINDOW
    if (fromBlock > latest) break
    const toBlock = fromBlock + LOG_WINDOW - 1n < latest ? fromBlock + LOG_WINDOW - 1n : latest
    const [used, cancelled] = await Promise.all([
      client.getContractEvents({ address, abi: token, eventName: 'AuthorizationUsed', args, fromBlock, toBlock }),
      client.getContractEvents({ address, abi: token, eventName: 'AuthorizationCanceled', args, fromBlock, toBlock }),
    ])
    const [event] = used
    if (event !== undefined) {
      const receipt = await client.getTransactionReceipt({ hash: event.transactionHash })
      const tx = event.transactionHash.toLowerCase() as Hash
      return paysUs(receipt, payment, event.logIndex)
        ? { kind: 'paid', tx }
        : { kind: 'void', why: 'the authorization was used for another transfer' }
    }
    if (cancelled.length > 0) return { kind: 'void', why: 'the authorization was cancelled' }
  }
  return { kind: 'silent' }
}

/** Whether the token's very next event after `AuthorizationUsed` is the transfer that was signed, as Circle's token orders them. */
function paysUs({ logs }: TransactionReceipt, payment: Payment, usedAt: number): boolean {
  const transfer = logs.find((log) => log.logIndex === usedAt + 1)
  if (transfer === undefined || transfer.address.toLowerCase() !== payment.accepted.asset) return false
  const [signature, from, to] = transfer.topics
  return (
    signature === TRANSFER_TOPIC &&
    addressIn(from) === payment.payer &&
    addressIn(to) === payment.to &&
    BigInt(transfer.data) === payment.amount
  )
}

// keccak256 of Transfer(address,address,uint256), ERC-20.
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const addressIn = (topic: string | undefined) => (topic === undefined ? undefined : `0x${topic.slice(-40)}`)

async function fault(client: PublicClient, network: string, address: Address, name: string, version: string) {
  const chainId = await client.getChainId()
  if (`eip155:${chainId}` !== network)
    return { kind: 'fault', what: `the chain endpoint serves eip155:${chainId}, not ${network}` } as const
  const code = await client.getCode({ address })
  if (code === undefined || code === '0x')
    return { kind: 'fault', what: 'the token is not deployed on this chain' } as const
  const [tokenName, tokenVersion] = await Promise.all([
    client.readContract({ address, abi: token, functionName: 'name' }),
    client.readContract({ address, abi: token, functionName: 'version' }),
  ])
  if (tokenName !== name || tokenVersion !== version)
    return { kind: 'fault', what: 'the token has another name or version than the one payers sign for' } as const
  return { kind: 'none' } as const
}
