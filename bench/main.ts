/** `bun run bench`: compares the wall with the limits of the machine and with naive implementations. */

import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isInMemory } from '../test/support/machine.ts'
import type { Findings } from './findings.ts'
import goals from './goals.json' with { type: 'json' }
import { pinProcess } from './measure/cpu.ts'
import { checkGoals, renderMarkdown, renderTable, writeResults, type Report } from './report.ts'
import { behindProxy, inBrowser, onServer, scenarios } from './scenarios.ts'
import { createServers } from './servers/servers.ts'

// Bun compiles only code that runs often. During the first 50,000 requests, a deed or a demand for payment takes up to
// 1.5 times as long as later.
const warmMs = 8000

const QUICK = { rounds: 3, ms: 500, warmMs, steadyMs: 5000 }
const FULL = { rounds: 7, ms: 2000, warmMs, steadyMs: 600_000 }

const OUT = join(import.meta.dir, 'out')

const ALL = { ...scenarios, ...onServer, ...behindProxy, ...inBrowser }

const USAGE = `bun run bench [--full] [--check] [--write] [WORD ...]

  --full   takes longer, and also runs the scenarios that start other servers or a browser
  --check  exits with 1 if a figure misses its goal
  --write  writes the table in docs/benchmarks.md; takes no WORD, because the table needs every scenario
  WORD     runs only the scenarios whose titles contain every word

The scenarios:
  ${Object.keys(ALL).join('\n  ')}`

const flag = { type: 'boolean', default: false } as const
const { values: options, positionals: words } = parseArgs({
  options: { full: flag, check: flag, write: flag, help: flag },
  allowPositionals: true,
})
const chosen = Object.entries(options.full || words.length > 0 ? ALL : scenarios).filter(([title]) =>
  words.every((word) => title.includes(word)),
)
if (options.help || chosen.length === 0 || (options.write && words.length > 0)) {
  console.log(USAGE)
  process.exit(options.help ? 0 : 2)
}
if (isInMemory(tmpdir())) {
  console.log(`${tmpdir()} is in memory, so no write waits for a disk. Set TMPDIR to a folder on a disk.`)
  if (options.write) process.exit(2)
}

const report = await runScenarios()
const checked = checkGoals(report, goals)
console.log(
  `\nRatios and their goals (most ratios compare the processor time of servers, as medians of paired rounds)\n`,
)
for (const { line } of checked) console.log(line)
await saveReport(report)
if (options.write) await writeResults(renderMarkdown(report, goals, describeMachine()))
if (options.check && checked.some(({ isMet }) => !isMet)) process.exitCode = 1

/** Runs the scenarios, and prints each result when it is ready. */
async function runScenarios(): Promise<Report> {
  pinProcess(process.pid, 0)
  const walls = createServers()
  const stopAndExit = () => void walls.stop().then(() => process.exit(130))
  process.once('SIGINT', stopAndExit)
  const found: Record<string, Findings> = {}
  try {
    for (const [at, [title, scenario]] of chosen.entries()) {
      console.log(`\n[${at + 1}/${chosen.length}] ${title}`)
      const findings = await scenario(walls, options.full ? FULL : QUICK)
      console.log(renderTable(findings))
      found[title] = findings
    }
  } finally {
    process.off('SIGINT', stopAndExit)
    await walls.stop()
  }
  return found
}

async function saveReport(found: Report): Promise<void> {
  const path = join(OUT, `${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`)
  await Bun.write(path, JSON.stringify({ machine: describeMachine(), found, goals }, undefined, 2))
  console.log(`\nAll figures are in ${path}`)
}

function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model ?? 'an unknown processor'}, Bun ${Bun.version}, ${process.platform}`
}
