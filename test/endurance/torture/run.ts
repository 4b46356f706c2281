/**
 * Runs the real wall (its own process, a real chain, a real facilitator behind a faulty proxy, a real disk) while
 * everything around it fails in turn. After each round, all walls must agree, and the books must balance.
 */

import { listBoughtBlocks, readCanvases, checkBooks, type Scene, type Sums } from './books.ts'
import type { Buyer } from './buyers.ts'
import { createPlan } from './plan.ts'
import { playRound } from './round.ts'
import { openStage } from './stage.ts'

/** The figures of a run; `wrong` must be empty. */
export type Summary = Sums & {
  readonly seed: number
  readonly rounds: number
  readonly seconds: number
  readonly buyers: number
  readonly sold: number // blocks for which a buyer has the receipt
  readonly areas: number // areas of several blocks that were sold
  readonly left: number // buyers who hung up while their payment was settled
  readonly refusals: Readonly<Record<string, number>>
  readonly waits: Readonly<Record<string, number>>
  readonly edits: number
  readonly starts: number
  readonly kills: number
  readonly diskDeaths: number
  readonly equalAfterMs: readonly number[] // per round: how long the walls took to agree once all were idle
  readonly wrong: readonly string[]
}

const SPOT_CHECKS = 5
const REST_TRIES = 100
const REST_MS = 100
const LOOK_EVERY_MS = 20

/**
 * The options of a run: `crowd` is the number of buyers per round; `instances` is the number of walls that share a
 * PostgreSQL database. Without `instances`, a single wall uses SQLite.
 */
export type Run = {
  readonly seed: number
  readonly rounds: number
  readonly crowd?: number | undefined
  readonly instances?: number | undefined
}

/** Plays a run; calls `print` with a line about each round. A run ends after the first round that leaves a problem. */
export async function runTorture(
  { seed, rounds, crowd, instances }: Run,
  print: (line: string) => void,
): Promise<Summary> {
  const began = performance.now()
  const stage = await openStage(instances)
  const { keepers, totals, buyers, editors } = stage
  const equalAfterMs: number[] = []
  let sums: Sums = { transfers: 0, dollars: 0, claimed: 0, credits: 0 }
  let played = 0
  try {
    await Promise.all(keepers.map((keeper) => keeper.start(stage.database)))
    for (const round of createPlan(seed, rounds, crowd, instances)) {
      const since = performance.now()
      const guests = await playRound(stage, round)
      await Promise.all(keepers.map((keeper) => keeper.waitUntilIdle()))
      equalAfterMs.push(await waitUntilWallsAgree(stage.createScene()))
      const found = await checkBooksUntilRight(stage.createScene(), [
        ...guests,
        ...buyers.slice(-200).slice(0, SPOT_CHECKS),
      ])
      sums = found.sums
      played++
      totals.wrong.push(...found.wrong.map((words) => `round ${round.number}: ${words}`))
      print(
        `round ${round.number}/${rounds} (${round.trouble}): ${sums.claimed} sold, ${totals.kills} kills, ` +
          `${totals.diskDeaths} disk deaths, equal after ${equalAfterMs.at(-1)} ms, ${totals.wrong.length} wrong, ` +
          `${countSecondsSince(since)} s`,
      )
      if (totals.wrong.length > 0) break
    }
    const end = await checkBooks(stage.createScene(), buyers)
    totals.wrong.push(...end.wrong.map((words) => `in the end: ${words}`))
  } finally {
    await stage.stop()
  }
  return {
    seed,
    rounds: played,
    seconds: countSecondsSince(began),
    buyers: buyers.length,
    sold: listBoughtBlocks(buyers).length,
    areas: buyers.filter(({ area, receipt }) => area !== undefined && receipt !== undefined).length,
    left: buyers.filter(({ abandoned }) => abandoned !== undefined).length,
    refusals: countByCode(buyers.flatMap(({ refusal }) => refusal ?? [])),
    waits: countByCode(buyers.flatMap(({ waits }) => waits)),
    edits: editors.reduce((sum, { sent }) => sum + sent.length, 0),
    equalAfterMs,
    ...sums,
    ...totals,
  }
}

function countByCode(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** Polls until all walls agree or no tries are left; returns how many milliseconds that took. */
async function waitUntilWallsAgree(scene: Scene): Promise<number> {
  const since = performance.now()
  for (let tries = 1; tries < REST_TRIES; tries++) {
    if (new Set(await readCanvases(scene)).size === 1) break
    await Bun.sleep(LOOK_EVERY_MS)
  }
  return Math.round(performance.now() - since)
}

const countSecondsSince = (since: number) => Math.round((performance.now() - since) / 100) / 10

/** Checks until the books balance or no tries are left: the sweeper takes seconds to resolve payments in doubt. */
async function checkBooksUntilRight(scene: Scene, recent: readonly Buyer[]): ReturnType<typeof checkBooks> {
  for (let tries = 1; ; tries++) {
    const found = await checkBooks(scene, recent)
    if (found.wrong.length === 0 || tries >= REST_TRIES) return found
    await Bun.sleep(REST_MS)
  }
}
