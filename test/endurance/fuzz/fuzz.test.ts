import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openFuzzWall, type FuzzWall } from './fuzz-wall.ts'
import { fuzz, fuzzWire } from './fuzz.ts'

// Goal: no request whatever gets a 500, an answer in another shape, or changes a row without a 200. Method: generated
// requests, most of them one step from an honest one, at the whole service over a real database and fakes of the world.
// `bun run endurance fuzz` throws a million, with another seed each time.

const SEED = 402

// It takes a few seconds on a machine that does nothing else.
const SLOW_MACHINE_MS = 120_000

let wall: FuzzWall
beforeAll(async () => {
  wall = await openFuzzWall()
})
afterAll(async () => {
  await wall.close()
})

test(
  '5,000 generated requests get no 500, and change nothing without a 200',
  async () => {
    const { statuses } = await fuzz(wall, 5000, SEED)
    for (const status of [200, 400, 401, 402, 404, 405, 409, 413]) expect([...statuses.keys()]).toContain(status)
  },
  SLOW_MACHINE_MS,
)

test('spoilt bytes on the wire get no 500, and the wall goes on answering', async () => {
  const host = wall.listen()
  const statuses = await fuzzWire(wall, host, 400, SEED)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([0, 200, 400, 402]))
  expect((await fetch(`http://${host}/api/health`)).status).toBe(200)
})
