import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { expectBooksToBalance } from '../../support/e2e/read-wall.ts'
import { readCatalogue } from './catalogue.ts'
import { findProblems } from './runner.ts'
import { openStage, type Stage } from './stage.ts'

// Goal: every request of the catalogue gets the response that the catalogue requires, and an invalid request changes
// nothing. Method: each request is sent over a socket to the real server, with a real chain and facilitator; rows and
// settlements are compared before and after.

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(async () => {
  try {
    await expectBooksToBalance(stage.world)
  } finally {
    await stage.stop()
  }
})

const CATALOGUE = await readCatalogue(join(import.meta.dir, 'bad-inputs.jsonl'))

test.each([...Map.groupBy(CATALOGUE, ({ area }) => area)])(
  'every request in the area %s of the catalogue gets the listed response, and only a request with a 200 response changes a row or requests a settlement',
  async (_, items) => {
    const failed: string[] = []
    for (const item of items) failed.push(...(await findProblems(stage, item)))
    expect(failed).toEqual([])
  },
)
