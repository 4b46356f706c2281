/** Checks the identity and the features of each endpoint, and reports problems without secrets. */

import { decodeFunctionResult, encodeFunctionData, parseAbi, zeroAddress, zeroHash } from 'viem'
import { USED } from '../../../shared/chain/arrivals.ts'
import type { Address } from '../../domain/purchase/payment.ts'
import type { ChainHealth } from '../../ports.ts'
import { isSoldOn } from '../../x402/network.ts'
import type { Offer } from '../../x402/terms.ts'
import { QueueFull } from './call-queue.ts'
import { createSession, type CallContext, type Endpoint, type Session } from './endpoint.ts'
import { callContract, isRevert, describeError, type Endpoints } from './endpoints.ts'
import type { StateReader } from './state.ts'
import { readEvents, NoEvents } from './transfers.ts'

// If an endpoint serves fewer blocks, reading missed history takes a long time.
const FEW_BLOCKS = 1000n

const abi = parseAbi(['function name() view returns (string)', 'function version() view returns (string)'])

/**
 * Probes every endpoint. One working endpoint is enough, unless another endpoint has a fault; lesser problems are only
 * reported.
 */
export async function probeEndpoints(
  endpoints: Endpoints,
  states: StateReader,
  offer: Offer,
  context: CallContext,
): Promise<ChainHealth> {
  const asked = endpoints.all.map(async (endpoint) => {
    const health = await probeEndpoint(createSession(endpoint, context), endpoints, states, offer).catch(
      (error: unknown): ChainHealth => createSilentHealth(endpoint, error),
    )
    endpoint.isInTrouble = health.kind === 'silent'
    // Ends any pause that the endpoint requested: an armed wall must not make buyers wait for the end of a pause.
    if (health.kind === 'none') endpoint.restsUntil = 0
    reportHealth(endpoints, endpoint, health)
    return health
  })
  const found = await Promise.all(asked)
  const fault = found.find(({ kind }) => kind === 'fault')
  if (fault !== undefined) return fault
  const words = found.flatMap((health) => ('what' in health ? [health.what] : 'lacks' in health ? [health.lacks] : []))
  const what = words.join('; ')
  const heads = found.flatMap((health) => (health.kind === 'none' && health.head !== undefined ? [health.head] : []))
  if (heads.length === 0) return { kind: 'silent', what }
  const head = heads.reduce((highest, one) => (one > highest ? one : highest))
  return { kind: 'none', head, ...(what === '' ? {} : { lacks: what }) }
}

/** Reports the problem of an endpoint; our own full queue is not an endpoint's problem. */
function reportHealth({ onProbed }: Endpoints, { host }: Endpoint, health: ChainHealth): void {
  if (health.kind === 'none') onProbed(host, null)
  else if (health.what !== undefined && health.what !== describeFullQueue(host)) onProbed(host, health.what)
}

const describeEndpoint = (host: string) => `the chain endpoint ${host}`

const describeFullQueue = (host: string) => `too many calls are queued for ${describeEndpoint(host)}`

const createSilentHealth = ({ host }: Endpoint, error: unknown): ChainHealth => ({
  kind: 'silent',
  what: error instanceof QueueFull ? describeFullQueue(host) : `${describeEndpoint(host)} ${describeError(error)}`,
})

async function probeEndpoint(
  session: Session,
  endpoints: Endpoints,
  states: StateReader,
  { terms, assetName, assetVersion }: Offer,
): Promise<ChainHealth> {
  const { endpoint } = session
  const { host } = endpoint
  const known = endpoints.findNewest()?.number ?? 0n
  const chainId = await endpoint.readChainId(session)
  if (`eip155:${chainId}` !== terms.network)
    return { kind: 'fault', what: `${describeEndpoint(host)} serves eip155:${chainId}, not ${terms.network}` }
  if (!isSoldOn(terms.network))
    return { kind: 'fault', what: `this wall no longer sells on ${terms.network}; what was sold there stays sold` }
  const words = await readTokenNames(session, terms.asset)
  if (words === undefined) return { kind: 'fault', what: 'the token is not deployed on this chain' }
  if (words[0] !== assetName || words[1] !== assetVersion)
    return { kind: 'fault', what: 'the token’s name or version differs from that in the payments that payers sign' }
  // An endpoint that rejected a multicall once may support it by now.
  if (endpoint.hasMulticall === false) endpoint.hasMulticall = undefined
  const nobody = { asset: terms.asset, key: { payer: zeroAddress, nonce: zeroHash } }
  const { number, timestamp } = await states.readLatest(session, nobody)
  endpoints.recordBlock({ number, timestamp })
  if (number < known) return { kind: 'silent', what: `${describeEndpoint(host)} lags behind` }
  const lacks = await findLackingEvents(session, terms.asset, number)
  return { kind: 'none', head: number, ...(lacks === undefined ? {} : { lacks }) }
}

/** Returns which event queries an endpoint does not support. Tries them if that is not known yet. */
async function findLackingEvents(session: Session, address: Address, newest: bigint): Promise<string | undefined> {
  const { endpoint } = session
  if (!endpoint.logs.isLearnt()) {
    endpoint.logs.allowRetry()
    // No authorization has these topics. So the result is empty, but shows how many blocks the endpoint serves per
    // call.
    const filter = { address, topics: [USED, zeroHash, zeroHash] }
    const size = endpoint.logs.chooseSize()
    const from = newest < size ? 0n : newest - size + 1n
    await readEvents(session, filter, from, newest).catch((error: unknown) => {
      if (!(error instanceof NoEvents)) throw error
    })
  }
  const size = endpoint.logs.chooseSize()
  if (size === 0n) return `the chain endpoint ${endpoint.host} does not serve event logs`
  return size < FEW_BLOCKS
    ? `the chain endpoint ${endpoint.host} serves event logs of at most ${size} blocks per call`
    : undefined
}

/**
 * The token's name and version; `undefined` if there is no contract, empty if the contract lacks one of the functions.
 */
async function readTokenNames(session: Session, asset: Address): Promise<readonly string[] | undefined> {
  const read = async (functionName: 'name' | 'version') => {
    const data = await callContract(session, asset, encodeFunctionData({ abi, functionName }), 'latest')
    return data === '0x' ? undefined : decodeFunctionResult({ abi, functionName, data })
  }
  const ignoreMissingFunction = (error: unknown) => {
    if (isRevert(error)) return undefined
    throw error
  }
  const [name, tokenVersion] = await Promise.all([
    read('name').catch(ignoreMissingFunction),
    read('version').catch(ignoreMissingFunction),
  ])
  if (name !== undefined && tokenVersion !== undefined) return [name, tokenVersion]
  const code = await session.call('eth_getCode', [asset, 'latest'])
  return code === '0x' ? undefined : []
}
