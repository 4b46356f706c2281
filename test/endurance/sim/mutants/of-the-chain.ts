/** Bugs of the adapter that reads the chain. */

import type { Mutant } from './mutant.ts'

const STATUS = 'server/adapters/chain/status.ts'
const RECEIPT = 'server/adapters/chain/receipt.ts'

export const mutantsOfTheChain: readonly Mutant[] = [
  {
    name: 'an endpoint that is behind is believed of what is not there',
    file: STATUS,
    from: 'latest.number < head || (!latest.spent && latest.number < known)',
    to: 'latest.number < head',
    shows: 'endpoints',
  },
  {
    name: 'what has expired in the newest block counts as expired',
    file: STATUS,
    from: 'return safe.timestamp > payment.validBefore && !safe.spent',
    to: 'return true',
    shows: 'endpoints',
  },
  {
    name: 'a proof outlives its block',
    file: STATUS,
    from: 'proof !== undefined && seen.hash === proof.blockHash',
    to: 'proof !== undefined',
    shows: 'endpoints',
  },
  {
    name: 'a transfer of another amount is taken for ours',
    file: RECEIPT,
    from: ` &&
    (payment.amount === undefined || BigInt(log.data) === payment.amount)`,
    to: '',
    shows: 'endpoints',
  },
  {
    name: 'a transfer to anybody is taken for ours',
    file: RECEIPT,
    from: 'topicsOf(log) === [TRANSFER, pad(payment.payer), pad(payment.to)].join() &&',
    to: 'topicsOf(log)?.startsWith([TRANSFER, pad(payment.payer)].join()) === true &&',
    shows: 'endpoints',
  },
  {
    name: 'an event that is not found is none',
    file: STATUS,
    from: `    next = through + 1n
  }
  return SILENT`,
    to: `    next = through + 1n
  }
  return { kind: 'void', why: 'nothing was found' }`,
    shows: 'endpoints',
  },
  {
    name: 'the older half is looked for events',
    file: STATUS,
    from: 'spent = middle\n      else unspent = middle',
    to: 'unspent = middle\n      else spent = middle',
    shows: 'endpoints',
  },
]
