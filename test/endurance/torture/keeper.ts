/** Keeps a wall running, as a supervisor does: it is started again whenever it has ended by itself. */

import { startWall, type WallProcess } from '../../../server/local/wall-process.ts'
import { QUICK_WALL } from '../../support/e2e/world.ts'

export type Keeper = {
  /** Starts the wall on a database; `limits` is a shell command whose limits it inherits until it first ends. */
  start(database: Database, limits?: string): Promise<void>
  /** Asks it to end, and lets it. */
  stop(): Promise<void>
  /** Ends it at once, and starts it again. */
  crash(): Promise<void>
  /** Resolves once it is not being started or ended. */
  settled(): Promise<void>
}

/** Where a wall keeps what it knows, as a setting. */
export type Database = Readonly<Record<string, string>>

/** What became of walls; `wrong` must stay empty. */
export type Totals = { starts: number; kills: number; diskDeaths: number; readonly wrong: string[] }

// What a fault of the world may make the wall say; every other alert is a fault of its own.
const plannedAlerts = new Set(['disk-failed', 'outage', 'witness-failed'])

const DISK_DEATH = 70
const START_TRIES = 200
const TRY_AGAIN_MS = 50

/** Makes a keeper of a wall with these settings, which runs in `folder`. */
export function keeperOf(settings: Readonly<Record<string, string>>, folder: string, totals: Totals): Keeper {
  let wall: WallProcess | undefined
  let place: Database = {}
  // One thing at a time, for a wall that died by itself may be about to be killed as well.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = turn.then(work)
    turn = mine.catch((error: unknown) => totals.wrong.push(String(error)))
    return mine
  }

  const launch = async (limits?: string): Promise<void> => {
    const started = await startWithRetries(() =>
      startWall({ ...settings, ...place }, { limits, folder, program: QUICK_WALL }),
    )
    totals.starts++
    wall = started
    void started.exited.then((code) =>
      inTurn(async () => {
        checkJournal(started, totals.wrong)
        if (wall !== started) return
        if (code === DISK_DEATH) totals.diskDeaths++
        else totals.wrong.push(`the wall exited on its own with ${code}`)
        await launch()
      }),
    )
  }
  const end = async (how: 'stop' | 'kill'): Promise<void> => {
    const ending = wall
    wall = undefined
    await ending?.[how]()
  }

  return {
    start: (database, limits) =>
      inTurn(async () => {
        place = database
        await launch(limits)
      }),
    stop: () => inTurn(() => end('stop')),
    crash: () =>
      inTurn(async () => {
        totals.kills++
        await end('kill')
        await launch()
      }),
    settled: () => inTurn(async () => {}),
  }
}

/** A wall that cannot start on a full disk is started again until there is room. */
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
  for (const line of ended.journal()) {
    const { level, event } = entryOf(line)
    if (level === 'alert' && !plannedAlerts.has(event)) wrong.push(`the journal says ${line}`)
  }
}

/** What a line of the journal is; words that are none of its are alerting. */
function entryOf(line: string): { readonly level: string; readonly event: string } {
  try {
    return JSON.parse(line) as { level: string; event: string }
  } catch {
    return { level: 'alert', event: '' }
  }
}
