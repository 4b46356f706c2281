/** Bugs of the adapter that reads the chain. */

import type { Mutant } from './mutant.ts'

const STATUS = 'server/adapters/chain/status.ts'
const RECEIPT = 'server/adapters/chain/receipt.ts'

export const mutantsOfTheChain: readonly Mutant[] = [
  {
    name: 'an endpoint that lags behind is believed when it reports something as missing',
    file: STATUS,
    from: 'latest.number < head || (!latest.spent && latest.number < known)',
    to: 'latest.number < head',
    shows: 'endpoints',
  },
  {
    name: 'an authorization that expired in the newest block counts as expired',
    file: STATUS,
    from: 'return safe.timestamp > payment.validBefore && !safe.spent',
    to: 'return true',
    shows: 'endpoints',
  },
  {
    name: 'a proof remains valid after its block was replaced',
    file: STATUS,
    from: 'proof !== undefined && seen.hash === proof.blockHash',
    to: 'proof !== undefined',
    shows: 'endpoints',
  },
  {
    name: 'a transfer of another amount counts as ours',
    file: RECEIPT,
    from: ` &&
    (payment.amount === undefined || BigInt(log.data) === payment.amount)`,
    to: '',
    shows: 'endpoints',
  },
  {
    name: 'a transfer to another address counts as ours',
    file: RECEIPT,
    from: 'joinLogTopics(log) === [TRANSFER, pad(payment.payer), pad(payment.to)].join() &&',
    to: 'joinLogTopics(log)?.startsWith([TRANSFER, pad(payment.payer)].join()) === true &&',
    shows: 'endpoints',
  },
  {
    name: 'an authorization counts as void if its event is not found',
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
    name: 'the search for an event continues in the wrong half of the range',
    file: STATUS,
    from: 'spent = middle\n      else unspent = middle',
    to: 'unspent = middle\n      else spent = middle',
    shows: 'endpoints',
  },
]
