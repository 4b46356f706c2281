import { expect, test } from 'bun:test'
import { railState, type RailFacts } from '../../../server/health/payment-health.ts'
import type { Rail } from '../../../shared/contract/service.ts'

const WELL: RailFacts = {
  fault: null,
  checked: true,
  reconciled: true,
  stalled: false,
  failedProbes: 0,
  failingForMs: 0,
}

test.each<[string, Rail, Partial<RailFacts>]>([
  ['all is well', 'armed', {}],
  ['four probes in a row failed', 'armed', { failedProbes: 4 }],
  ['five probes in a row failed', 'arming', { failedProbes: 5 }],
  ['probes have failed for just under a minute', 'armed', { failingForMs: 59_999 }],
  ['probes have failed for a minute', 'arming', { failingForMs: 60_000 }],
  ['the chain stands still', 'arming', { stalled: true }],
  ['nothing was checked yet', 'arming', { checked: false }],
  ['open purchases were not looked at yet', 'arming', { reconciled: false }],
  ['something can never work', 'misconfigured', { fault: 'another chain' }],
  [
    'something can never work and nothing answers any more',
    'misconfigured',
    { fault: 'another chain', checked: false, reconciled: false, failedProbes: 9, failingForMs: 90_000 },
  ],
])('when %s the rail is %s', (_, state, facts) => {
  expect(railState({ ...WELL, ...facts })).toBe(state)
})
