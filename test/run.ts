/**
 * `bun run test [OPTION ...] [PATH ...]`: runs `bun test`, and then prints how long the tests took, the mean state of
 * the machine, and what was missing. If the machine was busy, a line below each failed test describes the machine's
 * state, which may be the cause.
 */

import { join } from 'node:path'
import { describeMachine, type MachineState, isBusy, measureMachine } from './support/machine.ts'
import { findFailure, formatLastLine, findMissingRequirement } from './support/run-report.ts'

const MEASURED_EVERY_MS = 5000

// The time that each file took: the slowest files begin first, so that both workers are busy to the end. `bun run test
// --update-timings` measures the times again.
const timings = `--timings=${join(import.meta.dir, 'timings.json')}`

const command = [process.execPath, 'test', '--parallel=2', '--timeout', '60000', timings, ...Bun.argv.slice(2)]
const colours = process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}
const began = performance.now()
const child = Bun.spawn(command, { env: { ...Bun.env, ...colours }, stdin: 'inherit', stdout: 'pipe', stderr: 'pipe' })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))

let machine = measureMachine()
const measured: MachineState[] = [machine]
const timer = setInterval(() => measured.push((machine = measureMachine())), MEASURED_EVERY_MS)

const missing = new Set<string>()
const failed = new Set<string>()
await Promise.all([
  forwardLines(child.stdout, (line) => console.log(line)),
  forwardLines(child.stderr, (line) => console.error(line)),
])
clearInterval(timer)
process.exitCode = await child.exited
console.error(formatLastLine({ seconds: (performance.now() - began) / 1000, measured, missing: [...missing] }))

/** Prints each line as it arrives, and records failed tests and missing requirements. */
async function forwardLines(stream: ReadableStream<Uint8Array>, print: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of stream) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      print(line)
      recordLine(line)
    }
  }
  if (rest !== '') print(rest)
}

function recordLine(line: string): void {
  const without = findMissingRequirement(line)
  if (without !== undefined) missing.add(without)
  const failure = findFailure(line)
  // `bun test` lists all failures a second time at the end.
  if (failure === undefined || failed.has(failure)) return
  failed.add(failure)
  if (isBusy(machine)) console.error(`  the machine was busy: ${describeMachine(machine)}`)
}
