/**
 * `bun run sim`: plays thousands of histories in which everything that can fail does, and checks that no promise is
 * broken.
 *
 *     --seeds N      how many histories to play (100,000); with --mutants, the maximum for each bug
 *     --from S       the first seed; by default a random one, which is printed
 *     --seed S       plays one history; with --trace, prints everything that happens in it
 *     --real         with --seed or --worker: plays each history with the real engine
 *     --twins        with --worker: plays only histories with two servers
 *     --endpoints    with --worker: only histories in which the real chain adapter reads model endpoints
 *     --operator     with --worker: only histories in which an operator restores an older copy of the wall
 *     --prices       with --worker: only histories in which the price changes all the time
 *     --wide         with --worker: only histories on a wall with more blocks than one payer may hold
 *     --mutants      plants bugs in a copy of the source and counts the histories until each is found
 */

import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { simulate } from './history.ts'
import { openModelBook, type OpenBook } from './ledger-model.ts'
import { runMutants } from './mutants/mutate.ts'
import { playRange } from './play.ts'
import { usesRealBook, openRealBooks } from './sqlite-book.ts'
import { playInWorkers } from './workers.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100000' },
    from: { type: 'string' },
    seed: { type: 'string' },
    trace: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    worker: { type: 'boolean', default: false },
    real: { type: 'boolean', default: false },
    twins: { type: 'boolean', default: false },
    endpoints: { type: 'boolean', default: false },
    operator: { type: 'boolean', default: false },
    prices: { type: 'boolean', default: false },
    wide: { type: 'boolean', default: false },
  },
})

const seeds = Number(values.seeds)
const from = values.from === undefined ? randomInt(2 ** 32) : Number(values.from)

if (values.seed !== undefined) runSeed(Number(values.seed), values.trace, values.real)
else if (values.mutants) process.exitCode = await runMutants(Number(values.workers), seeds)
else if (values.worker) {
  playRange(from, from + seeds, values, (line) => console.log(line))
  // Clients that crashed in a history leave timers behind, which would keep the worker alive for another ten seconds.
  process.exit()
} else {
  console.log(`bun run sim --from ${from} --seeds ${seeds}`)
  process.exitCode = await playInWorkers(from, seeds, Number(values.workers))
}

function runSeed(seed: number, isTraced: boolean, real: boolean): void {
  const books = openRealBooks()
  const open: OpenBook = real || usesRealBook(seed) ? books.open : openModelBook
  try {
    const report = simulate(seed, open, isTraced ? (event) => console.log(event()) : undefined)
    console.log(`seed ${seed}: every promise held`, report)
  } catch (error) {
    console.log(`seed ${seed}: ${String(error)}`)
    process.exitCode = 1
  } finally {
    books.close()
  }
}
