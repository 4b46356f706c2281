/** The chain as JSON-RPC endpoints show it: late, behind, silent, or without events. The product's adapter reads it. */

import {
  decodeFunctionData,
  encodeFunctionResult,
  multicall3Abi,
  numberToHex,
  pad,
  parseAbi,
  RpcRequestError,
  toFunctionSelector,
  type Hex,
} from 'viem'
import { createViemChain } from '../../../server/adapters/chain/chain.ts'
import type { Machine } from '../../../server/adapters/chain/endpoint.ts'
import { MULTICALL, openEndpoints } from '../../../server/adapters/chain/endpoints.ts'
import { CANCELLED, type EventLog } from '../../../server/adapters/chain/receipt.ts'
import type { Chain, Clock } from '../../../server/ports.ts'
import { TRANSFER, USED } from '../../../shared/chain/arrivals.ts'
import { OFFER } from '../../support/offer.ts'
import { toAddress, toHash, TERMS } from './samples.ts'
import {
  readHealth,
  drawHeight,
  NARROW_BLOCKS,
  recordSearch,
  SAFE_DEPTH,
  drawFault,
  type Spending,
  type World,
} from './world.ts'

/** The chain as one process reads it, and the newest chain block that the process has seen. */
export type Adapter = Chain & { readonly getNewestHeight: () => number }

/** The adapter of one process, over two endpoints. */
export function createAdapter(world: World, owner: object, clock: Clock): Adapter {
  const { scheduler } = world
  let isProbing = false
  const machine: Machine = {
    soon: queueMicrotask,
    async withTimeout(ms, work, otherwise) {
      const [late, done] = [new AbortController(), new AbortController()]
      const deadline = scheduler.wait(owner, ms, done.signal).then(() => {
        late.abort()
        return otherwise
      })
      const answer = await Promise.race([work(late.signal), deadline])
      done.abort()
      return answer
    },
    createTransport: (host, timeoutMs) => ({
      host,
      async post(method, params) {
        const computeAnswer = () => answerCall(world, method, params)
        const traceAnswer = (answer: unknown) =>
          world.trace(() => `    ${host} ${method}: ${String(answer).slice(0, 40)}`)
        const answer = isProbing ? computeAnswer() : await scheduler.exchange(owner, computeAnswer, traceAnswer)
        if (answer === 'late' && !isProbing) await scheduler.wait(owner, timeoutMs)
        if (answer === 'late') throw new DOMException('no response in time', 'TimeoutError')
        if (answer instanceof Error) throw answer
        return answer
      },
    }),
  }
  const endpoints = openEndpoints('eip155:8453', ['first endpoint', 'second endpoint'], { clock, machine })
  const chain = createViemChain(endpoints, { ...OFFER, terms: TERMS })
  return {
    ...chain,
    getNewestHeight: () => Number(endpoints.findNewest()?.number ?? -1n),
    // A probe is answered immediately, because the order of its calls relative to others is irrelevant. Without
    // multicall, the model answers the probe itself.
    async checkHealth() {
      if (!world.hasMulticall) return readHealth(world)
      isProbing = true
      const found = await chain.checkHealth()
      isProbing = false
      return found
    },
  }
}

/** Returns the result of a call, an error for the caller to throw, or `late` if the call should time out. */
function answerCall(world: World, method: string, params: readonly unknown[]): unknown {
  if (drawFault(world, 'chainSilent'))
    return world.prng.nextBoolean(0.5) ? 'late' : new TypeError('the connection is refused')
  const height = drawHeight(world)
  const isCut = drawFault(world, 'logsNarrow')
  const [first, second] = params
  switch (method) {
    case 'eth_chainId':
      return numberToHex(8453)
    case 'eth_blockNumber':
      return numberToHex(height)
    case 'eth_getBlockByNumber': {
      const number = readHeight(world, first, height)
      return typeof number === 'number'
        ? { number: numberToHex(number), timestamp: numberToHex(getBlockTime(world, number)) }
        : number
    }
    case 'eth_call': {
      const number = readHeight(world, second, height)
      if (typeof number !== 'number') return number
      if (number > height || (isCut && number <= height - NARROW_BLOCKS)) return createRefusal('no state of this block')
      return callContract(world, first as Call, number)
    }
    case 'eth_getTransactionReceipt':
      return listReceipts(world, height).find(({ transactionHash }) => transactionHash === first) ?? null
    case 'eth_getBlockReceipts':
      return listReceipts(world, height).filter(({ blockNumber }) => blockNumber === first)
    case 'eth_getLogs':
      return answerEvents(world, first as EventFilter, height, isCut)
    default:
      return createRefusal(`no method ${method}`)
  }
}

const createRefusal = (message: string, code = -32_000) =>
  new RpcRequestError({ body: {}, error: { code, message }, url: 'model' })

const LIMIT_EXCEEDED = -32_005

const getBlockTime = ({ blockTimes }: World, height: number) => blockTimes[height] ?? 0

