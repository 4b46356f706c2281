import { afterAll, expect, test } from 'bun:test'
import { openCatalogue } from '../../../server/adapters/catalogue.ts'
import { trackOutages } from '../../../server/health/outages.ts'
import { watchListing } from '../../../server/health/watch-listing.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { OFFER } from '../../support/offer.ts'
import { NOW } from '../../support/samples.ts'

// Goal: an operator learns that agents cannot find the wall, and gets no alert for one bad day of a catalogue. Method:
// a catalogue whose response the test sets, with a fake clock; and a real server like Coinbase’s.

const DAY_MS = 86_400_000

/** A watched wall; `says` is the response of its catalogue. */
async function createWorld() {
  const clock = createFakeClock(NOW)
  const logger = createFakeLogger()
  const outages = trackOutages({ clock, logger })
  const says = { listed: 0 as number | 'none' | 'silent', asked: 0 }
  const readCatalogue = async () => {
    says.asked += 1
    return says.listed
  }
  const watch = watchListing({ catalogues: [{ host: 'pay.example', countListed: readCatalogue }], clock, outages })
  // The first check queries nothing, and only returns when to check again.
  expect([await watch.check(), says.asked]).toEqual([60_000, 0])
  return { clock, says, watch, outages, logger }
}

test('if no catalogue has listed the wall for seven days, an outage is reported until a catalogue lists the wall', async () => {
  const { clock, says, watch, outages, logger } = await createWorld()
  const begun = clock.now()
  let checks = 0
  for (; clock.now() < begun + 7 * DAY_MS; checks++) {
    const waitMs = await watch.check()
    expect(outages.listAll()).toMatchObject([{ kind: 'catalogue', name: 'pay.example', state: 'up' }])
    clock.advance(waitMs)
  }
  expect(checks).toBe(28)
  await watch.check()
  expect(outages.listAll()).toMatchObject([{ state: 'down', reason: expect.stringContaining('for seven days') }])
  says.listed = 3
  await watch.check()
  expect(outages.listAll()).toMatchObject([{ state: 'up' }])
  expect(watch.readListings()).toEqual([
    { catalogue: 'pay.example', addresses: 3, seenAt: clock.now(), listedAt: clock.now() },
  ])
  expect(logger.alerts).toHaveLength(1)
})

test('a catalogue that does not respond, or a facilitator without a catalogue, changes neither the known listings nor the outages', async () => {
  const { clock, says, watch, outages } = await createWorld()
  for (const listed of ['silent', 'none'] as const) {
    Object.assign(says, { listed })
    await watch.check()
    expect([watch.readListings(), outages.listAll()]).toEqual([[], []])
  }
  says.listed = 1
  await watch.check()
  says.listed = 'silent'
  clock.advance(8 * DAY_MS)
  await watch.check()
  expect(watch.readListings()).toMatchObject([{ addresses: 1, seenAt: NOW }])
  expect(outages.listAll()).toMatchObject([{ state: 'up' }])
})

let answer: () => Response = () => new Response()
let asked = ''
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    asked = new URL(request.url).pathname + new URL(request.url).search
    return answer()
  },
})
afterAll(() => server.stop(true))

test('a catalogue is queried for the payment address, and its addresses of this wall are counted, with all blocks as one address', async () => {
  const { baseUrl, terms } = OFFER
  const resources = ['/blocks/next', '/blocks/1,2', '/blocks/{coord}', '/areas?w=2'].map((path) => baseUrl + path)
  answer = () =>
    Response.json({ resources: [...resources, 'https://other.example/x'].map((resource) => ({ resource })) })
  const { countListed: listed, host } = openCatalogue(`${server.url.href}v2/x402`, OFFER)
  expect([host, await listed()]).toEqual([server.url.host, 3])
  expect(asked).toBe(`/v2/x402/discovery/merchant?payTo=${terms.payTo}&limit=100`)
  answer = () => new Response('not found', { status: 404 })
  expect(await listed()).toBe('none')
  answer = () => new Response('{}', { status: 503 })
  expect(await listed()).toBe('silent')
})
