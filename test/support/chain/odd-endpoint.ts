/** A JSON-RPC endpoint in front of the node that can be made to misbehave. */

import { afterAll } from 'bun:test'
import { openEndpoints } from '../../../server/adapters/chain/endpoints.ts'
import { systemClock } from '../../../server/adapters/clock.ts'
import { TIMES, type Times } from '../../../server/times.ts'

/** Returns the function that sends JSON-RPC requests to one endpoint. */
export const createRequestSender = (url: string, times?: Partial<Times>) =>
  openEndpoints('eip155:8453', [url], { clock: systemClock, times: { ...TIMES, ...times } }).request

/** The outcome of a call: a result, an error, no response, a truncated response, or status 429. */
export type Oddity = { readonly result: unknown } | { readonly error: { code: number; message: string } } | Failing
type Failing = 'hang' | 'stall' | 'busy'

/** Decides the outcome of one call; `ask` forwards the call to the node and returns the node's result. */
export type Rule = (params: readonly unknown[], ask: () => Promise<unknown>) => Oddity | Promise<Oddity>

/** An endpoint on loopback; counts its calls, per method or in total. */
export type OddEndpoint = { readonly url: string; countCalls(method?: string): number; stop(): Promise<void> }

type Call = { readonly id: number; readonly method: string; readonly params?: readonly unknown[] }

/** Rejects a query for the events of more than `most` blocks, with an error message that real endpoints use. */
export function createBlockRangeRule(most: number): Rule {
  return async (params, ask) => {
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }]
    const blocks = Number(BigInt(toBlock) - BigInt(fromBlock)) + 1
    return blocks > most
      ? { error: { code: -32_600, message: `requests can have up to a ${most} block range` } }
      : { result: await ask() }
  }
}

/** Starts misbehaving endpoints for the tests of a file, and stops them after the tests. */
export function startOddEndpoints(rpcUrl: () => string): (rules?: Readonly<Record<string, Rule>>) => OddEndpoint {
  const started: OddEndpoint[] = []
  afterAll(async () => {
    await Promise.all(started.map((endpoint) => endpoint.stop()))
  })
  return (rules = {}) => {
    const endpoint = startOddEndpoint(rpcUrl(), rules)
    started.push(endpoint)
    return endpoint
  }
}

/** Starts an endpoint that is honest except for `rules`, which are looked up by method and then under `*`. */
export function startOddEndpoint(rpcUrl: string, rules: Readonly<Record<string, Rule>>): OddEndpoint {
  const counts = new Map<string, number>()
  const ended = new AbortController()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const call = (await request.json()) as Call
      counts.set(call.method, (counts.get(call.method) ?? 0) + 1)
      const ask = () => askNode(rpcUrl, call)
      const rule = rules[call.method] ?? rules['*']
      const askByRule = async () => (rule === undefined ? { result: await ask() } : await rule(call.params ?? [], ask))
      const answer = await askByRule().catch(toRefusal)
      return typeof answer === 'object'
        ? Response.json({ jsonrpc: '2.0', id: call.id, ...answer })
        : createFailure(answer, ended)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    countCalls: (method) =>
      method === undefined ? counts.values().reduce((sum, count) => sum + count, 0) : (counts.get(method) ?? 0),
    stop: async () => {
      ended.abort()
      await server.stop(true)
    },
  }
}

async function askNode(rpcUrl: string, call: Call): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(call), headers })
  const { result, error } = (await response.json()) as { result: unknown; error?: Refusal }
  if (error !== undefined) throw new Refused(error)
  return result
}

type Refusal = { readonly code: number; readonly message: string; readonly data?: unknown }

/** An error that the node itself returned. */
class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

const toRefusal = (error: unknown): Oddity => {
  if (error instanceof Refused) return { error: error.refusal }
  throw error
}

function createFailure(how: Failing, ended: AbortController): Response | Promise<Response> {
  if (how === 'busy') return new Response('busy', { status: 429, headers: { 'retry-after': '3600' } })
  if (how === 'hang')
    return new Promise((resolve) => ended.signal.addEventListener('abort', () => resolve(new Response())))
  const start = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"res')
  const body = new ReadableStream({ start: (stream) => stream.enqueue(start) })
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}