/** The height that a block tag or a block number refers to, or an error if it cannot be read. */
function readHeight(world: World, tag: unknown, height: number): number | Error {
  if (tag === 'latest') return height
  if (tag !== 'safe') return Number(tag)
  return drawFault(world, 'safeUnreadable')
    ? createRefusal('not now', LIMIT_EXCEEDED)
    : Math.max(0, height - SAFE_DEPTH)
}

type Call = { readonly to: string; readonly data: Hex }

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getBlockHash(uint256 blockNumber) view returns (bytes32)',
])

const [STATE, NAME, VERSION, NUMBER, TIME, HASH] = abi.map((item) => toFunctionSelector(item))
const words = {
  name: encodeFunctionResult({ abi, functionName: 'name', result: OFFER.assetName }),
  version: encodeFunctionResult({ abi, functionName: 'version', result: OFFER.assetVersion }),
}

const encodeWord = (value: number | boolean) => numberToHex(Number(value), { size: 32 })

/** The result of a contract call at a chain height. */
function callContract(world: World, { to, data }: Call, height: number): Hex {
  if (to === MULTICALL && !world.hasMulticall) return '0x'
  if (to === MULTICALL && data.length > 100) return answerMulticall(world, data, height)
  const argument = data.slice(10)
  switch (data.slice(0, 10)) {
    case STATE: {
      const key = `0x${argument.slice(24, 64)}:0x${argument.slice(64)}`
      recordSearch(world, key, height)
      return encodeWord((world.spendings.get(key)?.height ?? Infinity) <= height)
    }
    case NAME:
      return words.name
    case VERSION:
      return words.version
    case NUMBER:
      return encodeWord(height)
    case TIME:
      return encodeWord(getBlockTime(world, height))
    case HASH:
      return Number(`0x${argument}`) < height ? createBlockHash(world, Number(`0x${argument}`)) : encodeWord(0)
    default:
      return '0x'
  }
}

function answerMulticall(world: World, data: Hex, height: number): Hex {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data })
  const calls = args[0] as readonly { readonly target: Hex; readonly callData: Hex }[]
  const result = calls.map(({ target, callData }) => ({
    success: true,
    returnData: callContract(world, { to: target, data: callData }, height),
  }))
  return encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })
}

/** The hash of a chain block; a block that replaces it has another hash. */
const createBlockHash = ({ forks }: World, height: number) =>
  toHash(0xb10c_0000_0000 + height * 0x1000 + forks.filter((kept) => kept < height).length)

type ModelReceipt = {
  readonly transactionHash: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly logs: readonly EventLog[]
}

/** The receipts of all transactions up to `height` that spent or cancelled an authorization. */
const listReceipts = (world: World, height: number): readonly ModelReceipt[] =>
  [...world.spendings]
    .filter(([, spending]) => spending.height <= height)
    .map(([key, spending]) => {
      const where = {
        transactionHash: spending.tx,
        blockNumber: numberToHex(spending.height),
        blockHash: createBlockHash(world, spending.height),
      }
      const logs = listEvents(world, key, spending).map(([topics, amount], nth) => ({
        ...where,
        address: TERMS.asset,
        topics,
        data: encodeWord(Number(amount)),
        logIndex: numberToHex(2 * Number(spending.tx) + nth),
      }))
      return { ...where, logs }
    })

const SOMEBODY = toAddress(0xe15e)

function listEvents(
  { mined }: World,
  key: string,
  { kind, tx, amount }: Spending,
): readonly (readonly [Hex[], bigint])[] {
  const [payer, nonce] = key.split(':') as [Hex, Hex]
  if (kind === 'cancelled') return [[[CANCELLED, pad(payer), nonce], 0n]]
  // An authorization spent elsewhere pays the price of a block to somebody else, or another amount to the wall.
  const isToUs = Number(tx) % 2 === 0
  const elsewhere = [isToUs ? TERMS.payTo : SOMEBODY, isToUs ? 1n : TERMS.amount] as const
  const [to, moved] = kind === 'transfer' ? [mined.get(key)?.payment.to ?? SOMEBODY, amount] : elsewhere
  return [
    [[USED, pad(payer), nonce], 0n],
    [[TRANSFER, pad(payer), pad(to)], moved],
  ]
}

type EventFilter = {
  readonly topics: readonly (null | string | readonly string[])[]
  readonly fromBlock: Hex
  readonly toBlock: Hex
}

function answerEvents(
  world: World,
  { topics, fromBlock, toBlock }: EventFilter,
  height: number,
  isCut: boolean,
): unknown {
  const [from, to] = [Number(fromBlock), Number(toBlock)]
  if (isCut && to - from >= world.prng.pick([0, 1, NARROW_BLOCKS]))
    return createRefusal('too many blocks', LIMIT_EXCEEDED)
  return listReceipts(world, height)
    .filter(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to)
    .flatMap(({ logs }) => logs)
    .filter((event) =>
      topics.every((wanted, at) => wanted === null || [wanted].flat().includes(event.topics[at] ?? '')),
    )
}
