/**
 * Stubs of a facilitator and a chain. They respond immediately, except to settlements, which take a set time. Calls to
 * the chain are counted.
 */

import {
  decodeFunctionData,
  encodeFunctionResult,
  multicall3Abi,
  numberToHex,
  pad,
  parseAbi,
  toEventSelector,
  type Hex,
} from 'viem'

const token = parseAbi([
  'function authorizationState(address, bytes32) view returns (bool)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getBlockHash(uint256) view returns (bytes32)',
])
const USED = toEventSelector('AuthorizationUsed(address,bytes32)')
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')

/** A stub facilitator and a stub chain, both at one address. */
export type StubServices = {
  /** Settings of a wall that uses both. */
  readonly settings: { readonly FACILITATOR_URL: string; readonly RPC_URL: string }
  /** Sets the duration of each settlement from now on, in milliseconds. */
  setSettleTime(ms: number): void
  /** How many calls the chain received. Each call of a batch counts; a multicall counts as one call. */
  countChainCalls(): number
  stop(): Promise<void>
}

type Authorization = { readonly from: Hex; readonly to: Hex; readonly value: string; readonly nonce: Hex }
type Asked = { readonly paymentPayload: { readonly payload: { readonly authorization: Authorization } } }

/** Opens the stubs. The hash of a transaction is the nonce of its authorization. */
export function startStubServices(): StubServices {
  const spent = new Map<string, Authorization>()
  let settleMs = 0
  let chainCalls = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    routes: {
      '/supported': () =>
        Response.json({
          kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
          extensions: [],
          signers: {},
        }),
      '/verify': async (request) => {
        const { from } = readAuthorization((await request.json()) as Asked)
        return Response.json({ isValid: true, payer: from })
      },
      '/settle': async (request) => {
        const authorization = readAuthorization((await request.json()) as Asked)
        await Bun.sleep(settleMs)
        spent.set(authorization.nonce, authorization)
        const { nonce: transaction, from: payer } = authorization
        return Response.json({ success: true, transaction, network: 'eip155:8453', payer })
      },
      '/chain': async (request) => {
        const asked = (await request.json()) as Call | Call[]
        chainCalls += Array.isArray(asked) ? asked.length : 1
        return Response.json(
          Array.isArray(asked) ? asked.map((call) => answerRequest(spent, call)) : answerRequest(spent, asked),
        )
      },
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return {
    settings: { FACILITATOR_URL: url, RPC_URL: `${url}/chain` },
    setSettleTime: (ms) => {
      settleMs = ms
    },
    countChainCalls: () => chainCalls,
    stop: () => server.stop(true),
  }
}

const readAuthorization = ({ paymentPayload }: Asked) => paymentPayload.payload.authorization

type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] }

const answerRequest = (spent: ReadonlyMap<string, Authorization>, { id, method, params }: Call) => ({
  jsonrpc: '2.0',
  id,
  result: computeResult(spent, method, params?.[0]),
})

const toBlockHash = (block: bigint) => pad(numberToHex(block), { dir: 'right' })

// The chain makes a block per second, because the wall does not trust a chain that stands still.
const computeHeight = () => numberToHex(Math.floor(Date.now() / 1000))

function computeResult(spent: ReadonlyMap<string, Authorization>, method: string, first: unknown): unknown {
  switch (method) {
    case 'eth_chainId':
      return numberToHex(8453)
    case 'eth_getCode':
      return '0x01'
    case 'eth_blockNumber':
      return computeHeight()
    case 'eth_getBlockByNumber':
      return { number: computeHeight(), timestamp: numberToHex(Math.floor(Date.now() / 1000)), transactions: [] }
    case 'eth_call':
      return answerCall(spent, first as { readonly to: Hex; readonly data: Hex })
    case 'eth_getLogs':
      return listLogs(spent, first as { readonly topics: readonly unknown[]; readonly address: Hex })
    case 'eth_getTransactionReceipt':
      return createReceipt(spent.get(String(first)))
    default:
      return null
  }
}

const MULTICALL = '0xca11bde05977b3631167028862be2a173976ca11'

function answerCall(spent: ReadonlyMap<string, Authorization>, call: { readonly to: Hex; readonly data: Hex }): Hex {
  if (call.to.toLowerCase() !== MULTICALL) return answerOneCall(spent, call.data)
  const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data: call.data })
  if (functionName !== 'aggregate3') return '0x'
  const [calls] = args
  const result = calls.map(({ callData }) => ({ success: true, returnData: answerOneCall(spent, callData) }))
  return encodeFunctionResult({ abi: multicall3Abi, functionName, result })
}

function answerOneCall(spent: ReadonlyMap<string, Authorization>, data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: token, data })
  if (functionName === 'getBlockNumber') return pad(computeHeight())
  if (functionName === 'getCurrentBlockTimestamp') return pad(numberToHex(Math.floor(Date.now() / 1000)))
  if (functionName === 'getBlockHash') return args[0] === 0n ? pad('0x') : toBlockHash(args[0])
  if (functionName === 'authorizationState')
    return encodeFunctionResult({ abi: token, functionName, result: spent.has(args[1]) })
  return encodeFunctionResult({ abi: token, functionName, result: functionName === 'name' ? 'USD Coin' : '2' })
}

const ASSET = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

function listLogs(spent: ReadonlyMap<string, Authorization>, { topics }: { readonly topics: readonly unknown[] }) {
  const authorization = spent.get(String(topics[2]))
  return authorization === undefined ? [] : createLogs(authorization).slice(0, 1)
}

function createLogs({ from, to, value, nonce }: Authorization) {
  const place = { address: ASSET, transactionHash: nonce, blockNumber: computeHeight(), transactionIndex: '0x0' }
  const used = { ...place, logIndex: '0x0', data: '0x', topics: [USED, pad(from), nonce] }
  const data = pad(numberToHex(BigInt(value)))
  return [used, { ...place, logIndex: '0x1', data, topics: [TRANSFER, pad(from), pad(to)] }]
}

function createReceipt(authorization: Authorization | undefined) {
  if (authorization === undefined) return null
  const { nonce: transactionHash } = authorization
  const blockNumber = computeHeight()
  const blockHash = toBlockHash(BigInt(blockNumber))
  return { transactionHash, blockNumber, blockHash, status: '0x1', logs: createLogs(authorization) }
}
