import { expect, test } from 'bun:test'
import { lineJournal } from '../../server/adapters/journal.ts'

test('the journal is a line of JSON an event, with its time and level', () => {
  const lines: string[] = []
  const journal = lineJournal(
    (line) => lines.push(line),
    () => 1_800_000_000_123,
  )
  journal.note('rail', { state: 'armed', tries: 2 })
  journal.alarm('disk\nfull')
  expect(lines).toEqual([
    '{"at":"2027-01-15T08:00:00.123Z","level":"note","event":"rail","state":"armed","tries":2}',
    '{"at":"2027-01-15T08:00:00.123Z","level":"alarm","event":"disk\\nfull"}',
  ])
})
