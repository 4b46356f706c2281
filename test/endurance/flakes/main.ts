/**
 * `bun run endurance flakes [OPTION ...] [PATH ...]`: repeats the gate's tests under load, and counts the
 * failures. Without a path, it runs every folder whose tests wait for something.
 *
 *     --rounds N     how many rounds (5)
 *     --workers N    how many test files run in parallel (2)
 *     --load N       how many busy processes run meanwhile (2)
 *     --disk         also runs a process that flushes to the disk continuously
 *     --nice N       the niceness of the tests, up to 19 (0)
 *     --minutes N    after how many minutes the run ends, even in the middle of a round (60)
 */

import { statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine, measureMachine } from '../../support/machine.ts'
import { parseRound, type Round, renderTable } from './tally.ts'

const FOLDERS = ['service', 'engine', 'page', 'e2e', 'endurance'].map((name) => `./test/${name}`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    workers: { type: 'string', default: '2' },
    load: { type: 'string', default: '2' },
    disk: { type: 'boolean', default: false },
    nice: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '60' },
  },
})
const [rounds, workers, load, nice, minutes] = [
  Number(values.rounds),
  Number(values.workers),
  Number(values.load),
  Number(values.nice),
  Number(values.minutes),
] as const
const isIntegerFrom = (value: number, least: number) => Number.isSafeInteger(value) && value >= least
if (
  ![rounds, workers, minutes].every((value) => isIntegerFrom(value, 1)) ||
  ![load, nice].every((value) => isIntegerFrom(value, 0))
) {
  console.error(
    'bun run endurance flakes [--rounds N] [--workers N] [--load N] [--disk] [--nice N] [--minutes N] [PATH ...]',
  )
  process.exit(2)
}
const ENDS_WITHIN_MS = 5000
let until = performance.now() + minutes * 60_000
const folder = await mkdtemp(join(tmpdir(), 'pixel-wall-flakes-'))
const others = [...Array.from({ length: load }, () => startLoad()), ...(values.disk ? [startLoad(folder)] : [])]
let endRound = () => {}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    until = performance.now()
    endRound()
  })
const played: Round[] = []
try {
  for (let number = 1; number <= rounds && performance.now() < until; number++) played.push(await playRound(number))
} finally {
  for (const other of others) other.kill()
}
console.log(`${renderTable(played)}\nthe full output of every round is in ${folder}`)
process.exit(played.some(({ failed }) => failed.length > 0) ? 1 : 0)

function startLoad(disk?: string) {
  const script = join(import.meta.dir, 'run-load.ts')
  const command = [process.execPath, script, String(minutes * 60), ...(disk === undefined ? [] : [disk])]
  return Bun.spawn(command, { stdin: 'pipe', stdout: 'ignore', stderr: 'inherit' })
}

/** Plays one round, until its tests have ended or the time is up. */
async function playRound(number: number): Promise<Round> {
  const log = join(folder, `round-${number}.log`)
  const began = performance.now()
  const paths = positionals.length > 0 ? positionals : FOLDERS
  const child = Bun.spawn(
    [
      'nice',
      '-n',
      String(nice),
      process.execPath,
      '--no-orphans',
      'test',
      `--parallel=${workers}`,
      '--timeout',
      '60000',
      ...paths,
    ],
    {
      cwd: join(import.meta.dir, '../../..'),
      env: { ...Bun.env, LONG_RUN: '' },
      stdin: 'ignore',
      stdout: Bun.file(log),
      stderr: Bun.file(log),
    },
  )
  let kill: Timer | undefined
  let bytesOfTests = Infinity
  endRound = () => {
    // Later failures do not count, because ending the round causes them.
    bytesOfTests = statSync(log).size
    child.kill()
    // Kills a test that ignores the signal.
    kill = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
  }
  const timer = setTimeout(endRound, Math.max(0, until - began))
  await child.exited
  clearTimeout(timer)
  clearTimeout(kill)
  const end = performance.now() >= until ? 'cut short' : child.exitCode === 0 ? 'passed' : 'failed'
  const round = parseRound(await Bun.file(log).slice(0, bytesOfTests).text(), end)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const cut = end === 'cut short' ? `, ${end}` : ''
  console.log(
    `round ${number}: ${round.passed} passed, ${round.failed.length} failed, ${seconds} s${cut}; ${describeMachine(measureMachine())}`,
  )
  for (const name of round.failed) console.log(`  ${name}`)
  return round
}
