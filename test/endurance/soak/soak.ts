/**
 * An almost sold-out wall, used at a moderate rate for any duration. Its resources are sampled regularly, to see
 * whether any of them grows without limit.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readResidentMb } from '../../../bench/measure/cpu.ts'
import { seedWall } from '../../../bench/servers/seed.ts'
import { countAgents } from '../../../bench/servers/servers.ts'
import { startLocalNetwork } from '../../../server/local/network.ts'
import { waitUntilArmed, startWall, type WallProcess } from '../../../server/local/wall-process.ts'
import { createWallet } from '../../../server/local/wallets.ts'
import type { FeedPage } from '../../../shared/contract/feed.ts'
import { TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { findAlerts, type JournalEntry } from '../../support/e2e/read-wall.ts'
import { startFlooder, readTarget } from '../abuse/flood-from.ts'
import { type FloodName, FLOODS } from '../abuse/floods.ts'
import { runVisitors, type Rates, type Totals } from './crowd.ts'

/** A run: its duration, the sampling interval, the number of users, and the floods that take turns. */
export type Run = {
  readonly ms: number
  readonly everyMs: number
  readonly restMs: number // time for the wall to release closed connections and their memory
  readonly rates: Rates
  readonly floods: readonly FloodName[]
}

/** The resources of the wall's process at one moment. */
export type Sample = {
  readonly minute: number
  readonly residentMb: number
  readonly descriptors: number
  readonly walMb: number // SQLite's write-ahead log
  readonly databaseMb: number
  readonly journalLines: number
  readonly journalKb: number
  readonly alerts: number
  readonly flood: FloodName | undefined // the flood that started last, if any
}

/**
 * The results of a run. `rest` is a sample taken once all users have left; `alerts` are the alert lines of the journal.
 */
export type Summary = Omit<Totals, 'wrong'> & {
  readonly samples: readonly Sample[]
  readonly rest: Sample
  readonly sold: number
  readonly alerts: readonly JournalEntry[]
  readonly wrong: readonly string[]
}

// Each flood runs for this share of its turn; for the rest of the turn there is only normal use.
const FLOODED_SHARE = 0.5
const FLOODERS = 200

/** Plays a run, during which the crowd buys the last blocks of the wall. Calls `report` with each sample. */
export async function runSoak(
  { ms, everyMs, restMs, rates, floods }: Run,
  report: (sample: Sample) => void,
): Promise<Summary> {
  const folder = mkdtempSync(join(tmpdir(), 'pixel-wall-soak-'))
  const path = join(folder, 'wall.sqlite')
  const sold = TOTAL_BLOCKS - rates.purchases
  seedWall(path, { blocks: sold, agents: countAgents(sold) })
  const network = await startLocalNetwork()
  try {
    const wall = await startWall(
      {
        BASE_URL: 'http://127.0.0.1',
        PAY_TO: createWallet().address,
        FACILITATOR_URL: network.facilitatorUrl,
        RPC_URL: network.rpcUrl,
        DATABASE_PATH: path,
      },
      { folder },
    )
    await waitUntilArmed(wall.url)
    const totals: Totals = { reads: 0, repaints: 0, events: 0, bought: 0, busy: 0, wrong: [] }
    const samples: Sample[] = []
    let flood: FloodName | undefined
    const readResources = createSampler(wall, path)
    const takeSample = (): Sample => ({ ...readResources(), flood })
    const target = await readTarget(wall, sold)
    const flooder = startFlooder()
    const floodInTurns = async () => {
      for (flood of floods) {
        const [turnMs, { connections }] = [ms / floods.length, FLOODS[flood]]
        const floodMs = turnMs * FLOODED_SHARE
        const { statuses } = await flooder.flood({ flood, connections, addresses: FLOODERS, ms: floodMs, target })
        const faults = Object.keys(statuses).filter((status) => status.startsWith('5') && status !== '503')
        totals.wrong.push(...faults.map((status) => `flood of ${flood}: ${status}`))
        await Bun.sleep(turnMs - floodMs)
      }
    }
    const watching = setInterval(() => {
      const seen = takeSample()
      samples.push(seen)
      report(seen)
    }, everyMs)
    try {
      await Promise.all([runVisitors(rates, { url: wall.url, network, ms, sold }, totals), floodInTurns()])
      clearInterval(watching)
      await Bun.sleep(restMs)
      const rest = { samples, rest: takeSample(), sold: await countSoldBlocks(wall.url, sold) }
      return { ...totals, ...rest, alerts: findAlerts(wall) }
    } finally {
      clearInterval(watching)
      await flooder.stop()
      await wall.stop()
    }
  } finally {
    await network.stop()
    rmSync(folder, { recursive: true })
  }
}

function createSampler(wall: WallProcess, path: string): () => Omit<Sample, 'flood'> {
  const { pid, readJournal: journal } = wall
  const since = performance.now()
  return () => ({
    minute: Math.round((performance.now() - since) / 6000) / 10,
    residentMb: Math.round(readResidentMb(pid)),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    walMb: measureMegabytes(`${path}-wal`),
    databaseMb: measureMegabytes(path),
    journalLines: journal().length,
    journalKb: Math.round(journal().reduce((sum, line) => sum + line.length + 1, 0) / 1000),
    alerts: findAlerts(wall).length,
  })
}

const measureMegabytes = (path: string) => Math.round(statSync(path).size / 10_000) / 100

/** How many blocks are sold according to the feed, which shows each sale immediately. */
async function countSoldBlocks(url: string, from: number): Promise<number> {
  const page = await fetch(`${url}/api/feed?after=${from}&limit=200`)
  const { nextAfter, hasMore } = (await page.json()) as FeedPage
  return hasMore ? await countSoldBlocks(url, nextAfter) : nextAfter
}
