/** `pixel-wall resolve`: settles what is open by evidence, now, and notes what was paid back by hand. */

import { parseArgs } from 'node:util'
import { ask, runRemotely, UsageError, type Command } from './command.ts'

const USAGE = `Asks the chain about open purchases, draws the consequence and tells it, while the wall runs.

  pixel-wall resolve                                       all that is open
  pixel-wall resolve PAYER NONCE                           one payment
  pixel-wall resolve PAYER NONCE --paid-out REFERENCE      notes a credit, or money of no purchase, as dealt with by hand
  pixel-wall resolve PAYER NONCE --stray                   books money of no purchase as stray: no block was sold for it

Nothing is decided by the operator: a block is sold or given back on the chain's word alone.
`

/** Settles what is open by evidence, or notes what was done by hand. */
export const resolve: Command = {
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'paid-out': { type: 'string' }, stray: { type: 'boolean' } },
    })
    const [payer, nonce, ...rest] = positionals
    const [reference, isStray] = [values['paid-out'], values.stray === true]
    if (rest.length > 0 || (payer === undefined) !== (nonce === undefined) || (isStray && reference !== undefined))
      throw new UsageError()
    if (payer === undefined || nonce === undefined) {
      if (reference !== undefined || isStray) throw new UsageError()
      return await resolveAll()
    }
    if (!/^0x[0-9a-f]{40}$/i.test(payer) || !/^0x[0-9a-f]{64}$/i.test(nonce)) throw new UsageError()
    if (isStray) return await runRemotely('stray', { payer, nonce })
    if (reference === undefined) return await runRemotely('resolve', { payer, nonce })
    if (reference.length === 0 || reference.length > 200) throw new UsageError()
    return await runRemotely('payout', { payer, nonce, reference })
  },
}

/** One at a time, so that each is told as soon as it is known. */
async function resolveAll(): Promise<number> {
  const { lines } = await ask('open', {})
  if (lines.length === 0) console.log('nothing is open')
  let status = 0
  for (const line of lines) {
    const [payer = '', nonce = ''] = line.split(' ')
    status = Math.max(status, await runRemotely('resolve', { payer, nonce }))
  }
  return status
}
