import { expect, test } from 'bun:test'
import { createLineLogger } from '../../../server/adapters/logger.ts'

/** A logger with a fixed date, and the lines that it wrote. */
function openLogger() {
  const clock = { ms: 0, now: () => 1_800_000_000_123, elapsed: () => clock.ms }
  const lines: string[] = []
  return { clock, lines, logger: createLineLogger((line) => lines.push(line), clock) }
}

test('the journal has one line of JSON per event, with its time and level', () => {
  const { logger, lines } = openLogger()
  logger.note('rail', { state: 'armed', tries: 2 })
  logger.alert('disk\nfull')
  expect(lines).toEqual([
    '{"at":"2027-01-15T08:00:00.123Z","level":"note","event":"rail","state":"armed","tries":2}',
    '{"at":"2027-01-15T08:00:00.123Z","level":"alert","event":"disk\\nfull"}',
  ])
})

test('a log line cannot control the terminal that shows it, and still parses to the same value', () => {
  const { logger, lines } = openLogger()
  const fault = '\u001B[2J\u009B31m\u202Eevil\u2028'
  logger.note('rail', { fault })
  expect(lines[0]).toMatch(/^[ -~]*$/)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ fault })
})

test('a logged value is truncated to 512 characters', () => {
  const { logger, lines } = openLogger()
  logger.note('rail', { fault: 'x'.repeat(10_000) })
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ fault: `${'x'.repeat(512)}…` })
})

test('notes are limited to a burst of a megabyte and then to 64 kB per second, dropped notes are counted, and alerts are always written', () => {
  const { logger, lines, clock } = openLogger()
  const floodLog = () => {
    for (let i = 0; i < 10_000; i++) logger.note('step', { reason: 'x'.repeat(400) })
  }
  const countBytes = () => lines.reduce((sum, line) => sum + line.length, 0)
  floodLog()
  expect(countBytes()).toBeGreaterThan(1_000_000)
  expect(countBytes()).toBeLessThanOrEqual(1_048_576)
  const written = lines.length
  logger.alert('disk-failed')
  expect(lines.at(-1)).toContain('disk-failed')

  clock.ms = 1000
  floodLog()
  expect(countBytes()).toBeLessThanOrEqual(1_048_576 + 65_536 + 200)
  const left = JSON.parse(lines[written + 1] ?? '')
  expect(left).toEqual({
    at: '2027-01-15T08:00:00.123Z',
    level: 'note',
    event: 'left-out',
    lines: 10_000 - written,
    bytes: (10_000 - written) * (lines[0]?.length ?? 0),
  })
})
