/**
 * `bun run torture [--rounds N] [--seed N] [--crowd N] [--instances N]`: makes everything around the wall fail, and
 * checks that no dollar is lost. With `--instances`, this many walls share a PostgreSQL database.
 */

import { parseArgs } from 'node:util'
import { runTorture } from './run.ts'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    crowd: { type: 'string' },
    instances: { type: 'string' },
  },
})
const parseNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const [seed, rounds] = [Number(values.seed), Number(values.rounds)]
const [crowd, instances] = [parseNumber(values.crowd), parseNumber(values.instances)]
const isCount = (value: number | undefined) => value === undefined || (Number.isSafeInteger(value) && value >= 1)
if (!Number.isSafeInteger(seed) || ![rounds, crowd, instances].every(isCount)) {
  console.error('bun run torture [--rounds N] [--seed N] [--crowd N] [--instances N]')
  process.exit(2)
}
// Exits on a signal, so that no disk stays mounted; the wall and the chain end with this process's group or guard.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const summary = await runTorture({ seed, rounds, crowd, instances }, (line) => console.error(line))
console.log(JSON.stringify(summary, null, 2))
process.exit(summary.wrong.length === 0 ? 0 : 1)
