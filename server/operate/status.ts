/** `pixel-wall status`: the state of the wall at a glance; with `--watch`, live. */

import { parseArgs } from 'node:util'
import { openBooks } from '../../db/open.ts'
import { formatAmount, formatCountWithNoun } from '../../shared/money.ts'
import { readPlace } from '../config.ts'
import { isStray } from '../domain/purchase/account.ts'
import type { BookedOpen } from '../domain/purchase/balance.ts'
import { describeHolding } from '../domain/purchase/target.ts'
import { describeState } from './admin-commands.ts'
import { sendCommand, UsageError, printLines, type Command } from './command.ts'
import { formatDuration } from './status-report.ts'

const USAGE = `Shows the status of the running wall: whether it sells, its dependencies, open purchases, the money and the last alerts.

  pixel-wall status [--watch] [--every SECONDS]

With --watch it refreshes every 2 seconds, or every SECONDS, until Ctrl-C.
Exit status: 0 if the wall sells, 1 if not, 2 if no wall is running.
`

const EVERY_SECONDS = 2

// Only the oldest open purchases are shown, because they reveal problems; `books` lists all open purchases.
const OPEN_SHOWN = 5

/** Prints the state of the wall. */
export const status: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({
      args: [...args],
      options: { watch: { type: 'boolean' }, every: { type: 'string' } },
    })
    const every = values.every ?? String(EVERY_SECONDS)
    if (!/^\d{1,4}$/.test(every) || Number(every) === 0) throw new UsageError()
    for (;;) {
      const { ok, lines } = await sendCommand('status', {})
      const all = [...lines, ...(await readBookLines())]
      // The screen shows the last response until the next one arrives.
      if (values.watch === true && process.stdout.isTTY) process.stdout.write('\x1b[H\x1b[2J')
      printLines(all)
      if (values.watch !== true) return ok ? 0 : 1
      await Bun.sleep(Number(every) * 1000)
    }
  },
}

/** A summary of the books, read directly from the database while the wall runs. */
async function readBookLines(): Promise<string[]> {
  const { database } = readPlace(Bun.env)
  try {
    await using books = await openBooks(database)
    const { sales, credits, payouts, open } = await books.readStatement()
    const formatSum = (entries: readonly { readonly amount: bigint }[]) =>
      formatAmount(entries.reduce((total, { amount }) => total + amount, 0n))
    const owed = credits.filter(({ paidOut }) => paidOut === null)
    const stray = payouts.filter(({ reference }) => isStray(reference)).length
    return [
      `  money       ${formatSum(sales)} for blocks, ${formatSum(owed)} owed for ${formatCountWithNoun(owed.length, 'credit')}, ${formatCountWithNoun(stray, 'stray payment')}`,
      `  instances   ${await books.countInstances()}`,
      ...formatOpenLines(open),
    ]
  } catch {
    return ['  money       unknown: the database cannot be read']
  }
}

function formatOpenLines(open: readonly BookedOpen[]): string[] {
  if (open.length === 0) return []
  const oldest = open.toSorted((one, other) => one.since - other.since).slice(0, OPEN_SHOWN)
  const left = open.length - oldest.length
  return [
    '  open purchases, oldest first',
    ...oldest.map(({ purchase, since }) => {
      const { payer, nonce, amount } = purchase.payment
      const age = formatDuration(Date.now() - since).padEnd(9)
      return `    ${age} ${formatAmount(amount)} for ${describeHolding(purchase)}: ${describeState(purchase)}, ${payer} ${nonce}`
    }),
    ...(left === 0 ? [] : [`    and ${left} more: pixel-wall books`]),
  ]
}
