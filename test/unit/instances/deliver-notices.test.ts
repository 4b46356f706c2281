import { expect, test } from 'bun:test'
import { trackOutages } from '../../../server/health/outages.ts'
import { createNoticeDelivery, queueAlerts } from '../../../server/instances/deliver-notices.ts'
import type { Notice, NoticeReceiver } from '../../../server/operator-ports.ts'
import type { ExclusiveJobs } from '../../../server/ports.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { reserveTarget, sellBlock } from '../../support/engine.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import {
  parseBlockOrThrow,
  createTestEdit,
  toHash,
  createTestIdentity,
  createTestListing,
  NOW,
  createTestPayment,
  SILENT,
  TERMS,
  createWalletAddress,
} from '../../support/samples.ts'

// Goal: the operator’s system gets every notice in order, even if that system fails or hangs, and no sale waits for a
// delivery. Method: the real store, a receiver that the test controls, and a clock on which a day takes no time.

const never = new AbortController().signal
const DAY_MS = 86_400_000
const EXCLUSIVE: ExclusiveJobs = {
  async run(_, work) {
    await work()
    return true
  },
}

type Wall = Awaited<ReturnType<typeof openBlankWall>>

/**
 * A receiver, and a process that delivers to it from a store; `last` is the number of the newest log entry that the
 * process had seen at its start.
 */
function startDelivery(wall: Wall, { jobs = EXCLUSIVE, clock = createFakeClock(NOW), last = 0 } = {}) {
  const received: Notice[] = []
  const world = { trouble: null as string | null, hangs: undefined as Promise<null> | undefined, tries: 0, last }
  const receiver: NoticeReceiver = {
    host: 'ops.example',
    async send(notice) {
      world.tries += 1
      if (world.hangs !== undefined) return await world.hangs
      if (world.trouble === null) received.push(notice)
      return world.trouble
    },
  }
  const written = createFakeLogger()
  const { logger, alerts } = queueAlerts(written, clock)
  const outages = trackOutages({ clock, logger })
  const readNumber = () => world.last
  const deliver = createNoticeDelivery({ ...wall, jobs, receiver, alerts, outages, clock, readNumber })
  /** Delivers the pending notices. */
  const deliverPending = async () => {
    world.last = (await wall.log.readAfter(0, 9999)).at(-1)?.number ?? 0
    return await deliver(never)
  }
  return { world, received, deliverPending, logger, written, outages, clock, alerts }
}

/** A wall whose webhook delivers from the beginning of the log. */
async function openWall() {
  const wall = await openBlankWall()
  await wall.deliveries.advanceTo(0)
  return wall
}

/** Buys an area. */
async function sellArea(wall: Wall, target: '10,20,4x3', number: number): Promise<void> {
  const accepted = { ...TERMS, scheme: 'exact' as const, amount: 12_000_000n }
  const held = await reserveTarget(
    wall,
    target,
    createTestPayment(number, number, { amount: 12_000_000n, accepted }),
    SILENT,
  )
  await wall.ledger.finalize(held, toHash(number), true, NOW)
}

test('each purchase and each other change causes one notice, in the order of the log, even if the purchase bought many blocks', async () => {
  const wall = await openWall()
  const { received, deliverPending } = startDelivery(wall)
  await sellBlock(wall, '3,4', 1, 1)
  await sellArea(wall, '10,20,4x3', 2)
  await wall.blocks.edit(parseBlockOrThrow('3,4'), createTestEdit(1, { message: 'new' }), NOW)
  await deliverPending()
  await wall.moderation.moderate(parseBlockOrThrow('3,4'), 'hide', ['message'], NOW)
  await wall.agents.register(createWalletAddress(1), createTestIdentity(2, { name: 'Ada' }), NOW)
  expect(await deliverPending()).toBe(1000)
  expect(received.map(({ id, type, data }) => [id, type, data['place'] ?? null, data['message'] ?? null])).toEqual([
    [`log-1-${NOW}`, 'sale', '3,4', createTestListing().message],
    [`log-2-${NOW}`, 'sale', '10,20,4x3', null],
    [`log-14-${NOW}`, 'repaint', '3,4', 'new'],
    [`log-15-${NOW}`, 'hide', '3,4', null],
    [`log-16-${NOW}`, 'identity', null, null],
  ])
  expect(received[1]?.data).toMatchObject({
    blocks: 12,
    amount: '12000000',
    payer: createWalletAddress(2),
    tx: toHash(2),
    seq: 2,
  })
  await deliverPending()
  expect(received).toHaveLength(5)
  wall.close()
})

test('a new webhook receives every change since the start of the process, even those before its first delivery', async () => {
  const wall = await openBlankWall()
  await sellBlock(wall, '3,4', 1, 1)
  const { received, deliverPending } = startDelivery(wall, { last: 1 })
  await sellBlock(wall, '5,6', 2, 2)
  await deliverPending()
  await sellBlock(wall, '7,8', 3, 3)
  await deliverPending()
  expect(received.map(({ data }) => data['place'])).toEqual(['5,6', '7,8'])
  wall.close()
})

