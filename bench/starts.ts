/** Starting on walls of each size, and the memory they take. */

import { freePort, startWall } from '../server/local/wall-process.ts'
import { TOTAL_BLOCKS } from '../shared/wall.ts'
import { residentMb } from './cpu.ts'
import type { Scenario } from './findings.ts'
import { QUIET } from './fleet.ts'
import { median } from './pair.ts'

/** From starting the process to the last byte of the first read of the whole wall. */
export const coldStart: Scenario = async (fleet, { rounds }) => {
  const DATABASE_PATH = fleet.database(TOTAL_BLOCKS, 'cold')
  const tookMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const PORT = String(await freePort())
    const startedAt = performance.now()
    const wall = await startWall({ ...QUIET, DATABASE_PATH, PORT })
    await (await fetch(`http://127.0.0.1:${PORT}/api/canvas`)).bytes()
    tookMs.push(performance.now() - startedAt)
    await wall.kill()
  }
  return { rows: [{ what: `${TOTAL_BLOCKS} blocks`, figures: { ms: median(tookMs) } }], ratios: {} }
}

/** What each wall that was measured so far holds. */
export const memory: Scenario = async (fleet) => {
  const rows = []
  for (const blocks of [100, 1000, TOTAL_BLOCKS]) {
    const { pid } = await fleet.wall(blocks)
    rows.push({ what: `${blocks} blocks`, figures: { MB: residentMb(pid) ?? Number.NaN } })
  }
  return { rows, ratios: {} }
}
