/**
 * `pixel-wall books`: compares the sales of the wall with the money on the chain, whether or not the wall is running.
 */

import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { openBooks } from '../../db/open.ts'
import type { Arrival } from '../../shared/chain/arrivals.ts'
import { formatAmount, formatCountWithNoun } from '../../shared/money.ts'
import { createViemChain } from '../adapters/chain/chain.ts'
import { openEndpoints } from '../adapters/chain/endpoints.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { openReceiptArchive } from '../adapters/receipts-file.ts'
import { auditBooks, type OpenFinding, type Stock } from '../books/audit-books.ts'
import { readConfig } from '../config.ts'
import type { Balance, BookedCredit, BookedSale } from '../domain/purchase/balance.ts'
import { toNameField, formatTarget, describeHolding } from '../domain/purchase/target.ts'
import type { ChainHealth, ReceiptArchive } from '../ports.ts'
import { describeEvidence, describeState } from './admin-commands.ts'
import { type Command, printLines, UsageError } from './command.ts'

const USAGE = `Checks that the books balance. Uses the wall's settings. The wall may be running or stopped.

  pixel-wall books [--json] [--all] [--from HEIGHT]

Checks every payment that arrived at PAY_TO since the first purchase, or since block HEIGHT. Sales
before that block are not checked. Data read from the chain is cached
next to the database once the books balance; --all reads everything again.
Exit status: 0 if the books balance, 1 if they do not, 2 if that cannot be determined.
`

const OPTIONS = { json: { type: 'boolean' }, all: { type: 'boolean' }, from: { type: 'string' } } as const

/** Compares the sales with the money that arrived. */
export const books: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.from !== undefined && !/^\d{1,15}$/.test(values.from)) throw new UsageError()
    const { database, network, rpcUrls, rpcCallsPerSecond, offer, booksPath } = readConfig(Bun.env)
    await using audit = await openBooks(database)
    const chain = createViemChain(openEndpoints(network, rpcUrls, { clock, callsPerSecond: rpcCallsPerSecond }), offer)
    const from = values.from === undefined ? undefined : BigInt(values.from)
    const kept = openReceiptArchive(booksPath, `${network} ${offer.terms.asset}`)
    const archive = { read: values.all === true ? async () => [] : kept.read, write: reportWriteErrors(kept.write) }
    const stock = await auditBooks({ audit, chain, clock, archive, payTo: offer.terms.payTo }, from, printHeight)
    if (stock === 'silent')
      throw new CannotOpen(`${describeSilence(await chain.checkHealth())}, so the books cannot be checked`)
    printLines(values.json === true ? JSON.stringify(toJson(stock), null, 2).split('\n') : formatLines(stock))
    return stock.balance.balances ? 0 : 1
  },
}

/** Shows the progress, because reading years of the chain takes minutes. */
function printHeight(height: bigint): void {
  if (process.stderr.isTTY) process.stderr.write(`\rread the chain up to block ${height} `)
}

/** Reports to the operator if the cache cannot be written; the chain is then read again next time. */
function reportWriteErrors(write: ReceiptArchive['write']): ReceiptArchive['write'] {
  return (kept) =>
    write(kept).catch(() => console.error('cannot cache the data read from the chain next to the database'))
}

/** Why the chain did not respond, according to a probe. */
function describeSilence(health: ChainHealth): string {
  if (health.kind === 'none') return health.lacks ?? 'the chain endpoint did not respond to every query; try again'
  return health.kind === 'silent' ? (health.what ?? 'the chain does not respond') : health.what
}

