/** Honest clients during a flood, with their own address: their requests, and how long they wait. */

import { privateKeyToAccount } from 'viem/accounts'
import { chooseBuyer, toPrivateKey } from '../../../bench/servers/seed.ts'
import { countAgents } from '../../../bench/servers/servers.ts'
import { CLAIM_ORDER, formatCoord } from '../../../shared/wall.ts'
import { type At, repaintBlock } from '../../support/e2e/buyer.ts'

/** The repeated requests of an honest client. */
export type Kind = 'health' | 'preview' | 'repaint' | 'MCP call'

/** The response times in milliseconds, and every status other than 200, with 0 for a connection that was cut. */
export type Waits = {
  readonly p50: number
  readonly p99: number
  readonly count: number
  readonly refused: readonly number[]
}

// At this rate the requests stay within the budgets, because the repaints go to 10 blocks in turn.
const EVERY_MS = 100

// Health has no budget. With this many requests, the 99th percentile is not just the slowest response.
const HEALTH_EVERY_MS = 10

// The agent with the second-largest number of blocks, because the floods repaint a block of the largest owner.
const OWNER = 2
const BLOCKS = 10

// The status of a response that never came.
const CUT = 0

const JSON_TYPE = { 'content-type': 'application/json' }
const MCP_TYPE = { ...JSON_TYPE, accept: 'application/json, text/event-stream' }

/** Sends each kind of request repeatedly until `until` settles. The seeded wall has `sold` sold blocks. */
export async function measureWaitsDuring(
  entrance: At,
  sold: number,
  until: Promise<unknown>,
): Promise<Readonly<Record<Kind, Waits>>> {
  const owner = privateKeyToAccount(toPrivateKey(OWNER))
  const owned = CLAIM_ORDER.slice(0, sold).filter((_, at) => chooseBuyer(at + 1, countAgents(sold)) === OWNER)
  const blocks = owned.slice(0, BLOCKS).map(formatCoord)
  const postJson = (path: string, headers: Readonly<Record<string, string>>, body: object) =>
    fetch(`${entrance.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const call = { name: 'preview_block', arguments: { coord: 'next' } }
  const kinds: Readonly<Record<Kind, (at: number) => Promise<Response>>> = {
    health: () => fetch(`${entrance.url}/api/health`),
    preview: () => postJson('/api/preview', JSON_TYPE, { coord: 'next' }),
    repaint: (at) =>
      repaintBlock(entrance, owner, blocks[at % blocks.length] ?? '', `honest ${at} ${crypto.randomUUID()}`),
    'MCP call': (id) => postJson('/mcp', MCP_TYPE, { jsonrpc: '2.0', id, method: 'tools/call', params: call }),
  }
  let isOver = false
  void until.finally(() => (isOver = true)).catch(() => {})
  const measureWaits = async (ask: (at: number) => Promise<Response>, everyMs = EVERY_MS): Promise<Waits> => {
    const took: number[] = []
    const refused: number[] = []
    for (let at = 0; !isOver; at++) {
      const startedAt = performance.now()
      const status = await readStatus(ask(at))
      took.push(performance.now() - startedAt)
      if (status !== 200) refused.push(status)
      await Bun.sleep(everyMs)
    }
    took.sort((one, other) => one - other)
    const readPercentile = (share: number) =>
      took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN
    return { p50: readPercentile(0.5), p99: readPercentile(0.99), count: took.length, refused }
  }
  const [health, preview, repainted, called] = await Promise.all([
    measureWaits(kinds.health, HEALTH_EVERY_MS),
    measureWaits(kinds.preview),
    measureWaits(kinds.repaint),
    measureWaits(kinds['MCP call']),
  ])
  return { health, preview, repaint: repainted, 'MCP call': called }
}

/** The status of a response, or `CUT` if it did not arrive completely. */
async function readStatus(asked: Promise<Response>): Promise<number> {
  try {
    const answer = await asked
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return CUT
  }
}
