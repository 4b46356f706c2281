import { expect, test } from 'bun:test'
import { type Overview, keepRecentAlerts, formatStatus } from '../../../server/operate/status-report.ts'
import { createFakeClock } from '../../support/fakes/clock.ts'
import { createFakeLogger } from '../../support/fakes/logger.ts'

const NOW = Date.UTC(2026, 10, 22, 12)

const facilitator = { kind: 'facilitator', name: 'pay.example' } as const

const seen: Overview = {
  version: '1.0.0',
  baseUrl: 'https://wall.example',
  network: 'eip155:8453',
  startedAt: NOW - 90_061_000,
  now: NOW,
  rail: 'armed',
  sells: {
    ready: true,
    reasons: [],
    dependencies: [{ ...facilitator, state: 'up', since: NOW - 61_000, reason: null }],
  },
  reads: { ready: true, reasons: [], dependencies: [] },
  sold: 421,
  orphans: 0,
  pending: { held: 2, uncertain: 1, watched: 3, oldestSince: NOW - 12_000 },
  freeBytes: 12_340_000_000,
  backedUpAt: NOW - 1_500_000,
  catalogues: [{ facilitator: 'pay.example', extension: 'bazaar', status: 'rejected', reason: 'no_schema' }],
  listings: [{ catalogue: 'pay.example', addresses: 3, seenAt: NOW - 7_200_000, listedAt: NOW }],
  alerts: [],
}

test('the status of a wall that sells fits on one screen', () => {
  expect(formatStatus(seen).join('\n')).toMatchInlineSnapshot(`
    "Pixel Wall 1.0.0 at https://wall.example on eip155:8453, up 1 d 1 h, at 2026-11-22T12:00:00.000Z

      sells       yes
      reads       yes
      rail        armed
      sold        421 of 14400 blocks
      open        2 held, 1 of them in doubt, 3 watched, the oldest for 12 s
      disk        12.3 GB free
      backup      25 min 0 s ago
      catalogue   bazaar of pay.example: rejected (no_schema)
      listed      3 addresses at pay.example, 2 h 0 min ago
      dependencies
        up   for 1 min 1 s facilitator pay.example
      last alerts  none since start"
  `)
})

test('the status of a wall that does not sell begins with the reason, and shows each outage and the last alerts', () => {
  const reason = 'the facilitator pay.example does not respond'
  const lines = formatStatus({
    ...seen,
    sells: {
      ready: false,
      reasons: [reason],
      dependencies: [{ ...facilitator, state: 'down', since: NOW - 5000, reason }],
    },
    orphans: 1,
    pending: undefined,
    freeBytes: undefined,
    backedUpAt: undefined,
    catalogues: [],
    listings: [{ catalogue: 'pay.example', addresses: 1, seenAt: NOW - 60_000, listedAt: NOW }],
    alerts: [{ at: NOW - 5000, event: 'outage', facts: { dependency: 'facilitator', reason } }],
  })
  expect(lines.slice(2).join('\n')).toMatchInlineSnapshot(`
    "  sells       NO: the facilitator pay.example does not respond
      reads       yes
      rail        armed
      sold        421 of 14400 blocks
      open        not checked yet
      orphans     1 payment without a known purchase
      backup      NEVER
      listed      1 address at pay.example, 1 min 0 s ago
      dependencies
        DOWN for 5 s       facilitator pay.example: the facilitator pay.example does not respond
      last alerts
        2026-11-22T11:59:55.000Z outage dependency=facilitator reason=the facilitator pay.example does not respond"
  `)
})

test('the last ten alerts are kept, with the newest at the end, and all alerts are logged unchanged', () => {
  const clock = createFakeClock(NOW)
  const written = createFakeLogger()
  const { logger, listRecentAlerts: last } = keepRecentAlerts(written, clock)
  for (let number = 1; number <= 12; number++) logger.alert('orphan', { number })
  logger.note('open')
  expect([written.alerts.length, written.notes.length]).toEqual([12, 1])
  expect(last().map(({ facts }) => facts?.['number'])).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
})