/** The books as text, one entry per line. */
export function formatLines({ at, from, through, balance, open }: Stock): string[] {
  const { claimed, received, owed, credits, stray, strayed } = balance
  return [
    `The books at ${new Date(at).toISOString()}, ${from === undefined ? 'with no payments yet' : `blocks ${from} to ${through} of the chain`}`,
    '',
    `  blocks claimed            ${claimed}`,
    `  received for them         ${formatAmount(received)} (credits included)`,
    `  stray money               ${formatAmount(strayed)}${stray.length === 0 ? '' : `, in ${formatCountWithNoun(stray.length, 'payment')}`}`,
    ...stray.map((arrival) => `    ${describeArrival(arrival)}`),
    `  credits                   ${credits.length}, of which ${formatAmount(owed)} owed`,
    ...credits.map((credit) => `    ${describePayment(credit)} ${credit.paidOut ?? 'OWED'}`),
    `  open purchases            ${open.length}`,
    ...open.map((finding) => `    ${describeOpenPurchase(finding)}`),
    ...formatSection('sold or credited, but not on the chain', balance.unpaid.map(describePayment)),
    ...formatSection('arrived for a purchase that is open or was released', balance.landed.map(describeArrival)),
    ...formatSection('arrived for a block, but without a known purchase', balance.orphans.map(describeArrival)),
    ...formatSection(
      'arrived for a block, without a known purchase, and resolved by hand',
      balance.byHand.map(describeArrival),
    ),
    '',
    ...listConclusions(balance),
  ]
}

/** The books as a value for JSON. Amounts are atomic units in decimal; times are Unix milliseconds. */
export function toJson({ at, from, through, balance, open }: Stock) {
  const { balances, claimed, received, owed } = balance
  return {
    balances,
    at,
    from: from?.toString() ?? null,
    through: through?.toString() ?? null,
    claimed,
    received: received.toString(),
    owed: owed.toString(),
    credits: balance.credits.map(formatEntryAmount),
    open: open.map(({ purchase, since, ageMs, evidence }) => ({
      payer: purchase.payment.payer,
      nonce: purchase.payment.nonce,
      target: formatTarget(purchase.target),
      ...toNameField(purchase),
      amount: purchase.payment.amount.toString(),
      state: purchase.state,
      since,
      ageMs,
      evidence,
    })),
    unpaid: balance.unpaid.map(formatEntryAmount),
    landed: balance.landed.map(toArrival),
    orphans: balance.orphans.map(toArrival),
    byHand: balance.byHand.map(toArrival),
    stray: balance.stray.map(toArrival),
    strayed: balance.strayed.toString(),
  }
}

/** An entry in a form that JSON can represent. */
const formatEntryAmount = <T extends BookedSale | BookedCredit>({ amount, head: _head, ...entry }: T) => ({
  ...entry,
  amount: amount.toString(),
})

// The height of an arrival is omitted, because JSON cannot represent a bigint.
const toArrival = ({ payer, nonce, amount, tx }: Arrival) => ({ payer, nonce, amount: amount.toString(), tx })

function formatSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}: ${lines.length}`, ...lines.map((line) => `    ${line}`)]
}

function listConclusions({ balances, unpaid, landed, orphans }: Balance): string[] {
  if (balances) return ['They balance.']
  return [
    'They do not balance:',
    ...(unpaid.length > 0
      ? ['  payments that are not on the chain yet may still arrive; run this again in a few minutes']
      : []),
    ...(landed.length > 0 ? ['  to book payments that arrived for open purchases: pixel-wall resolve'] : []),
    ...(orphans.length > 0
      ? [
          '  pay back money without a known purchase, then: pixel-wall resolve PAYER NONCE --paid-out REFERENCE',
          '  or, if the money cannot have been for a block: pixel-wall resolve PAYER NONCE --stray',
        ]
      : []),
  ]
}

function describeOpenPurchase({ purchase, ageMs, evidence }: OpenFinding): string {
  const { payer, nonce, amount } = purchase.payment
  const minutes = Math.floor(ageMs / 60_000)
  return `${payer} ${nonce} ${formatAmount(amount)} for ${describeHolding(purchase)}: ${describeState(purchase)} for ${minutes} min; the chain: ${describeEvidence(evidence)}`
}

const describePayment = ({ payer, nonce, amount, tx }: BookedSale | BookedCredit) =>
  `${payer} ${nonce} ${formatAmount(amount)} in ${tx}`

const describeArrival = ({ payer, nonce, amount, tx }: Arrival) =>
  `${payer} ${nonce ?? '(no authorization)'} ${formatAmount(amount)} in ${tx}`
