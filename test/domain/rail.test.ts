import { expect, test } from 'bun:test'
import { railState, type RailFacts } from '../../server/domain/rail.ts'
import type { Rail } from '../../shared/contract/service.ts'

const WELL: RailFacts = { fault: null, checked: true, reconciled: true, unusableInARow: 0, failingForMs: 0 }

test.each<[string, Rail, Partial<RailFacts>]>([
  ['all is well', 'armed', {}],
  ['four answers in a row were unusable', 'armed', { unusableInARow: 4 }],
  ['five answers in a row were unusable', 'arming', { unusableInARow: 5 }],
  ['probes have failed for just under a minute', 'armed', { failingForMs: 59_999 }],
  ['probes have failed for a minute', 'arming', { failingForMs: 60_000 }],
  ['nothing was checked yet', 'arming', { checked: false }],
  ['open purchases were not looked at yet', 'arming', { reconciled: false }],
  ['something can never work', 'misconfigured', { fault: 'another chain' }],
  [
    'something can never work and nothing answers any more',
    'misconfigured',
    { fault: 'another chain', checked: false, reconciled: false, unusableInARow: 9, failingForMs: 90_000 },
  ],
])('when %s the rail is %s', (_, state, facts) => {
  expect(railState({ ...WELL, ...facts })).toBe(state)
})
