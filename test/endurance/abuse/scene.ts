/** A wall in its own process with a real chain, everything that leaves it counted, and honest buyers beside the floods. */

import { join } from 'node:path'
import { seed } from '../../../bench/servers/seed.ts'
import { agentsOf } from '../../../bench/servers/servers.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import type { LogTail } from '../../../shared/contract/live.ts'
import type { Health } from '../../../shared/contract/service.ts'
import { CLAIM_ORDER, TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { startOddEndpoint } from '../../support/chain/odd-endpoint.ts'
import { orderArea, signArea } from '../../support/e2e/area-orders.ts'
import { settled, sign } from '../../support/e2e/buyer.ts'
import { startSurroundings } from '../../support/e2e/world.ts'
import { flatPng } from '../../support/picture-files.ts'
import { type FloodCounts, startFlooder, targetOf } from './flood-from.ts'
import { type FloodName, FLOODS } from './floods.ts'

/**
 * How a flood is made: how long, from how many addresses, over how many connections at most, and how many buy a block
 * meanwhile, and as many an area with a picture.
 */
export type Plan = {
  readonly ms: number
  readonly addresses: number
  readonly connectionsMax: number
  readonly buyers: number
}

/** What a flood did, and to whom. Times in milliseconds. */
export type Effect = FloodCounts & {
  readonly healthP50: number
  readonly healthP99: number
  readonly bought: number // of the honest buyers of a block
  readonly painted: number // of those of an area with a picture, by their first request
  readonly buyP50: number // from a paid request to its receipt
  readonly verified: number // questions to the facilitator
  readonly rpcCalls: number
  readonly logGrew: number // by how many entries
  readonly rails: readonly string[] // every state that the rail was seen in
}

/** A wall to flood. */
export type Scene = {
  flood(name: FloodName, plan: Plan): Promise<Effect>
  stop(): Promise<void>
}

/** Blocks that honest buyers take under one flood: each a block, and an area of two. */
export const blocksOf = (buyers: number): number => 3 * buyers

// Of an honest buyer: a picture as most are.
const ORDER = { w: 2, h: 1, image: flatPng(512, 256, '#d75f00').toBase64() }

/** Opens a wall that is full but for `left` blocks, and has `changes` repaints of one block in its log. */
export async function openScene(changes: number, left: number): Promise<Scene> {
  const around = await startSurroundings()
  const rpc = startOddEndpoint(around.network.rpcUrl, {})
  const databasePath = join(around.folder, 'wall.sqlite')
  const sold = TOTAL_BLOCKS - left
  seed(databasePath, sold, agentsOf(sold))
  await lengthenLog(databasePath, changes)
  const wall = await around.startArmed({ RPC_URL: rpc.url, DATABASE_PATH: databasePath })
  const target = await targetOf(wall, sold)
  const flooder = startFlooder()
  return {
    async flood(name, plan) {
      const wallets = await Promise.all(Array.from({ length: plan.buyers }, () => around.wallet(4)))
      const before = { verified: around.facilitator.verify.count(), rpc: rpc.calls(), log: await lastNumber(wall.url) }
      const { ms, addresses, connectionsMax } = plan
      const connections = Math.min(FLOODS[name].connections, connectionsMax)
      const flooding = flooder.flood({ flood: name, connections, addresses, ms, target })
      const took: number[] = []
      const timed = async (answer: () => Promise<Response>) => {
        const startedAt = performance.now()
        const { status } = await answer()
        took.push(performance.now() - startedAt)
        return status === 200
      }
      const buying = wallets.map(async (wallet, at) => {
        await Bun.sleep((plan.ms * (at + 0.5)) / wallets.length)
        const payment = await sign(wall, wallet)
        const isBought = await timed(() => settled(wall, 'next', payment))
        const areaPayment = await signArea(wall, wallet, ORDER)
        return { isBought, isPainted: await timed(() => orderArea(wall, ORDER, areaPayment)) }
      })
      const { times, rails } = await watched(wall.url, flooding)
      const ends = await Promise.all(buying)
      return {
        ...(await flooding),
        ...times,
        rails,
        bought: ends.filter(({ isBought }) => isBought).length,
        painted: ends.filter(({ isPainted }) => isPainted).length,
        buyP50: median(took),
        verified: around.facilitator.verify.count() - before.verified,
        rpcCalls: rpc.calls() - before.rpc,
        logGrew: (await lastNumber(wall.url)) - before.log,
      }
    },
    async stop() {
      await flooder.stop()
      await wall.stop()
      await rpc.stop()
      await around.stop()
    },
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const SAMPLE_EVERY_MS = 10

/** Asks for health again and again until something is over. */
async function watched(url: string, until: Promise<unknown>) {
  const [took, rails]: [number[], Set<string>] = [[], new Set()]
  let isOver = false
  void until.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) {
    const startedAt = performance.now()
    const health = (await (await fetch(`${url}/api/health`)).json()) as Health
    took.push(performance.now() - startedAt)
    rails.add(health.rail)
    await Bun.sleep(SAMPLE_EVERY_MS)
  }
  took.sort((one, other) => one - other)
  const at = (share: number) => took[Math.floor(took.length * share)] ?? Number.NaN
  return { times: { healthP50: at(0.5), healthP99: at(0.99) }, rails: [...rails] }
}

/** The number of the newest change. */
async function lastNumber(url: string): Promise<number> {
  const { nextAfter } = (await (await fetch(`${url}/api/tail`)).json()) as LogTail
  return nextAfter
}

const EDITS_AT_ONCE = 500

/** Writes repaints into a wall that is closed, as its owner could have made them over the years. */
async function lengthenLog(path: string, changes: number): Promise<void> {
  const [block] = CLAIM_ORDER
  const engine = await openSqlite(path, 'eip155:8453')
  for (let at = 0; block !== undefined && at < changes; at += EDITS_AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(EDITS_AT_ONCE, changes - at) }, (_, i) =>
        engine.blocks.edit(
          block,
          {
            digest: `0x${Bun.SHA256.hash(`${at + i}`, 'hex')}`,
            ts: 0,
            pixels: undefined,
            message: `${at + i}`,
            link: undefined,
            painter: null,
          },
          Date.now(),
        ),
      ),
    )
  engine.close()
}
