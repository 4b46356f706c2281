/**
 * A wall in its own process with a real chain, counters for every outgoing call, and honest buyers during the floods.
 */

import { join } from 'node:path'
import { seedWall } from '../../../bench/servers/seed.ts'
import { countAgents } from '../../../bench/servers/servers.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import type { LogTail } from '../../../shared/contract/live.ts'
import type { Health } from '../../../shared/contract/service.ts'
import { CLAIM_ORDER, TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { startOddEndpoint } from '../../support/chain/odd-endpoint.ts'
import { orderArea, signArea } from '../../support/e2e/area-orders.ts'
import { sendUntilSettled, signBlockPayment } from '../../support/e2e/buyer.ts'
import { isInstalled, startProxy } from '../../support/e2e/proxies.ts'
import { startSurroundings } from '../../support/e2e/world.ts'
import { createFlatPng } from '../../support/picture-files.ts'
import { type FloodCounts, startFlooder, readTarget } from './flood-from.ts'
import { type FloodName, FLOODS } from './floods.ts'
import { type Kind, type Waits, measureWaitsDuring } from './neighbours.ts'

/** The entry point of requests: the wall's own port, or nginx configured as in `deploy/`. */
export type Entrance = 'directly' | 'through nginx'

/**
 * The plan of a flood: its duration, entrance, addresses and maximum number of connections. Each honest buyer buys a
 * block, then an area with a picture. Without a `flood`, no client floods the wall.
 */
export type Plan = {
  readonly flood?: FloodName
  readonly ms: number
  readonly entrance: Entrance
  readonly addresses: number
  readonly connectionsMax: number
  readonly buyers: number
}

/** The effects of a flood, with times in milliseconds. */
export type Effect = FloodCounts & {
  readonly waits: Readonly<Record<Kind, Waits>>
  readonly bought: number // how many honest buyers got a block
  readonly painted: number // how many got an area with a picture with their first request
  readonly buyP50: number // median time from a paid request to its response
  readonly buyMost: number
  readonly verified: number // calls to the facilitator
  readonly rpcCalls: number
  readonly logGrew: number // entries added to the log
  readonly rails: readonly string[] // every state of the rail during the flood
}

/** A wall to flood. */
export type Scene = {
  flood(plan: Plan): Promise<Effect>
  stop(): Promise<void>
}

/** How many blocks honest buyers buy during one flood: each buys one block, and an area of two blocks. */
export const countBlocksSold = (buyers: number): number => 3 * buyers

// A typical picture of an honest buyer.
const ORDER = { w: 2, h: 1, image: createFlatPng(512, 256, '#d75f00').toBase64() }

/** Opens a wall that is full except for `left` blocks, and has `changes` repaints of one block in its log. */
export async function openScene(changes: number, left: number): Promise<Scene> {
  const around = await startSurroundings()
  const rpc = startOddEndpoint(around.network.rpcUrl, {})
  const databasePath = join(around.folder, 'wall.sqlite')
  const sold = TOTAL_BLOCKS - left
  seedWall(databasePath, { blocks: sold, agents: countAgents(sold) })
  await addChanges(databasePath, changes)
  const wall = await around.startArmedWall({ RPC_URL: rpc.url, DATABASE_PATH: databasePath })
  const target = await readTarget(wall, sold)
  const flooder = startFlooder()
  const nginx = isInstalled('nginx') ? await startProxy('nginx', [new URL(wall.url).port]) : undefined
  return {
    async flood(plan) {
      const entrance = plan.entrance === 'directly' ? wall : nginx
      if (entrance === undefined) throw new Error('nginx is not installed')
      const wallets = await Promise.all(Array.from({ length: plan.buyers }, () => around.createFundedWallet(4)))
      const before = {
        verified: around.facilitator.verify.countCalls(),
        rpc: rpc.countCalls(),
        log: await readLastNumber(wall.url),
      }
      const { flood, ms, addresses, connectionsMax } = plan
      const connections = flood === undefined ? 0 : Math.min(FLOODS[flood].connections, connectionsMax)
      const { host } = new URL(entrance.url)
      const flooding: Promise<FloodCounts> =
        flood === undefined
          ? Bun.sleep(ms).then(() => ({ statuses: {}, broken: 0, resets: 0 }))
          : flooder.flood({ flood, connections, addresses, ms, target: { ...target, host } })
      const took: number[] = []
      const measureAnswer = async (answer: () => Promise<Response>) => {
        const startedAt = performance.now()
        const isOk = await answer().then(
          ({ status }) => status === 200,
          () => false,
        )
        took.push(performance.now() - startedAt)
        return isOk
      }
      const buying = wallets.map(async (wallet, at) => {
        await Bun.sleep((plan.ms * (at + 0.5)) / wallets.length)
        const payment = await signBlockPayment(entrance, wallet)
        const isBought = await measureAnswer(() => sendUntilSettled(entrance, 'next', payment))
        const areaPayment = await signArea(entrance, wallet, ORDER)
        return { isBought, isPainted: await measureAnswer(() => orderArea(entrance, ORDER, areaPayment)) }
      })
      const [waits, rails] = await Promise.all([
        measureWaitsDuring(entrance, sold, flooding),
        collectRailStates(wall.url, flooding),
      ])
      const ends = await Promise.all(buying)
      return {
        ...(await flooding),
        waits,
        rails,
        bought: ends.filter(({ isBought }) => isBought).length,
        painted: ends.filter(({ isPainted }) => isPainted).length,
        buyP50: computeMedian(took),
        buyMost: Math.max(...took),
        verified: around.facilitator.verify.countCalls() - before.verified,
        rpcCalls: rpc.countCalls() - before.rpc,
        logGrew: (await readLastNumber(wall.url)) - before.log,
      }
    },
    async stop() {
      await flooder.stop()
      await nginx?.stop()
      await wall.stop()
      await rpc.stop()
      await around.stop()
    },
  }
}

const computeMedian = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const SAMPLE_EVERY_MS = 50

/** Every state of the rail that `/api/health` reports until `until` settles. */
async function collectRailStates(url: string, until: Promise<unknown>): Promise<string[]> {
  const rails = new Set<string>()
  let isOver = false
  void until.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) {
    rails.add(((await (await fetch(`${url}/api/health`)).json()) as Health).rail)
    await Bun.sleep(SAMPLE_EVERY_MS)
  }
  return [...rails]
}

/** The number of the newest change. */
async function readLastNumber(url: string): Promise<number> {
  const { nextAfter } = (await (await fetch(`${url}/api/tail`)).json()) as LogTail
  return nextAfter
}

const EDITS_AT_ONCE = 500

/** Writes repaints of one block into the file of a stopped wall, as the block's owner could have over the years. */
async function addChanges(path: string, changes: number): Promise<void> {
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
