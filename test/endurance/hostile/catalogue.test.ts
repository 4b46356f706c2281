import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { expectBooksToBalance } from '../../support/e2e/read-wall.ts'
import { readCatalogue } from './catalogue.ts'
import { findProblems } from './runner.ts'
import { openStage, type Stage } from './stage.ts'

// Goal: every invalid request of the catalogue gets its response, and changes nothing. Method: each line of the
// catalogue with the real server, chain and facilitator, over sockets, with rows and settlements compared before and
// after.

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  await stage.stop()
})

test('every invalid request of the catalogue gets its response, and only a 200 changes anything', async () => {
  const failed: string[] = []
  for (const item of await readCatalogue(join(import.meta.dir, 'bad-inputs.jsonl')))
    failed.push(...(await findProblems(stage, item)))
  expect(failed).toEqual([])
  await expectBooksToBalance(stage.world)
})
