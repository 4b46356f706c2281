/** `pixel-wall export`: writes every sale, credit and payout, for bookkeeping. */

import { parseArgs } from 'node:util'
import { openBooks } from '../../db/open.ts'
import { ASSET_SYMBOL, formatMoney } from '../../shared/money.ts'
import { escapeLine } from '../../shared/terminal.ts'
import { readPlace } from '../config.ts'
import type { MoneyEntry } from '../domain/purchase/balance.ts'
import { countBlocks, formatTarget, resolveTarget } from '../domain/purchase/target.ts'
import { type Command, UsageError } from './command.ts'

const USAGE = `Writes every sale, credit and payout, ordered by time: as CSV, or as JSON lines. The wall may be running or stopped.

  pixel-wall export [--json] [--since TIME]      such as: pixel-wall export --since 2026-10-01 > autumn.csv

TIME is a day (UTC) or a time in ISO 8601. Amounts are gross: the fee is always 0.00, because buyers pay the wall directly; fees
of your facilitator are on its own invoice. The payout of a payment without a known purchase has no amount. For stray money, run pixel-wall books.
`

const OPTIONS = { json: { type: 'boolean' }, since: { type: 'string' } } as const

/** Writes sales, credits and payouts. */
export const exportMoney: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    const since = values.since === undefined ? 0 : parseTime(values.since)
    const line = values.json === true ? JSON.stringify : formatCsvLine
    await using books = await openBooks(readPlace(Bun.env).database)
    if (values.json !== true) await print([COLUMNS.join(',')])
    for await (const page of books.readEntries(since)) await print(page.map((entry) => line(toRow(entry))))
    return 0
  },
}

/** Prints lines, and waits until a slow reader has taken them. */
const print = async (lines: readonly string[]) =>
  void (await Bun.write(Bun.stdout, lines.map((line) => `${line}\n`).join('')))

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

function parseTime(text: string): number {
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new UsageError('--since must be a day such as 2026-10-01, or a time such as 2026-10-01T12:00Z')
  return at
}

const COLUMNS = [
  'time',
  'kind',
  'place',
  'blocks',
  'payer',
  'nonce',
  'amount',
  'fee',
  'currency',
  'tx',
  'network',
  'reference',
] as const

type Row = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>

function toRow({ kind, at, holding, payer, nonce, amount, tx, network, reference }: MoneyEntry): Row {
  return {
    time: new Date(at).toISOString(),
    kind,
    place: holding === null ? null : formatTarget(resolveTarget(holding)),
    blocks: holding === null ? null : countBlocks(holding.target),
    payer,
    nonce,
    amount: amount === null ? null : formatMoney(amount),
    fee: '0.00',
    currency: ASSET_SYMBOL,
    tx,
    network,
    reference,
  }
}

/** A row according to RFC 4180, but with line feeds only. */
const formatCsvLine = (row: Row): string => COLUMNS.map((column) => formatCell(row[column])).join(',')

/**
 * The text of a CSV cell. A spreadsheet would run text that begins like a formula, so such text is escaped. Only the
 * operator’s own references can begin like that.
 */
function formatCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = escapeLine(value)
  const inert = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
