import { expect, test } from 'bun:test'
import { openMetrics } from '../../../server/adapters/metrics/metrics.ts'
import type { WallReadings } from '../../../server/adapters/metrics/wall.ts'
import { StoreUnavailable } from '../../../server/domain/failure.ts'
import { createFacilitatorFailure } from '../../../server/domain/purchase/refusals.ts'
import { openBlankWall } from '../../support/blank-wall.ts'
import { catchFailure, reserveTarget } from '../../support/engine.ts'
import { createFakeChain } from '../../support/fakes/chain.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeFacilitator } from '../../support/fakes/facilitator.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'
import { toHash, NOW, createTestPayment, SILENT, TERMS } from '../../support/samples.ts'
import { reportSkipped } from '../../support/skipped.ts'

test('calls to facilitators and the chain return their results unchanged and are timed by result, and purchases are counted by outcome', async () => {
  const metrics = openMetrics()
  const chain = createFakeChain()
  const facilitator = createFakeFacilitator(chain)
  const [counted, timed] = [metrics.timeFacilitator(facilitator), metrics.timeChain(chain)]
  const payment = createTestPayment(1, 1)
  expect(await counted.verify('next', payment)).toEqual({ kind: 'valid' })
  facilitator.verification = { kind: 'unavailable' }
  await counted.verify('next', payment)
  chain.silent = true
  await timed.readAuthorization(payment)
  await timed.readTransfers(TERMS.payTo, 0n)
  const broken = metrics.timeChain({ ...chain, checkHealth: () => Promise.reject(new Error('x')) })
  await expect(broken.checkHealth()).rejects.toThrow('x')
  metrics.countOutcome(createFacilitatorFailure('Gone'))
  const { ledger, close } = await openBlankWall()
  for (const [target, nonce] of [
    ['next', 1],
    ['80,45,4x3', 2],
  ] as const) {
    const held = await reserveTarget({ ledger }, target, createTestPayment(1, nonce), SILENT)
    const purchase = await ledger.finalize(held, toHash(nonce), true, NOW)
    metrics.countOutcome({ kind: 'bought', purchase })
  }
  close()
  metrics.countPaidRequest(1)
  metrics.observeWait('payments', 20)
  const text = await metrics.read()
  for (const line of [
    'wall_queue_seconds_bucket{le="0.03",class="payments"} 1',
    'wall_paid_requests_total{version="1"} 1',
    'wall_paid_requests_total{version="2"} 0',
    'wall_facilitator_seconds_count{facilitator="facilitator.example",call="verify",result="valid"} 1',
    'wall_facilitator_seconds_count{facilitator="facilitator.example",call="verify",result="unavailable"} 1',
    'wall_chain_seconds_count{call="read",result="silent"} 1',
    'wall_chain_seconds_count{call="transfers",result="silent"} 1',
    'wall_chain_seconds_count{call="fault",result="failed"} 1',
    'wall_purchases_total{outcome="facilitator_unavailable"} 1',
    'wall_purchases_total{outcome="bought"} 2',
    'wall_purchase_blocks_bucket{le="1"} 1',
    'wall_purchase_blocks_bucket{le="12"} 2',
    'wall_purchase_blocks_sum 13',
  ])
    expect(text).toContain(`${line}\n`)
})

const READINGS: WallReadings = {
  clock: createFakeClock(NOW),
  readRail: () => 'arming',
  canSell: () => false,
  canServeReaders: () => true,
  listDependencies: () => [
    { kind: 'facilitator', name: 'pay.example', state: 'down', since: NOW, reason: 'it is down' },
    { kind: 'store-read', name: 'sqlite', state: 'up', since: NOW, reason: null },
  ],
  readStoreState: () => ({
    pending: { held: 3, uncertain: 1, watched: 2, oldestSince: NOW - 5000 },
    freeBytes: 1000,
    backedUpAt: NOW,
  }),
  measureStoreBytes: async () => 4096,
  countBlocks: () => ({ sold: 400, open: 14_000 }),
  countOrphans: () => 2,
  readListings: () => [{ catalogue: 'pay.example', addresses: 3, seenAt: NOW, listedAt: NOW }],
  build: { version: '1.0.0', bun: '1.4.5' },
}

