/** `bun run torture [--rounds N] [--seed N]`: lets everything around the wall fail, and checks that no dollar is lost. */

import { parseArgs } from 'node:util'
import { torture } from './run.ts'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: { rounds: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
})
const [seed, rounds] = [Number(values.seed), Number(values.rounds)]
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(rounds) || rounds < 1) {
  console.error('bun run torture [--rounds N] [--seed N]')
  process.exit(2)
}
// A run that is broken off leaves no disk mounted; the wall and the chain end with this process's group or guard.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const summary = await torture(seed, rounds, (line) => console.error(line))
console.log(JSON.stringify(summary, null, 2))
process.exit(summary.wrong.length === 0 ? 0 : 1)
