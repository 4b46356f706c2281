import { afterAll, beforeAll, expect, test } from 'bun:test'
import { IS_LONG_RUN } from '../../support/long-run.ts'
import { openFuzzWall, type FuzzWall } from './fuzz-wall.ts'
import { fuzzRequests, fuzzWire } from './fuzz.ts'

// Goal: no request gets a 5xx or an error in an unknown format, and no request changes a row unless it gets a 200.
// Method: generated requests, most of them valid except for a small change, to the whole service with a real database
// and fake surroundings. `bun run endurance fuzz` sends a million requests, with a different seed each time.

const SEED = IS_LONG_RUN ? Date.now() % 2 ** 31 : 402
const REQUESTS = IS_LONG_RUN ? 1_000_000 : 2500
const TIME_MS = IS_LONG_RUN ? 3 * 3_600_000 : 120_000

let wall: FuzzWall
beforeAll(async () => {
  wall = await openFuzzWall()
})
afterAll(async () => {
  await wall.close()
})

test(
  `${REQUESTS} generated requests (seed ${SEED}) get no 5xx and no error in an unknown format, and change no row without a 200`,
  async () => {
    const statuses = await fuzzRequests(wall, REQUESTS, SEED)
    for (const status of [200, 400, 401, 402, 404, 405, 409, 413]) expect([...statuses.keys()]).toContain(status)
  },
  TIME_MS,
)

test('corrupted bytes on the wire cause no 5xx other than 505, and the wall continues to respond', async () => {
  const host = wall.listen()
  const statuses = await fuzzWire(wall, host, 400, SEED)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([0, 200, 400, 402]))
  expect((await fetch(`http://${host}/api/health`)).status).toBe(200)
})