test('the gauges show the current state of the wall, including the age of the oldest open purchase', async () => {
  const metrics = openMetrics()
  metrics.registerReadings(READINGS)
  const text = await metrics.read()
  for (const line of [
    'wall_open_purchases{state="held"} 3',
    'wall_open_purchases{state="doubted"} 1',
    'wall_open_purchases{state="watched"} 2',
    'wall_oldest_open_purchase_seconds 5',
    'wall_rail{state="armed"} 0',
    'wall_rail{state="arming"} 1',
    'wall_ready{for="sales"} 0',
    'wall_ready{for="reads"} 1',
    'wall_dependency_up{dependency="facilitator",name="pay.example"} 0',
    'wall_dependency_up{dependency="store-read",name="sqlite"} 1',
    `wall_dependency_since_timestamp_seconds{dependency="store-read",name="sqlite"} ${NOW / 1000}`,
    'wall_blocks{state="sold"} 400',
    'wall_blocks{state="open"} 14000',
    'wall_orphan_payments 2',
    'wall_disk_free_bytes 1000',
    'wall_store_bytes 4096',
    'wall_catalogue_listed_addresses{catalogue="pay.example"} 3',
    `wall_last_backup_timestamp_seconds ${NOW / 1000}`,
    'wall_build_info{version="1.0.0",bun="1.4.5"} 1',
  ])
    expect(text).toContain(`${line}\n`)
})

test('a gauge without a known value is left out, except that an unknown backup time is 0', async () => {
  const metrics = openMetrics()
  metrics.registerReadings({
    ...READINGS,
    readStoreState: () => ({ pending: undefined, freeBytes: undefined, backedUpAt: undefined }),
    measureStoreBytes: async () => undefined,
  })
  const text = await metrics.read()
  expect(text).not.toMatch(/^wall_(open_purchases|oldest_open_purchase_seconds|disk_free_bytes|store_bytes)[ {]/m)
  expect(text).toContain('wall_rail{state="arming"} 1\n')
  expect(text).toContain('wall_last_backup_timestamp_seconds 0\n')
})

test('alerts are counted by event, and logged unchanged', async () => {
  const metrics = openMetrics()
  const written = createFakeLogger()
  const { alert, note } = metrics.wrapLogger(written)
  alert('orphan', { payer: '0x1' })
  alert('orphan')
  note('open')
  expect([written.alerts.length, written.notes.length]).toEqual([2, 1])
  expect(await metrics.read()).toContain('wall_alerts_total{event="orphan"} 2\n')
})

test('requests are counted by route and status, and timed by route', async () => {
  const metrics = openMetrics()
  metrics.recordResponse('/late', 503, 20)
  metrics.recordResponse('/soon', 200, 1)
  metrics.recordResponse('/soon', 200, 1)
  const text = await metrics.read()
  for (const line of [
    'wall_http_requests_total{route="/late",code="503"} 1',
    'wall_http_requests_total{route="/soon",code="200"} 2',
    'wall_http_request_duration_seconds_count{route="/soon"} 2',
  ])
    expect(text).toContain(`${line}\n`)
})

test('the durations of ledger calls are reported per method, separately for successful and failed calls', async () => {
  const metrics = openMetrics()
  const db = await openBlankWall()
  const ledger = metrics.timeLedger(db.ledger)
  await ledger.find(createTestPayment(1, 1))
  db.close()
  expect(await catchFailure(ledger.find(createTestPayment(1, 1)))).toBeInstanceOf(StoreUnavailable)
  const text = await metrics.read()
  for (const result of ['answered', 'failed'])
    expect(text).toContain(`wall_store_seconds_count{call="find",result="${result}"} 1\n`)
})

// Prometheus' own tool, if it is installed.
const promtool = Bun.which('promtool')

test.skipIf(reportSkipped('Prometheus (promtool)', promtool !== null))(
  'the metrics follow the conventions of Prometheus',
  async () => {
    const metrics = openMetrics()
    metrics.registerReadings(READINGS)
    metrics.recordResponse('/', 200, 1)
    const check = Bun.spawn([promtool ?? '', 'check', 'metrics'], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    await check.stdin.write(await metrics.read())
    await check.stdin.end()
    const words = (await Promise.all([check.stdout, check.stderr].map((out) => new Response(out).text()))).join('')
    expect([await check.exited, words]).toEqual([0, ''])
  },
)
