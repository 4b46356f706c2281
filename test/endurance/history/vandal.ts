/** An owner who repaints as often as the budgets allow, on a clock that the test advances. */

import { privateKeyToAccount } from 'viem/accounts'
import { chooseBuyer, toPrivateKey, NETWORK, seedWall } from '../../../bench/servers/seed.ts'
import { countAgents, QUIET } from '../../../bench/servers/servers.ts'
import { openSqlite } from '../../../db/sqlite/open.ts'
import { startWall } from '../../../server/local/wall-process.ts'
import { createLogCompactor } from '../../../server/wall/compact-log.ts'
import { type BudgetName, createRateLimits } from '../../../server/wall/rate-limits.ts'
import { PALETTE_SIZE } from '../../../shared/palette.ts'
import { LINK_MAX, MESSAGE_MAX } from '../../../shared/text.ts'
import { CLAIM_ORDER, TOTAL_BLOCKS } from '../../../shared/wall.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { createTestEdit, createTestIdentity, createPixels } from '../../support/samples.ts'

const BLOCKS = 10
const COLOURS = PALETTE_SIZE
const HOUR_MS = 3_600_000

// Short enough that no budget refills completely within a step.
const STEP_MS = 20_000

// A time after the sales of the seeded wall.
const BEGINS_AT = 1_791_000_000_000

const AGENTS = countAgents(TOTAL_BLOCKS)
const OWNER = privateKeyToAccount(toPrivateKey(1)).address.toLowerCase() as `0x${string}`
const OWNED = CLAIM_ORDER.filter((_, at) => chooseBuyer(at + 1, AGENTS) === 1).slice(0, BLOCKS)

/** Creates a sold wall in the file `path`. The vandal repaints ten of its blocks; the log keeps `historyDays` days. */
export async function createVandalisedWall(path: string, historyDays: number) {
  seedWall(path, { blocks: TOTAL_BLOCKS, agents: AGENTS })
  const clock = createFakeClock(BEGINS_AT)
  const limits = createRateLimits(clock)
  let written = 0

  /** Takes one unit from each budget if none is used up; returns whether it did. */
  const takeFromBudgets = (budgets: readonly BudgetName[], who: string) => {
    if (budgets.some((budget) => limits.check(budget, who) !== undefined)) return false
    for (const budget of budgets) limits.take(budget, who)
    return true
  }

  return {
    /** For this many days of the clock, repaints and renames as often as the budgets allow; compacts the log hourly. */
    async writeDays(days: number): Promise<void> {
      const store = await openSqlite(path, NETWORK)
      const compact = createLogCompactor({ ...store, clock, logger: createFakeLogger(), historyDays })
      const until = clock.now() + days * 24 * HOUR_MS
      while (clock.now() < until) {
        const writes: Promise<unknown>[] = []
        for (const block of OWNED)
          while (takeFromBudgets(['repaints', 'daily repaints'], String(block))) {
            const shown = {
              message: '\u{20ac}'.repeat(MESSAGE_MAX),
              link: LONGEST_LINK,
              pixels: createPixels(++written % COLOURS),
            }
            writes.push(store.blocks.edit(block, createTestEdit(written, { ts: clock.now(), ...shown }), clock.now()))
          }
        while (takeFromBudgets(['registrations', 'daily names'], OWNER))
          writes.push(
            store.agents.register(
              OWNER,
              createTestIdentity(++written, { ts: clock.now(), name: `n${written}` }),
              clock.now(),
            ),
          )
        await Promise.all(writes)
        const hour = Math.floor(clock.now() / HOUR_MS)
        clock.advance(STEP_MS)
        if (Math.floor(clock.now() / HOUR_MS) > hour) await compact(AbortSignal.timeout(60_000))
      }
      store.close()
    },
    countWritten: () => written,
    /** The size of the file. */
    measureMegabytes: () => Bun.file(path).size / 1e6,
    /** The seconds from starting the service to the last byte of the first read of the whole wall. */
    async measureFirstRead(): Promise<number> {
      const startedAt = performance.now()
      const wall = await startWall({ ...QUIET, DATABASE_PATH: path })
      await (await fetch(`${wall.url}/api/canvas`)).bytes()
      const seconds = (performance.now() - startedAt) / 1000
      await wall.stop()
      return seconds
    },
  }
}

const LONGEST_LINK = 'https://example.com/'.padEnd(LINK_MAX, 'x')