test.each(['it returned status 500', 'it did not respond in time'])(
  'after a day of “%s”, a receiver gets every notice once and in order, and the pauses between tries grow',
  async (trouble) => {
    const wall = await openWall()
    const { world, received, deliverPending, clock, outages } = startDelivery(wall)
    world.trouble = trouble
    const waits: number[] = []
    for (let sales = 0; clock.now() < NOW + DAY_MS; sales++) {
      if (sales < 20) await sellBlock(wall, 'next', 1, sales + 1)
      const waitMs = await deliverPending()
      waits.push(waitMs)
      await clock.wait(waitMs)
    }
    expect(waits.slice(0, 8)).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000])
    // One notice per try: nothing piles up at the receiver or in memory.
    expect(world.tries).toBe(waits.length)
    expect(received).toEqual([])
    expect(outages.listAll()).toMatchObject([{ kind: 'webhook', name: 'ops.example', state: 'down', reason: trouble }])
    world.trouble = null
    expect(await deliverPending()).toBe(1000)
    const sales = received.filter(({ type }) => type === 'sale')
    expect(sales.map(({ data }) => data['seq'])).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    expect(outages.listAll()).toMatchObject([{ state: 'up' }])
    wall.close()
  },
)

test('while a receiver hangs, sales continue, and one notice at a time is in progress', async () => {
  const wall = await openWall()
  const { world, received, deliverPending } = startDelivery(wall)
  const { promise, resolve } = Promise.withResolvers<null>()
  world.hangs = promise
  await sellBlock(wall, 'next', 1, 1)
  const hanging = deliverPending()
  for (let number = 2; number <= 9; number++) await sellBlock(wall, 'next', 1, number)
  expect(world.tries).toBe(1)
  world.hangs = undefined
  resolve(null)
  await hanging
  // The receiver accepted the first notice late, without recording it.
  expect(received.map(({ data }) => data['seq'])).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  wall.close()
})

test('after a crash the remaining notices follow in order, and a notice that is sent twice has the same id', async () => {
  const wall = await openWall()
  for (let number = 1; number <= 3; number++) await sellBlock(wall, 'next', 1, number)
  // The process ends before it has recorded any of the accepted notices.
  const ended = startDelivery({ ...wall, deliveries: { ...wall.deliveries, advanceTo: async () => {} } })
  await ended.deliverPending()
  const next = startDelivery(wall)
  await next.deliverPending()
  await sellBlock(wall, 'next', 1, 4)
  await next.deliverPending()
  expect(ended.received).toHaveLength(3)
  expect(next.received.slice(0, 3)).toEqual(ended.received)
  expect(next.received.map(({ data }) => data['seq'])).toEqual([1, 2, 3, 4])
  const restarted = startDelivery(wall)
  await restarted.deliverPending()
  expect(restarted.received).toEqual([])
  wall.close()
})

test('a process without the delivery lease delivers nothing from the log', async () => {
  const wall = await openWall()
  const { received, deliverPending } = startDelivery(wall, { jobs: { run: async () => false } })
  await sellBlock(wall, 'next', 1, 1)
  expect([await deliverPending(), received]).toEqual([1000, []])
  wall.close()
})

test('alerts and ends of outages are delivered under one id each, oldest first, and at most a hundred of them wait', async () => {
  const wall = await openWall()
  const { world, received, deliverPending, logger, written } = startDelivery(wall)
  logger.note('open')
  logger.alert('orphan', { payer: '0x1' })
  logger.note('outage-over', { dependency: 'disk', name: 'data', seconds: 5 })
  logger.alert('outage', { dependency: 'webhook', name: 'ops.example', reason: 'x' })
  world.trouble = 'it returned status 503'
  await deliverPending()
  world.trouble = null
  await deliverPending()
  expect(received.map(({ type, data }) => [type, data])).toEqual([
    ['alert', { event: 'orphan', payer: '0x1' }],
    ['alert', { event: 'outage-over', dependency: 'disk', name: 'data', seconds: 5 }],
  ])
  for (let number = 0; number < 150; number++) logger.alert('stray', { number })
  await deliverPending()
  expect(received.slice(2).map(({ data }) => data['number'])).toEqual(Array.from({ length: 100 }, (_, at) => at + 50))
  expect([written.alerts.length, written.notes.length]).toEqual([152, 2])
  wall.close()
})

test('an alert keeps its id when it is sent again', async () => {
  const wall = await openWall()
  const { world, deliverPending, logger, alerts } = startDelivery(wall)
  logger.alert('orphan')
  const id = alerts.peek()?.id
  world.trouble = 'it returned status 500'
  await deliverPending()
  expect([alerts.peek()?.id, id]).toEqual([id, expect.stringMatching(/^alert-/)])
  wall.close()
})

test('each report about an artwork is delivered once, under a permanent id', async () => {
  const wall = await openWall()
  const { world, received, deliverPending } = startDelivery(wall)
  const block = parseBlockOrThrow('3,4')
  const report = { work: block, block, reason: 'scam', note: 'look', reporterFor: () => 'a'.repeat(32) } as const
  await wall.reports.fileReport(report, { day: '2027-01-15', fresh: 'one' }, NOW)
  world.trouble = 'it returned status 500'
  await deliverPending()
  world.trouble = null
  await deliverPending()
  await deliverPending()
  expect(received).toEqual([
    {
      id: `report-1-${NOW}`,
      type: 'report',
      at: NOW,
      data: { work: '3,4', block: '3,4', reason: 'scam', note: 'look' },
    },
  ])
  wall.close()
})
