/**
 * `pixel-wall resolve`: resolves open purchases immediately, by the evidence on the chain, and records manual payouts.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { sendCommand, runRemotely, UsageError, type Command } from './command.ts'

const USAGE = `Checks open purchases on the chain, acts on the result and prints it. The wall must be running.

  pixel-wall resolve                                       all open purchases
  pixel-wall resolve PAYER NONCE                           one payment
  pixel-wall resolve PAYER NONCE --paid-out REFERENCE      records that you paid back a credit, or money without a purchase
  pixel-wall resolve --paid-out-from FILE                  records many such payouts: PAYER NONCE REFERENCE on each line; - reads standard input
  pixel-wall resolve PAYER NONCE --stray                   books money without a purchase as stray: no block was sold for it
  pixel-wall resolve --all --stray                         books as stray all money that stops the wall from selling

The operator decides nothing: only the chain decides whether a block is sold or released.
`

const OPTIONS = {
  all: { type: 'boolean' },
  stray: { type: 'boolean' },
  'paid-out': { type: 'string' },
  'paid-out-from': { type: 'string' },
} as const

const PAYER = /^0x[0-9a-f]{40}$/i
const NONCE = /^0x[0-9a-f]{64}$/i
const REFERENCE_MAX = 200

/** Resolves open purchases by the evidence on the chain, or records manual payouts. */
export const resolve: Command = {
  usage: USAGE,
  async run(args) {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS })
    const given = [...Object.keys(values).toSorted(), ...positionals.map(() => 'KEY')].join(' ')
    const [payer = '', nonce = ''] = positionals
    if (given === '') return await resolveAll()
    if (given === 'all stray') return await runRemotely('strays', {})
    if (given === 'paid-out-from') return await recordPayouts(values['paid-out-from'] ?? '')
    if (positionals.length !== 2) throw new UsageError()
    if (!PAYER.test(payer)) throw new UsageError('PAYER must be an address: 0x followed by 40 hex digits')
    if (!NONCE.test(nonce)) throw new UsageError('NONCE must be 0x followed by 64 hex digits')
    if (given === 'KEY KEY') return await runRemotely('resolve', { payer, nonce })
    if (given === 'stray KEY KEY') return await runRemotely('stray', { payer, nonce })
    const reference = values['paid-out'] ?? ''
    if (given !== 'paid-out KEY KEY' || !isReference(reference)) throw new UsageError()
    return await runRemotely('payout', { payer, nonce, reference })
  },
}

const isReference = (text: string) => text.length > 0 && text.length <= REFERENCE_MAX

/** Resolves one purchase at a time, so that each result is printed as soon as it is known. */
async function resolveAll(): Promise<number> {
  const { lines } = await sendCommand('open', {})
  if (lines.length === 0) console.log('there are no open purchases')
  let status = 0
  for (const line of lines) {
    const [payer = '', nonce = ''] = line.split(' ')
    status = Math.max(status, await runRemotely('resolve', { payer, nonce }))
  }
  return status
}

/** Records each payout in a list. If a line is malformed, nothing is recorded. */
async function recordPayouts(path: string): Promise<number> {
  const text = path === '-' ? await Bun.stdin.text() : readList(path)
  const payouts: { readonly payer: string; readonly nonce: string; readonly reference: string }[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, payer = '', nonce = '', reference = ''] = /^\s*(\S+)\s+(\S+)\s+(.*\S)\s*$/.exec(line) ?? []
    if (!PAYER.test(payer) || !NONCE.test(nonce) || !isReference(reference)) {
      console.error(`line ${at + 1} is not PAYER NONCE REFERENCE; nothing was recorded`)
      return 2
    }
    payouts.push({ payer, nonce, reference })
  }
  let status = 0
  for (const payout of payouts) {
    const { ok, lines } = await sendCommand('payout', payout)
    console.log(`${payout.payer} ${payout.nonce}: ${lines.join('; ')}`)
    if (!ok) status = 1
  }
  return status
}

function readList(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new UsageError(`cannot read the list ${path}`)
  }
}
