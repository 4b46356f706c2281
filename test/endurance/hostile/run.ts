/** `bun run hostile [FILE]`: throws a catalogue of bad requests at the real server, and tells what got through. */

import { join } from 'node:path'
import { expectBooksToBalance } from '../../support/e2e/read-wall.ts'
import { readCatalogue } from './catalogue.ts'
import { runAll, SLOW_MS } from './runner.ts'
import { openStage } from './stage.ts'

const OURS = join(import.meta.dir, 'bad-inputs.jsonl')

const items = await readCatalogue(Bun.argv[2] ?? OURS)
const stage = await openStage()
try {
  const outcomes = await runAll(stage, items)
  const failed = outcomes.filter(({ problems }) => problems.length > 0)
  for (const { item, problems } of failed)
    console.log(
      `${item.id}  ${item.area.padEnd(9)}  ${problems.join('; ')}${item.note === undefined ? '' : `  (${item.note})`}`,
    )
  const quick = outcomes.filter(({ mayWait }) => !mayWait).map(({ ms }) => ms)
  console.log(`slowest answer that waits for nobody: ${Math.max(0, ...quick).toFixed(1)} ms, of at most ${SLOW_MS}`)
  await expectBooksToBalance(stage.world)
  console.log('the books balance: as many dollars came in as blocks went out')
  console.log(`${outcomes.length - failed.length} passed, ${failed.length} failed`)
  process.exitCode = failed.length === 0 ? 0 : 1
} finally {
  await stage.stop()
}
