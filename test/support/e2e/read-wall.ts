/** Reads of a wall, as visitors, operators and bookkeepers make them. */

import { expect } from 'bun:test'
import type { LocalNetwork } from '../../../server/local/network.ts'
import type { WallProcess } from '../../../server/local/wall-process.ts'
import type { Canvas } from '../../../shared/contract/canvas.ts'
import type { Sale } from '../../../shared/contract/feed.ts'
import { isCausedByMachine } from '../machine.ts'
import { readBody, createClient, fetchHealth } from '../service/client.ts'
import { waitFor } from '../wait.ts'
import type { At } from './buyer.ts'

/** Returns the canvas once it shows every sale made before the call. */
export async function readCanvas(wall: At): Promise<Canvas> {
  const sales = await readFeed(wall)
  return await waitForCanvas(wall, ({ stats }) => stats.lastSaleId >= sales.length)
}

/** Returns the canvas once it satisfies a condition; the canvas follows the log within a second. */
export function waitForCanvas(wall: At, isTrue: (canvas: Canvas) => boolean): Promise<Canvas> {
  return waitFor(async () => {
    const canvas = await readBody(createClient(wall).api.canvas.get())
    return isTrue(canvas) ? canvas : undefined
  })
}

/** The whole feed, page by page. */
export async function readFeed(wall: At): Promise<Sale[]> {
  const sales: Sale[] = []
  for (let after = 0; ;) {
    const page = await readBody(createClient(wall).api.feed.get({ query: { after, limit: 20 } }))
    sales.push(...page.sales)
    after = page.nextAfter
    if (!page.hasMore) return sales
  }
}

/** The state of a wall's payments, according to its health report. */
export const readRail = async (wall: At): Promise<string> => (await fetchHealth(wall)).rail

/** A line of the journal, with the facts of its event. */
export type JournalEntry = { readonly level: string; readonly event: string } & Readonly<
  Partial<Record<'payer' | 'nonce' | 'tx' | 'dependency' | 'reason', string> & { port: number }>
>

/** The lines of a wall's journal so far. */
export const readJournal = (wall: WallProcess): readonly JournalEntry[] =>
  wall.readJournal().map((line) => JSON.parse(line) as JournalEntry)

/** The port of a wall's metrics; with `METRICS_PORT=0`, the wall chooses the port itself. */
export const findMetricsPort = (wall: WallProcess): string =>
  String(readJournal(wall).find(({ event }) => event === 'monitors')?.port)

/** The alerts in the journal, of one event or of all, without those that only the load of the machine causes. */
export const findAlerts = (wall: WallProcess, wanted?: string): readonly JournalEntry[] =>
  readJournal(wall).filter(
    ({ level, event, dependency }) =>
      level === 'alert' && (wanted === undefined || event === wanted) && !isCausedByMachine(dependency),
  )

/**
 * Checks that the wall received a dollar for each sold block, and that the canvas and the feed show the same blocks.
 */
export async function expectBooksToBalance(
  world: At & {
    readonly network: Pick<LocalNetwork, 'readBalance'>
    readonly payTo: `0x${string}`
  },
): Promise<void> {
  const { blocks, stats, agents } = await readCanvas(world)
  const sales = await readFeed(world)
  expect(await world.network.readBalance(world.payTo)).toBe(BigInt(stats.claimed) * 1_000_000n)
  expect(new Set(blocks.map(({ i }) => i))).toEqual(new Set(sales.map(({ i }) => i)))
  expect(blocks).toHaveLength(sales.length)
  expect(sales.map(({ seq }) => seq)).toEqual(sales.map((_, i) => i + 1))
  expect(stats).toMatchObject({ claimed: blocks.length, remaining: 14_400 - blocks.length, lastSaleId: sales.length })
  expect(agents.reduce((sum, agent) => sum + agent.blocks, 0)).toBe(blocks.length)
}
