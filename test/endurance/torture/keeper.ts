/** Keeps a wall running, like a supervisor: starts it again whenever it has exited on its own. */

import { startWall, type WallProcess } from '../../../server/local/wall-process.ts'
import { QUICK_WALL } from '../../support/e2e/world.ts'

export type Keeper = {
  /**
   * Starts the wall on a database. `limits` is a shell command that limits the wall until it exits for the first time.
   */
  start(database: Database, limits?: string): Promise<void>
  /** Stops the wall with SIGTERM, and waits until it has exited. */
  stop(): Promise<void>
  /** Kills the wall, and starts it again. */
  crash(): Promise<void>
  /** Resolves once the wall is neither starting nor stopping. */
  waitUntilIdle(): Promise<void>
}

/** The database of a wall, as a setting. */
export type Database = Readonly<Record<string, string>>

/** The totals of all walls; `wrong` must stay empty. */
export type Totals = { starts: number; kills: number; diskDeaths: number; readonly wrong: string[] }

// Alerts that a fault of the surroundings may cause; every other alert is a bug.
const plannedAlerts = new Set(['disk-failed', 'outage', 'witness-failed'])

const DISK_DEATH = 70
const START_TRIES = 200
const TRY_AGAIN_MS = 50

/** Makes a keeper of a wall with these settings, which runs in `folder`. */
export function createKeeper(settings: Readonly<Record<string, string>>, folder: string, totals: Totals): Keeper {
  let wall: WallProcess | undefined
  let place: Database = {}
  // Runs one action at a time, because a wall that has exited on its own may be about to be killed as well.
  let turn: Promise<unknown> = Promise.resolve()
  const runInTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = turn.then(work)
    turn = mine.catch((error: unknown) => totals.wrong.push(String(error)))
    return mine
  }

  const launchWall = async (limits?: string): Promise<void> => {
    const started = await startWithRetries(() =>
      startWall({ ...settings, ...place }, { limits, folder, program: QUICK_WALL }),
    )
    totals.starts++
    wall = started
    void started.exited.then((code) =>
      runInTurn(async () => {
        checkJournal(started, totals.wrong)
        if (wall !== started) return
        if (code === DISK_DEATH) totals.diskDeaths++
        else totals.wrong.push(`the wall exited on its own with ${code}`)
        await launchWall()
      }),
    )
  }
  const endWall = async (how: 'stop' | 'kill'): Promise<void> => {
    const ending = wall
    wall = undefined
    await ending?.[how]()
  }

  return {
    start: (database, limits) =>
      runInTurn(async () => {
        place = database
        await launchWall(limits)
      }),
    stop: () => runInTurn(() => endWall('stop')),
    crash: () =>
      runInTurn(async () => {
        totals.kills++
        await endWall('kill')
        await launchWall()
      }),
    waitUntilIdle: () => runInTurn(async () => {}),
  }
}

/** Retries the start of a wall, because on a full disk it cannot start until there is space. */
async function startWithRetries(start: () => Promise<WallProcess>): Promise<WallProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries >= START_TRIES) throw error
      await Bun.sleep(TRY_AGAIN_MS)
    }
  }
}

function checkJournal(ended: WallProcess, wrong: string[]): void {
  for (const line of ended.readJournal()) {
    const { level, event } = parseEntry(line)
    if (level === 'alert' && !plannedAlerts.has(event)) wrong.push(`unexpected alert in the journal: ${line}`)
  }
}

/** The level and event of a journal line; a line in another format counts as an alert. */
function parseEntry(line: string): { readonly level: string; readonly event: string } {
  try {
    return JSON.parse(line) as { level: string; event: string }
  } catch {
    return { level: 'alert', event: '' }
  }
}
