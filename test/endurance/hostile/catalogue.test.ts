import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { expectBooksToBalance } from '../../support/e2e/read-wall.ts'
import { readCatalogue } from './catalogue.ts'
import { runAll } from './runner.ts'
import { openStage, type Stage } from './stage.ts'

// Goal: every bad request there is an answer for gets it, and changes nothing. Method: each line of the catalogue against
// the real server, chain and facilitator, over sockets, with a look at rows, settlements and money before and after.

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await stage.stop()
})

test('every bad request of the catalogue gets its answer, and nothing but a 200 changes anything', async () => {
  const outcomes = await runAll(stage, await readCatalogue(join(import.meta.dir, 'bad-inputs.jsonl')))
  const failed = outcomes.flatMap(({ item, problems }) => problems.map((problem) => `${item.id}: ${problem}`))
  expect(failed).toEqual([])
  expect(outcomes.length).toBeGreaterThanOrEqual(292)
  await expectBooksToBalance(stage.world)
})
