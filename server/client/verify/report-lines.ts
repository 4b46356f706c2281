/** Formats the result of a check as lines for people. */

import { formatCountWithNoun, formatCount, formatMoney } from '../../../shared/money.ts'
import { formatNetworkName } from '../../../shared/usdc.ts'
import type { FindingKind } from './verdict.ts'
import type { WallReport } from './verify.ts'

/** The findings, one per line, then notes, and in the last line the verified totals. */
export function formatReport(report: WallReport): readonly string[] {
  return [
    ...report.findings.map(({ kind, message }) => `${kind}: ${message}`),
    ...formatNotes(report),
    formatSummary(report),
  ]
}

function formatSummary({ blocks, amount, bound, credits, findings }: WallReport): string {
  const countFindings = (kinds: readonly FindingKind[]) => findings.filter(({ kind }) => kinds.includes(kind)).length
  const [unpaid, undeeded] = [countFindings(UNPAID), countFindings(['payment_without_deed'])]
  const others = findings.length - unpaid - undeeded
  return `${[
    formatCountWithNoun(blocks, 'block'),
    formatDollars(amount),
    ...(blocks === 0 ? [] : ['each block paid for by the wallet in its deed']),
    `${formatCount(bound)} bound to the words and picture that were bought`,
    `${formatCountWithNoun(credits.open, 'credit')} open`,
    undeeded === 0 ? 'no dollar without a deed' : `${formatCountWithNoun(undeeded, 'payment')} without a deed`,
    unpaid === 0 ? 'no deed without a dollar' : `${formatCountWithNoun(unpaid, 'deed')} without a dollar`,
    ...(others === 0 ? [] : [`${formatCount(others)} more that ${others === 1 ? 'is' : 'are'} wrong`]),
  ].join(', ')}.`
}

// The findings about a deed's or a credit's own payment.
const UNPAID: readonly FindingKind[] = [
  'not_on_chain',
  'failed_transaction',
  'no_payment',
  'another_token',
  'another_payer',
  'another_amount',
  'another_address',
  'another_transaction',
  'payment_used_twice',
]

function formatNotes(report: WallReport): readonly string[] {
  const { unbound, boundToFile, hiddenOrders, otherHosts, unconfirmed, credits, noted, plain, young, searched } = report
  const name = formatNetworkName(report.network)
  const notes: readonly (readonly [number, string])[] = [
    [unbound, `${formatCountWithNoun(unbound, 'block')} bought without binding the payment to the order.`],
    [
      boundToFile,
      `${formatCountWithNoun(boundToFile, 'block')} bound to an image file, which the wall converted to colours.`,
    ],
    [
      hiddenOrders,
      `${formatCountWithNoun(hiddenOrders, 'order')} not checked against the nonce, because the operator hides some of the content.`,
    ],
    [otherHosts.length, `Other hosts named in orders: ${otherHosts.join(', ')}.`],
    [
      unconfirmed,
      `${formatCountWithNoun(unconfirmed, 'deed')} paid in the newest blocks of the chain, which may still be replaced.`,
    ],
    [credits.paidBack, `${formatCountWithNoun(credits.paidBack, 'credit')} paid back on the chain.`],
    [
      credits.notProved,
      `${formatCountWithNoun(credits.notProved, 'credit')} reported as paid back, in a transaction that does not show the payment.`,
    ],
    [
      noted,
      `${formatCountWithNoun(noted, 'payment')} without a purchase, noted by the wall: ${formatDollars(report.notedAmount)}.`,
    ],
    [
      plain,
      `${formatCountWithNoun(plain, 'other transfer')} to the wall’s addresses, of a kind that cannot buy a block.`,
    ],
    [young, `${formatCountWithNoun(young, 'payment')} without a deed in the last ten minutes.`],
  ]
  const range = searched && `Searched ${name} for payments in blocks ${searched.from} to ${searched.through}.`
  return [...notes.flatMap(([count, line]) => (count === 0 ? [] : [line])), ...(range === undefined ? [] : [range])]
}

const DOLLAR = 1_000_000n

const formatDollars = (amount: bigint) =>
  amount % DOLLAR === 0n ? formatCountWithNoun(Number(amount / DOLLAR), 'dollar') : `${formatMoney(amount)} dollars`
