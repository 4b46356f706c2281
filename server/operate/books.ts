/** `pixel-wall books`: compares what the wall sold with what arrived on the chain, without asking the wall. */

import { parseArgs } from 'node:util'
import { CannotOpen } from '../../db/cannot-open.ts'
import { openBooks } from '../../db/open.ts'
import { viemChain } from '../adapters/chain/chain.ts'
import { openEndpoints } from '../adapters/chain/endpoints.ts'
import { systemClock as clock } from '../adapters/clock.ts'
import { receiptArchiveAt } from '../adapters/receipts-file.ts'
import { auditBooks } from '../books/audit-books.ts'
import { readConfig } from '../config.ts'
import type { ChainHealth, ReceiptArchive } from '../ports.ts'
import { jsonOf, linesOf } from './books-report.ts'
import { UsageError, printLines, type Command } from './command.ts'

const USAGE = `Checks that the books balance, with the settings of the wall, whether it runs or not.

  pixel-wall books [--json] [--all] [--from HEIGHT]

Looks at everything that arrived at PAY_TO since the first purchase, or since block HEIGHT. What it has read of the chain
once, when the books balanced, it keeps beside the database and does not read again; with --all it does.
The status is 0 if the books balance, 1 if they do not, 2 if that cannot be told.
`

const OPTIONS = { json: { type: 'boolean' }, all: { type: 'boolean' }, from: { type: 'string' } } as const

/** Holds what was sold against what arrived. */
export const books: Command = {
  usage: USAGE,
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.from !== undefined && !/^\d{1,15}$/.test(values.from)) throw new UsageError()
    const { database, network, rpcUrls, rpcCallsPerSecond, offer, booksPath } = readConfig(Bun.env)
    const audit = await openBooks(database)
    try {
      const chain = viemChain(openEndpoints(network, rpcUrls, { clock, callsPerSecond: rpcCallsPerSecond }), offer)
      const { amount: price, payTo } = offer.terms
      const from = values.from === undefined ? undefined : BigInt(values.from)
      const kept = receiptArchiveAt(booksPath, `${network} ${offer.terms.asset}`)
      const archive = { read: values.all === true ? async () => [] : kept.read, write: orTell(kept.write) }
      const stock = await auditBooks({ audit, chain, clock, archive, price, payTo }, from, tellHeight)
      if (stock === 'silent') throw new CannotOpen(`${whySilent(await chain.fault())}, so nothing can be told`)
      printLines(values.json === true ? JSON.stringify(jsonOf(stock), null, 2).split('\n') : linesOf(stock))
      return stock.balance.balances ? 0 : 1
    } finally {
      await audit.close()
    }
  },
}

/** Years of the chain take minutes to read. */
function tellHeight(height: bigint): void {
  if (process.stderr.isTTY) process.stderr.write(`\rread the chain up to block ${height} `)
}

/** What was read and cannot be kept is read again next time. */
function orTell(write: ReceiptArchive['write']): ReceiptArchive['write'] {
  return (kept) =>
    write(kept).catch(() => console.error('what was read of the chain cannot be kept beside the database'))
}

/** Why the chain told nothing, as it says now. */
function whySilent(health: ChainHealth): string {
  if (health.kind === 'none') return health.lacks ?? 'the chain endpoint did not answer every question; try again'
  return health.kind === 'silent' ? (health.what ?? 'the chain does not answer') : health.what
}
