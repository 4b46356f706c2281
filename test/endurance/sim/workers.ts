/** Plays many histories in parallel, in several worker processes. */

import { NOTHING, addTotals, type Broken, type Choice, type Totals } from './play.ts'

// A batch should be large, because a process is slow until its code is warm, but a process that crashes loses its
// batch.
const STRETCH_MAX = 25_000

/** Plays `seeds` histories, starting with the seed `from`, and prints the results; returns the exit code. */
export async function playInWorkers(from: number, seeds: number, workers: number): Promise<number> {
  const { total, broken } = await playSeeds(from, seeds, workers, createProgressReporter(seeds))
  console.error('')
  console.log(JSON.stringify(total))
  if (broken === undefined) return 0
  console.log(`seed ${broken.seed}: ${broken.broken}\nbun run sim --seed ${broken.seed} --trace`)
  return 1
}

/** Plays histories until all are played or one breaks a promise. */
export async function playSeeds(
  from: number,
  seeds: number,
  workers: number,
  report: (total: Totals) => void,
): Promise<{ readonly total: Totals; readonly broken: Broken | undefined }> {
  const ends: Broken[] = []
  let total = NOTHING
  let next = from
  const stretch = Math.min(STRETCH_MAX, Math.ceil(seeds / workers))
  const runSlices = async () => {
    while (next < from + seeds && ends.length === 0) {
      const first = next
      next = Math.min(first + stretch, from + seeds)
      const end = await playStretch(import.meta.dir, first, next, (totals) => {
        total = addTotals(total, totals)
        report(total)
      })
      if (end !== undefined) ends.push(end)
    }
  }
  await Promise.all(Array.from({ length: workers }, runSlices))
  return { total, broken: ends.toSorted((one, other) => one.seed - other.seed)[0] }
}

const EVERY_ONE: Choice = { real: false, twins: false, endpoints: false, operator: false, prices: false, wide: false }

/**
 * Plays a batch in a separate process, with the source of the simulation in `folder`. Returns the broken promise, if
 * any.
 */
export async function playStretch(
  folder: string,
  from: number,
  end: number,
  report: (totals: Totals) => void,
  choice: Choice = EVERY_ONE,
): Promise<Broken | undefined> {
  const only = Object.entries(choice).flatMap(([name, isChosen]) => (isChosen ? [`--${name}`] : []))
  const args = ['--worker', '--from', String(from), '--seeds', String(end - from), ...only]
  const worker = Bun.spawn([process.execPath, `${folder}/main.ts`, ...args], { stdout: 'pipe', stderr: 'pipe' })
  const [text, trouble] = await Promise.all([worker.stdout.text(), worker.stderr.text(), worker.exited])
  if (worker.signalCode !== null) throw new Error(`a worker was killed by ${worker.signalCode}`)
  for (const line of text.split('\n').filter((candidate) => candidate !== '')) {
    const said = JSON.parse(line) as Totals | Broken
    if ('broken' in said) return said
    report(said)
  }
  return worker.exitCode === 0
    ? undefined
    : { seed: from, broken: `the worker process failed: ${trouble.slice(0, 400)}` }
}

// Keeps progress lines from flooding a log.
const SHOW_EVERY_MS = 5000

function createProgressReporter(all: number): (total: Totals) => void {
  const started = performance.now()
  let shown = started
  return ({ seeds, events, crashes, charged }) => {
    const now = performance.now()
    if (!process.stderr.isTTY && now - shown < SHOW_EVERY_MS && seeds < all) return
    shown = now
    const perSecond = Math.round(seeds / ((now - started) / 1000))
    const line = `${seeds} of ${all} histories, ${perSecond}/s, ${events} events, ${crashes} crashes, ${charged} payments`
    process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`)
  }
}
